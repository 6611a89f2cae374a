package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden OpenAPI documents")

// documents are served by the production handler.
var documents = map[string]string{
	"openapi-v1.json":      "/api/v1/openapi.json",
	"openapi-console.json": "/api/console/openapi.json",
}

func TestOpenAPIDocumentsAreGolden(t *testing.T) {
	b := setup(t)
	for name, path := range documents {
		a := b.do(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, a.Status)
		require.Equal(t, "application/openapi+json", a.Header.Get("Content-Type"))
		var got bytes.Buffer
		require.NoError(t, json.Indent(&got, a.Raw, "", "  "))
		got.WriteByte('\n')
		file := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String(), "run `go test ./api -run TestOpenAPIDocumentsAreGolden -update` and look at the difference")
	}
}

func TestOpenAPI30IsServedToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range documents {
		a := b.do(t, http.MethodGet, strings.Replace(path, "openapi", "openapi-3.0", 1), nil)
		require.Equal(t, http.StatusOK, a.Status)
		require.Contains(t, string(a.Raw), `"openapi":"3.0.3"`)
	}
}

// openapi is the part of a document that tests look at.
type openapi struct {
	Paths map[string]map[string]operation `json:"paths"`
}

type operation struct {
	OperationID string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Tags        []string            `json:"tags"`
	Security    []map[string]any    `json:"security"`
	Responses   map[string]struct{} `json:"responses"`
}

func (b *bench) document(t *testing.T, path string) openapi {
	t.Helper()
	var doc openapi
	require.NoError(t, json.Unmarshal(b.do(t, http.MethodGet, path, nil).Raw, &doc))
	require.NotEmpty(t, doc.Paths)
	return doc
}

func TestOpenAPIOfTheExternalAPIIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.document(t, "/api/v1/openapi.json")
	seen := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			require.Regexp(t, `^[a-z]+[A-Za-z]*$`, op.OperationID)
			require.False(t, seen[op.OperationID], "operation ids are unique")
			seen[op.OperationID] = true
			require.NotEmpty(t, op.Summary, op.OperationID)
			require.NotEmpty(t, op.Description, op.OperationID)
			require.NotEmpty(t, op.Tags, op.OperationID)
			require.Contains(t, op.Responses, "500")
			if path == "/health" {
				require.Empty(t, op.Security)
				continue
			}
			require.Len(t, op.Security, 2, "%s %s takes a key in either header", method, path)
			require.Contains(t, op.Responses, "401")
			require.Contains(t, op.Responses, "404")
		}
	}
	require.Len(t, seen, 6)
}

func TestDocsPagesListEveryOperationAndLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, prefix := range []string{"/api/v1", "/api/console"} {
		page := b.html(t, prefix+"/docs")
		for path, item := range b.document(t, prefix+"/openapi.json").Paths {
			for method := range item {
				require.Contains(t, page, strings.ToUpper(method)+" "+path)
			}
		}
		require.Contains(t, page, `href="openapi.json"`)
	}
	require.Contains(t, b.html(t, "/"), `href="/api/v1/docs"`)
}

// html fetches a page and demands that it needs no script and nobody else.
func (b *bench) html(t *testing.T, path string) string {
	t.Helper()
	a := b.do(t, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, a.Status)
	page := string(a.Raw)
	require.NotContains(t, page, "<script")
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.NotContains(t, link[1], "//")
	}
	csp := a.Header.Get("Content-Security-Policy")
	require.Contains(t, csp, "default-src 'none'")
	require.NotContains(t, csp, "unsafe")
	return page
}
