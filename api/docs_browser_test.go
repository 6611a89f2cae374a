package api_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// pagesProject is the npm project behind the pages.
const pagesProject = "../tools/apidocs"

// TestDocsWorkInABrowser opens /docs and /redoc in Chromium, authorizes in both
// ways and makes a call. DOCS_SCREENSHOTS names a directory that keeps what it
// looked like.
func TestDocsWorkInABrowser(t *testing.T) {
	t.Parallel()
	chromium := os.Getenv("CHROMIUM_PATH")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	require.FileExists(t, chromium, "this test drives a browser: `make system` installs Chromium, CHROMIUM_PATH names another one")
	node, err := exec.LookPath("node")
	require.NoError(t, err, "this test needs Node 20.19 or newer")
	require.DirExists(t, filepath.Join(pagesProject, "node_modules", "playwright-core"), "`make build` installs it")

	b := setup(t)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		return l
	}
	pictures := os.Getenv("DOCS_SCREENSHOTS")
	if pictures == "" {
		pictures = t.TempDir()
	}
	open := func(t *testing.T, l net.Listener, public string, checks ...string) {
		t.Helper()
		b := serve(t, b.World, func(d *api.Deps) { d.PublicURL = public })
		server := httptest.NewUnstartedServer(b.handler)
		require.NoError(t, server.Listener.Close())
		server.Listener = l
		server.Start()
		defer server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // far more than it takes
		defer cancel()
		script := exec.CommandContext(ctx, node, append([]string{
			filepath.Join(pagesProject, "browser.mjs"),
			server.URL, b.KeyValue, strconv.FormatInt(b.PipelineID, 10), dbtest.Definition().Name, pictures,
		}, checks...)...)
		out, err := script.CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, b.logs.text())
	}
	t.Run("under another name than its public one", func(t *testing.T) {
		open(t, listen(), publicURL, "bearer", "redoc")
	})
	t.Run("under its public address", func(t *testing.T) {
		l := listen()
		open(t, l, "http://"+l.Addr().String(), "apiKey")
	})
}

// TestAPIPagesAreServed looks at what a browser is told, without one.
func TestAPIPagesAreServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, worker := range map[string]bool{"/api/v1/docs": false, "/api/v1/redoc": true} {
		a := b.do(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, a.Status, "the pages are part of the build: make build")
		page := string(a.Raw)
		require.NotRegexp(t, `<script>|<style| on[a-z]+=|(?:src|href)="[^"]*//`, page, "nothing inline, nothing from elsewhere")
		csp := a.Header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'none'; script-src 'self';")
		require.Equal(t, worker, strings.Contains(csp, "worker-src blob:"))
		require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
		require.Empty(t, a.Header.Values("Vary"))
		for _, address := range regexp.MustCompile(`"(docs/assets/[^"]*)"`).FindAllStringSubmatch(page, -1) {
			file := b.do(t, http.MethodGet, "/api/v1/"+address[1], nil)
			require.Equal(t, http.StatusOK, file.Status, address[1])
			require.Contains(t, file.Header.Get("Cache-Control"), "immutable")
			require.False(t, bytes.Contains(file.Raw, []byte("cdn.redoc.ly")), "the logo of another host")
		}
	}
	fails(t, b.do(t, http.MethodGet, "/api/v1/docs/assets/0000000000000000/swagger.js", nil), http.StatusNotFound, "not_found")
	fails(t, b.do(t, http.MethodGet, "/api/v1/docs/assets/../openapi.json", nil), http.StatusNotFound, "not_found")
}
