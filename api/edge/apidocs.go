package edge

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// apidocs holds our own pages and, in dist, the works of others that they use.
// Those come from `make build`; a build without Node has none of them.
//
//go:embed all:apidocs
var apidocs embed.FS

// What the two pages may do: run what comes from this host and talk to it.
// Both style themselves through the DOM.
const (
	docsCSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
	// Redoc makes the worker of its search from its own text.
	redocCSP = docsCSP + "; worker-src blob:"
)

// FinishInteractive is Finish for an API that strangers learn: /docs is Swagger
// UI, where calls can be tried out, and /redoc a reference to read. A build
// without them has the page of Finish.
func FinishInteractive(r chi.Router, api huma.API) {
	finishInteractive(r, api, apidocs)
}

func finishInteractive(r chi.Router, api huma.API, files fs.FS) {
	doc := api.OpenAPI()
	serveDocuments(r, doc)
	assets, err := loadAssets(files)
	if err != nil {
		panic(fmt.Errorf("the embedded pages of the API's description: %w", err))
	}
	if !assets.complete() {
		r.Get("/docs", docsPage(doc, withoutNode))
		return
	}
	pages := template.Must(template.ParseFS(files, "apidocs/pages/*.tmpl"))
	r.Get("/docs", page(pages, "swagger.html.tmpl", docsCSP, pageData{doc.Info.Title, "docs", assets}))
	r.Get("/redoc", page(pages, "redoc.html.tmpl", redocCSP, pageData{doc.Info.Title, "redoc", assets}))
	r.Get(assetPath+"{hash}/{name}", assets.serve)
}

// withoutNode is what the plain page says of itself where it stands in for the
// full one.
const withoutNode = "This build carries neither Swagger UI nor Redoc, because it was made without Node. " +
	"`make build` on a machine with Node, a release and the image have them."

// pageData is what a page's template may use.
type pageData struct {
	Title, Page string
	assets      assets
}

// Asset returns the address of a file, relative to the page.
func (d pageData) Asset(name string) (string, error) { return d.assets.address(name) }

// page serves one of the two pages. It is made once.
func page(pages *template.Template, name, policy string, data pageData) http.HandlerFunc {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		panic(fmt.Errorf("page of the API's description: %w", err))
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		public(h, "no-cache")
		_, _ = w.Write(out.Bytes()) // a reader who left misses the page
	}
}

// public takes back what Private says: this is the same for everybody.
func public(h http.Header, caching string) {
	h.Set("Cache-Control", caching)
	h.Del("Vary")
}
