package edge

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// Config returns the settings that both APIs share. Nothing of huma's own
// pages is served: they load scripts from other hosts, and its documents are
// encoded at the first request without a lock. No `$schema` is put into
// answers.
func Config(title, version, description string) huma.Config {
	c := huma.DefaultConfig(title, version)
	c.Info.Description = description
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.DefaultFormat = "application/json"
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	return c
}

// errorTexts describes the error statuses in OpenAPI documents.
var errorTexts = map[int]string{
	http.StatusBadRequest:            "The request is malformed: bad JSON, query value or cursor.",
	http.StatusUnauthorized:          "The caller is not known.",
	http.StatusForbidden:             "The caller's role does not allow this.",
	http.StatusNotFound:              "There is no such thing that the caller can reach.",
	http.StatusConflict:              "The state of the thing does not allow this now.",
	http.StatusRequestEntityTooLarge: "The body is larger than this operation takes.",
	http.StatusUnsupportedMediaType:  "The body is not JSON by its content type.",
	http.StatusUnprocessableEntity:   "The request is well-formed, but its content is refused.",
	http.StatusTooManyRequests:       "Too many requests; Retry-After says how long to wait.",
	http.StatusInternalServerError:   "An error on the server's side.",
	http.StatusServiceUnavailable:    "A part of the service is not available; safe to retry with backoff.",
}

// Describe adds the error answers of an operation to its documentation. body
// is the error body of this API.
func Describe(api huma.API, op *huma.Operation, body reflect.Type, codes ...int) {
	schema := api.OpenAPI().Components.Schemas.Schema(body, true, body.Name())
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	for _, code := range append(codes, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		op.Responses[strconv.Itoa(code)] = &huma.Response{
			Description: errorTexts[code],
			Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
		}
	}
}

// Finish completes the document once all operations are registered, and serves
// it: OpenAPI 3.1, 3.0 for older generators, and a page for people.
func Finish(r chi.Router, api huma.API) {
	doc := api.OpenAPI()
	serveDocuments(r, doc)
	r.Get("/docs", docsPage(doc, ""))
}

func serveDocuments(r chi.Router, doc *huma.OpenAPI) {
	tidy(doc)
	serveDocument(r, "/openapi.json", func() ([]byte, error) { return json.Marshal(doc) })
	serveDocument(r, "/openapi-3.0.json", func() ([]byte, error) { return downgrade(doc) })
}

func serveDocument(r chi.Router, path string, encode func() ([]byte, error)) {
	body, err := encode()
	if err != nil {
		panic(fmt.Errorf("encode %s: %w", path, err))
	}
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	r.Get(path, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/openapi+json")
		h.Set("ETag", tag)
		public(h, "no-cache")
		if Matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body) // a reader who left misses it
	})
}

// downgrade encodes a document as OpenAPI 3.0, in which nothing stands beside a
// reference.
func downgrade(doc *huma.OpenAPI) ([]byte, error) {
	body, err := doc.Downgrade()
	if err != nil {
		return nil, err
	}
	var all any
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	leaveReferencesAlone(all)
	return json.Marshal(all)
}

func leaveReferencesAlone(value any) {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			clear(v)
			v["$ref"] = ref
			return
		}
		for _, inner := range v {
			leaveReferencesAlone(inner)
		}
	case []any:
		for _, inner := range v {
			leaveReferencesAlone(inner)
		}
	}
}

// tidy drops schemas that nothing refers to, such as that of the error that
// huma thinks is in use, and lets answers have more properties than the
// document says: adding one is no breaking change. What callers send stays
// closed.
func tidy(doc *huma.OpenAPI) {
	sent, used := map[string]bool{}, map[string]bool{}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op == nil {
				continue
			}
			if op.RequestBody != nil {
				collect(doc, op.RequestBody.Content, sent)
			}
			for _, r := range op.Responses {
				delete(r.Headers, "Content-Type") // the content says it
				collect(doc, r.Content, used)
			}
		}
	}
	for name, schema := range doc.Components.Schemas.Map() {
		switch {
		case sent[name]:
		case !used[name]:
			delete(doc.Components.Schemas.Map(), name)
		case schema.AdditionalProperties == false:
			schema.AdditionalProperties = nil
		}
	}
}

// collect finds the names of all schemas that a body refers to.
func collect(doc *huma.OpenAPI, body map[string]*huma.MediaType, found map[string]bool) {
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
			if !found[name] {
				found[name] = true
				walk(doc.Components.Schemas.Map()[name])
			}
		}
		walk(s.Items)
		for _, p := range s.Properties {
			walk(p)
		}
		for _, p := range s.AnyOf {
			walk(p)
		}
		if p, ok := s.AdditionalProperties.(*huma.Schema); ok {
			walk(p)
		}
	}
	for _, media := range body {
		walk(media.Schema)
	}
}
