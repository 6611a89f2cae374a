package edge

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
)

// described serves an API without operations and its pages.
func described(t *testing.T, files fstest.MapFS) http.Handler {
	t.Helper()
	r := chi.NewRouter()
	r.Use(Private("Authorization"))
	c := Config("Some API", "1.0.0", "What it does.")
	c.Servers = []*huma.Server{{URL: "http://api.test"}}
	finishInteractive(r, humachi.New(r, c), files)
	return r
}

func zipped(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return &fstest.MapFile{Data: b.Bytes()}
}

// whole is what a build with Node has.
func whole(t *testing.T) fstest.MapFS {
	t.Helper()
	template := &fstest.MapFile{Data: []byte(`<script src="{{.Asset "swagger-ui-bundle.js"}}"></script>`)}
	return fstest.MapFS{
		"apidocs/pages/swagger.html.tmpl":         template,
		"apidocs/pages/redoc.html.tmpl":           template,
		"apidocs/pages/page.css":                  {Data: []byte("body{}")},
		"apidocs/dist/.gitkeep":                   {},
		"apidocs/dist/swagger-ui-bundle.js.gz":    zipped(t, "the bundle"),
		"apidocs/dist/swagger-ui.css.gz":          zipped(t, "css"),
		"apidocs/dist/redoc.standalone.js.gz":     zipped(t, "redoc"),
		"apidocs/dist/NOTICE.txt":                 {Data: []byte("notice")},
		"apidocs/dist/something-else.map.gz.part": {Data: []byte("x")},
	}
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestABuildWithoutNodeHasThePlainPage(t *testing.T) {
	t.Parallel()
	for _, missing := range built {
		files := whole(t)
		delete(files, "apidocs/dist/"+missing)
		delete(files, "apidocs/dist/"+missing+".gz")
		h := described(t, files)
		page := get(h, "/docs")
		require.Equal(t, http.StatusOK, page.Code)
		require.Contains(t, page.Body.String(), "made without Node", "it says what to do")
		require.Contains(t, page.Body.String(), `href="openapi.json"`)
		require.NotContains(t, page.Body.String(), "<script")
		require.Equal(t, http.StatusNotFound, get(h, "/redoc").Code)
	}
}

func TestAssetsAreSentAsTheyAreStored(t *testing.T) {
	t.Parallel()
	files := whole(t)
	h := described(t, files)
	known, err := loadAssets(files)
	require.NoError(t, err)
	address, err := known.address("swagger-ui-bundle.js")
	require.NoError(t, err)
	require.Contains(t, get(h, "/docs").Body.String(), `src="`+address+`"`)

	packed := get(h, "/"+address, "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
	require.Equal(t, files["apidocs/dist/swagger-ui-bundle.js.gz"].Data, packed.Body.Bytes())
	plain := get(h, "/"+address)
	require.Empty(t, plain.Header().Get("Content-Encoding"))
	require.Equal(t, "the bundle", plain.Body.String())
	for _, w := range []*httptest.ResponseRecorder{packed, plain} {
		require.Equal(t, "text/javascript; charset=utf-8", w.Header().Get("Content-Type"))
		require.Equal(t, "public, max-age=31536000, immutable", w.Header().Get("Cache-Control"))
		require.Equal(t, []string{"Accept-Encoding"}, w.Header().Values("Vary"), "it does not depend on who asks")
	}
	for _, wrong := range []string{"/docs/assets/0/swagger-ui-bundle.js", "/docs/assets/" + known["page.css"].hash + "/other.css"} {
		require.Equal(t, http.StatusNotFound, get(h, wrong).Code, "what changed is elsewhere")
	}
}

func TestDocumentsAreRevalidated(t *testing.T) {
	t.Parallel()
	h := described(t, whole(t))
	first := get(h, "/openapi.json")
	require.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
	require.NotEmpty(t, first.Header().Get("ETag"))
	again := get(h, "/openapi.json", "If-None-Match", first.Header().Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Empty(t, again.Body.Bytes())
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false,
		"*": true, "*;q=0": false, "gzip;q=0, *": false, "*;q=0, gzip": true, "identity": false, "gzipped": false, "gzip;q=x": false,
	} {
		require.Equal(t, want, AcceptsGzip([]string{header}), header)
	}
	require.True(t, AcceptsGzip([]string{"br", "gzip"}))
	require.False(t, AcceptsGzip(nil))
}
