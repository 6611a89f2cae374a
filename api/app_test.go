package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

const objectsOrigin = "https://files.taskloom.test"

// appFiles is what a build of the web app looks like.
func appFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("the script"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return fstest.MapFS{
		".gitkeep":               {},
		".vite/manifest.json":    {Data: []byte("{}")},
		"index.html":             {Data: []byte(`<script type="module" src="/assets/index-1.js"></script>`)},
		"favicon.svg":            {Data: []byte("<svg/>")},
		"assets/index-1.js.gz":   {Data: packed.Bytes()},
		"assets/index-1.css":     {Data: []byte("body{}")},
		"assets/font-1.woff2":    {Data: []byte("font")},
		"assets/notes.something": {Data: []byte("?")},
	}
}

func withApp(t *testing.T) *bench {
	t.Helper()
	app, err := api.NewApp(appFiles(t), objectsOrigin)
	require.NoError(t, err)
	return serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.App = app })
}

func TestEveryPathOfTheAppIsItsPage(t *testing.T) {
	t.Parallel()
	b := withApp(t)
	for _, path := range []string{"/", "/login", "/pipelines/12/tasks?cursor=a.b", "/pipelines/12/builder/", "/assets", "/apis", "/index.html"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := b.do(t, method, path, nil)
			require.Equal(t, http.StatusOK, a.Status, path)
			require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
			require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
		}
	}
	page := b.do(t, http.MethodGet, "/login", nil)
	again := b.do(t, http.MethodGet, "/", nil, with("If-None-Match", page.Header.Get("ETag")))
	require.Equal(t, http.StatusNotModified, again.Status)
	require.Empty(t, again.Raw)

	for _, path := range []string{
		"/assets/index-2.js", "/assets/", "/assets/notes.something", "/assets/../index.html", "/nothing.js", "/.vite/manifest.json",
		"/.gitkeep", "/robots.txt", "/assets/index-1.js.gz", "/api", "/api/", "/api/v2/x", "/api/console/nothing", "/api/v1/nothing",
	} {
		a := b.do(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, a.Status, path)
		require.Equal(t, "not_found", a.code(), "never the page: %s", path)
	}
	for _, path := range []string{"/", "/login", "/assets/index-1.js"} {
		a := b.do(t, http.MethodPost, path, nil)
		require.Equal(t, http.StatusMethodNotAllowed, a.Status, path)
		require.Equal(t, "GET, HEAD", a.Header.Get("Allow"))
	}
	require.Equal(t, http.StatusMethodNotAllowed, b.v1(t, http.MethodDelete, "/health", nil).Status, "the APIs are as they were")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/healthz", nil).Status)
}

func TestAssetsOfTheAppMayBeKeptForEver(t *testing.T) {
	t.Parallel()
	b := withApp(t)
	packed := b.do(t, http.MethodGet, "/assets/index-1.js", nil, with("Accept-Encoding", "br, gzip"))
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Equal(t, appFiles(t)["assets/index-1.js.gz"].Data, packed.Raw)
	plain := b.do(t, http.MethodGet, "/assets/index-1.js", nil)
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	require.Equal(t, "the script", string(plain.Raw))
	for _, a := range []answer{packed, plain} {
		require.Equal(t, "public, max-age=31536000, immutable", a.Header.Get("Cache-Control"))
		require.Equal(t, "Accept-Encoding", a.Header.Get("Vary"))
		require.Equal(t, "text/javascript; charset=utf-8", a.Header.Get("Content-Type"))
	}
	require.Equal(t, "body{}", string(b.do(t, http.MethodGet, "/assets/index-1.css", nil, with("Accept-Encoding", "gzip")).Raw))
	require.Equal(t, "font/woff2", b.do(t, http.MethodGet, "/assets/font-1.woff2", nil).Header.Get("Content-Type"))
	require.Equal(t, "no-cache", b.do(t, http.MethodGet, "/favicon.svg", nil).Header.Get("Cache-Control"), "its name says nothing about its content")
}

func TestWithoutTheAppEveryPathSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	app, err := api.NewApp(fstest.MapFS{".gitkeep": {}, "assets/index-1.js": {Data: []byte("left over")}}, "")
	require.NoError(t, err)
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.App = app })
	for _, path := range []string{"/", "/login", "/assets/index-1.js"} {
		require.Contains(t, b.htmlWith(t, http.StatusServiceUnavailable, path), "make build")
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/healthz", nil).Status)
}

// TestHeadersOfEveryKindOfRoute pins what each kind of answer says to browsers
// and caches; -update writes it anew.
func TestHeadersOfEveryKindOfRoute(t *testing.T) {
	t.Parallel()
	b := withApp(t)
	session := b.login(t, "admin1")
	kinds := []struct {
		name string
		get  func() answer
	}{
		{"the app's page", func() answer { return b.do(t, http.MethodGet, "/login", nil) }},
		{"an asset", func() answer { return b.do(t, http.MethodGet, "/assets/index-1.js", nil) }},
		{"another file of the app", func() answer { return b.do(t, http.MethodGet, "/favicon.svg", nil) }},
		{"an asset that is none", func() answer { return b.do(t, http.MethodGet, "/assets/nothing.js", nil) }},
		{"a path of no API", func() answer { return b.do(t, http.MethodGet, "/api/nothing", nil) }},
		{"the External API", func() answer { return b.v1(t, http.MethodGet, b.workflow(""), nil) }},
		{"a refusal of the External API", func() answer { return b.do(t, http.MethodGet, "/api/v1"+b.workflow(""), nil) }},
		{"its document", func() answer { return b.do(t, http.MethodGet, "/api/v1/openapi.json", nil) }},
		{"the console API", func() answer { return session.do(t, http.MethodGet, "/me", nil) }},
		{"a refusal of the console API", func() answer { return b.console(t, http.MethodGet, "/me", nil) }},
		{"the console API's page", func() answer { return b.do(t, http.MethodGet, "/api/console/docs", nil) }},
		{"liveness", func() answer { return b.do(t, http.MethodGet, "/healthz", nil) }},
		{"readiness", func() answer { return b.do(t, http.MethodGet, "/readyz", nil) }},
		{"the end of a session", func() answer { return session.do(t, http.MethodPost, "/logout", nil) }},
	}
	var got strings.Builder
	for _, kind := range kinds {
		a := kind.get()
		fmt.Fprintf(&got, "# %s: %d\n", kind.name, a.Status)
		var lines []string
		for name, values := range a.Header {
			switch name {
			case "Etag", "X-Request-Id", "Content-Length", "Ratelimit", "Ratelimit-Policy", "Set-Cookie": // differ by time or caller
			default:
				lines = append(lines, name+": "+strings.Join(values, ", "))
			}
		}
		slices.Sort(lines)
		got.WriteString(strings.Join(lines, "\n") + "\n\n")
	}
	golden := filepath.Join("testdata", "headers.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "go test ./api -run TestHeadersOfEveryKind -update writes it, if it shall be so")
}
