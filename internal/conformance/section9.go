package conformance

import (
	"net/http"
	"slices"
	"strings"
)

func documentChecks() []Check {
	return []Check{
		{
			ID: "9-prefix", Section: "9", Sentence: "the version is the path prefix /api/v1 of {base_url}",
			Does: "look at the server that openapi.json names",
			run: func(c *C) {
				a := c.get("/openapi.json", anonymous())
				for _, s := range objects(a.object(c)["servers"]) {
					if u, _ := s["url"].(string); strings.HasSuffix(strings.TrimRight(u, "/"), prefix) {
						return
					}
				}
				c.fail(a, "a server that ends in "+prefix, "servers %s", show(a.object(c)["servers"]))
			},
		}, {
			ID: "9-openapi", Section: "9", Sentence: "machine-readable descriptions are served at … {base_url}/openapi.json",
			Does: "GET it without a key",
			run: func(c *C) {
				a := c.get("/openapi.json", anonymous())
				c.status(a, http.StatusOK)
				if v, _ := a.object(c)["openapi"].(string); !strings.HasPrefix(v, "3.") {
					c.fail(a, "openapi 3.x", "%q", v)
				}
			},
		}, {
			ID: "9-paths", Section: "9", Sentence: "Endpoints (the table of section 4)",
			Does: "look for all nine in openapi.json",
			run:  checkPaths,
		}, {
			ID: "9-schemes", Section: "9", Sentence: "authorize with the bearer scheme or the key-header scheme",
			Does: "look for both security schemes in openapi.json",
			run: func(c *C) {
				a := c.get("/openapi.json", anonymous())
				components, _ := a.object(c)["components"].(map[string]any)
				schemes, _ := components["securitySchemes"].(map[string]any)
				bearer, header := false, false
				for _, s := range schemes {
					s, _ := s.(map[string]any)
					scheme, _ := s["scheme"].(string)
					name, _ := s["name"].(string)
					bearer = bearer || s["type"] == "http" && strings.EqualFold(scheme, "bearer")
					header = header || s["type"] == "apiKey" && s["in"] == "header" && strings.EqualFold(name, "X-API-Key")
				}
				if !bearer || !header {
					c.fail(a, "http bearer, and apiKey in the header X-API-Key", "%s", show(schemes))
				}
			},
		}, {
			ID: "9-docs", Section: "9", Sentence: "{base_url}/docs (Swagger UI)",
			Does: "GET it without a key",
			run:  func(c *C) { c.page("/docs", "swagger") },
		}, {
			ID: "9-redoc", Section: "9", Sentence: "{base_url}/redoc",
			Does: "GET it without a key",
			run:  func(c *C) { c.page("/redoc", "redoc") },
		},
	}
}

// page ends the check unless the path is a page that speaks of the word.
func (c *C) page(path, word string) {
	a := c.get(path, anonymous())
	c.status(a, http.StatusOK)
	if media := a.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/html") {
		c.fail(a, "text/html", "Content-Type %s", media)
	}
	if !strings.Contains(strings.ToLower(string(a.Raw)), word) {
		c.fail(a, "a page with "+word, "a page without")
	}
}

// paths are those of the served description.
func (c *C) paths(a *answer) map[string]any {
	c.status(a, http.StatusOK)
	v, _ := a.object(c)["paths"].(map[string]any)
	return v
}

func checkPaths(c *C) {
	a := c.get("/openapi.json", anonymous())
	var served []string
	for path, item := range c.paths(a) {
		operations, _ := item.(map[string]any)
		for method := range operations {
			served = append(served, strings.ToUpper(method)+" "+placeholder.ReplaceAllString(path, "{}"))
		}
	}
	for _, want := range []string{
		"GET /health", "GET /workflows/{}", "GET /workflows/{}/schema",
		"POST /workflows/{}/tasks", "GET /workflows/{}/tasks", "GET /workflows/{}/tasks/{}",
		"POST /workflows/{}/tasks/upload", "POST /workflows/{}/tasks/upload/{}/confirm", "GET /workflows/{}/tasks/upload/{}",
	} {
		if !slices.Contains(served, want) {
			slices.Sort(served)
			c.fail(a, want, "%v", served)
		}
	}
}
