package edge

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html.tmpl
var docsTemplate string

//go:embed docs.css
var docsStyle string

// docsPage serves a plain list of the operations: no script, nothing from
// another host. note stands above it; "" for none.
func docsPage(doc *huma.OpenAPI, note string) http.HandlerFunc {
	sum := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	page := template.Must(template.New("docs").Parse(docsTemplate))
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{
		"Info": doc.Info, "Server": doc.Servers[0].URL, "Operations": documented(doc), "Note": note,
		"Style": template.CSS(docsStyle), //nolint:gosec // embedded
	})
	return func(w http.ResponseWriter, r *http.Request) {
		if err != nil {
			WriteError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(out.Bytes()) // a reader who left misses the page
	}
}

type documentedOperation struct {
	*huma.Operation
	Statuses []string
}

// documented lists the operations by path, then in the order in which an
// integrator meets them.
func documented(doc *huma.OpenAPI) []documentedOperation {
	var out []documentedOperation
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op == nil {
				continue
			}
			var codes []string
			for code := range op.Responses {
				codes = append(codes, code)
			}
			slices.Sort(codes)
			out = append(out, documentedOperation{Operation: op, Statuses: codes})
		}
	}
	slices.SortFunc(out, func(x, y documentedOperation) int {
		return strings.Compare(x.Path+" "+x.Method, y.Path+" "+y.Method)
	})
	return out
}
