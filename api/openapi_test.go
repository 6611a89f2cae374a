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

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
)

var update = flag.Bool("update", false, "rewrite the golden OpenAPI documents")

// documents are served by the production handler.
var documents = map[string]string{
	"openapi-v1.json":      "/api/v1/openapi.json",
	"openapi-v1-3.0.json":  "/api/v1/openapi-3.0.json",
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
	for _, prefix := range []string{"/api/v1", "/api/console"} {
		a := b.do(t, http.MethodGet, prefix+"/openapi-3.0.json", nil)
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
			require.Contains(t, op.Responses, "429")
			if path == "/health" {
				require.Empty(t, op.Security)
				continue
			}
			require.Contains(t, op.Responses, "500")
			require.Contains(t, op.Responses, "503")
			require.Len(t, op.Security, 2, "%s %s takes a key in either header", method, path)
			require.Contains(t, op.Responses, "401")
			require.Contains(t, op.Responses, "404")
		}
	}
	require.Len(t, seen, 9)
}

// unbounded are arrays that have no limit to tell.
var unbounded = map[string]string{
	"Schema.fields":   "a draft may have any number of fields",
	"Upload.errors":   "as many as the archive has rows, which is configuration",
	"Upload.task_ids": "as many as the archive has rows, which is configuration",
}

func TestOpenAPIOfTheExternalAPISaysWhatFits(t *testing.T) {
	t.Parallel()
	doc := setup(t).handler.(*api.API).External
	for name, schema := range doc.Components.Schemas.Map() {
		for property, s := range schema.Properties {
			at := name + "." + property
			if s.Ref == "" {
				require.NotEmpty(t, s.Description, at)
			}
			if s.Type == huma.TypeArray && unbounded[at] == "" {
				require.NotNil(t, s.MaxItems, "%s has no maxItems", at)
			}
			if strings.HasSuffix(property, "_at") {
				require.Equal(t, "date-time", s.Format, at)
			}
			if s.Type == huma.TypeInteger {
				require.NotEmpty(t, s.Format, at)
				require.NotNil(t, s.Minimum, "%s has no minimum", at)
			}
		}
	}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				require.NotNil(t, p.Example, "%s: %s has no example", op.OperationID, p.Name)
				require.NotEmpty(t, p.Description, "%s: %s", op.OperationID, p.Name)
			}
		}
	}
}

func TestTheConsolesPageListsEveryOperationAndLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := b.html(t, "/api/console/docs")
	for path, item := range b.document(t, "/api/console/openapi.json").Paths {
		for method := range item {
			require.Contains(t, page, strings.ToUpper(method)+" "+path)
		}
	}
	require.Contains(t, page, `href="openapi.json"`)
}

func TestABuildWithoutTheWebAppSaysSo(t *testing.T) {
	t.Parallel()
	page := setup(t).htmlWith(t, http.StatusServiceUnavailable, "/")
	require.Contains(t, page, `href="/api/v1/docs"`)
	require.Contains(t, page, "make build")
}

// html fetches a page and demands that it needs no script and nobody else.
func (b *bench) html(t *testing.T, path string) string {
	t.Helper()
	return b.htmlWith(t, http.StatusOK, path)
}

func (b *bench) htmlWith(t *testing.T, status int, path string) string {
	t.Helper()
	a := b.do(t, http.MethodGet, path, nil)
	require.Equal(t, status, a.Status)
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
