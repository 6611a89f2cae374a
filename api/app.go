package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/api/edge"
)

// appIndex is the one page of the web app; which view it shows follows from the
// path.
const appIndex = "index.html"

// appTypes are the files that a build of the web app may have. The machine's
// own table is not asked: it differs from host to host.
var appTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8", ".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

// appFile is one file of the app, as it is and compressed; one of the two may
// be missing.
type appFile struct {
	plain, gzipped []byte
	contentType    string
	tag            string
}

// app serves the web app.
type app struct {
	files  map[string]*appFile
	policy string
}

// NewApp serves the files of the web app: what is under /assets/ has the hash of
// its content in its name and may be kept for ever; every other path without an
// extension is the page. objects is the origin of the object store as browsers
// reach it, empty when there is none. Without a page among the files, the answer
// is how to build it.
func NewApp(files fs.FS, objects string) (http.Handler, error) {
	a := &app{files: map[string]*appFile{}, policy: appCSP(objects)}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return a.load(files, name)
	})
	if err != nil {
		return nil, fmt.Errorf("files of the web app: %w", err)
	}
	if a.files[appIndex] == nil {
		return landing(), nil
	}
	return a, nil
}

// load keeps a file of a known kind; placeholders and the build's own notes are
// none.
func (a *app) load(files fs.FS, name string) error {
	served, gzipped := strings.CutSuffix(name, ".gz")
	kind, known := appTypes[path.Ext(served)]
	if !known || strings.HasPrefix(name, ".") {
		return nil
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	f := a.files[served]
	if f == nil {
		f = &appFile{contentType: kind}
		a.files[served] = f
	}
	sum := sha256.Sum256(content)
	f.tag = `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	if gzipped {
		f.gzipped = content
	} else {
		f.plain = content
	}
	return nil
}

// ServeHTTP implements http.Handler for GET and HEAD.
func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	caching := "no-cache"
	if strings.HasPrefix(name, "assets/") {
		caching = "public, max-age=31536000, immutable"
	} else if path.Ext(r.URL.Path) == "" {
		name = appIndex
	}
	f := a.files[name]
	h := w.Header()
	if f == nil {
		h.Set("Cache-Control", "no-store") // a later release may have it
		edge.NotFound(w, r)
		return
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", a.policy)
	h.Set("Cache-Control", caching)
	h.Set("ETag", f.tag)
	if f.gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	if edge.Matches(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	f.send(w, r)
}

// send writes the content in the coding that the caller takes. A reader who
// left misses it.
func (f *appFile) send(w http.ResponseWriter, r *http.Request) {
	content := f.plain
	if f.gzipped != nil && edge.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		content = f.gzipped
	}
	if content != nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content)
		return
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(f.gzipped))
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("embedded file: %w", err))
		return
	}
	_, _ = io.Copy(w, unzipped) //nolint:gosec // our own file, of known size
}

// appCSP is what the app's page may do: run and fetch what comes from here, and
// show and send files at the object store. Styles in attributes are the UI
// kit's; a document that somebody uploaded is shown in a frame of its own origin.
func appCSP(objects string) string {
	if objects != "" {
		objects = " " + objects
	}
	return "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' data: blob:" + objects + "; media-src 'self' blob:" + objects + "; " +
		"frame-src blob:" + objects + "; connect-src 'self'" + objects + "; worker-src 'self' blob:; " +
		"object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
}
