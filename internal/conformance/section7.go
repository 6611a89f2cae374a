package conformance

import "net/http"

// Errors that belong to a sentence of another section are proven there; the
// shape of all of them is proven in hindsight.go.
func errorChecks() []Check {
	return []Check{
		{
			ID: "7-422-schema", Section: "7", Sentence: "422 | validation_error | body fails schema validation",
			Does: "create with bodies that are JSON, but no creation",
			run: func(c *C) {
				for _, doc := range []string{`{}`, `[]`, `{"tasks":{}}`, `{"tasks":null}`, `{"tasks":[7]}`} {
					c.refused(c.post(c.tasks(""), []byte(doc)), http.StatusUnprocessableEntity, "validation_error")
				}
			},
		}, {
			ID: "7-404-workflow", Section: "7", Sentence: "404 | not_found | workflow … absent in the key's organization",
			Does: "call all eight endpoints with a workflow that does not exist",
			run: func(c *C) {
				for _, e := range endpoints(nobody) {
					c.refused(c.do(e.method, e.path, e.body), http.StatusNotFound, "not_found")
				}
			},
		},
	}
}
