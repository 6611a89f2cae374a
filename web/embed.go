// Package web is the web app. Its source is TypeScript; what `make build` made
// of it is embedded here. A build without Node has no app, and compiles all the
// same: the directory then holds nothing but its placeholder.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are those of the app, index.html at the root. Text may be there in
// compressed form alone, under its name and .gz.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return files
}

// Embedded reports whether this build has the app.
func Embedded() bool {
	_, err := fs.Stat(dist, "dist/index.html")
	return err == nil
}
