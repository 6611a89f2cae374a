package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func requestChecks() []Check {
	return []Check{
		{
			ID: "x-unknown-path", Section: additions, Sentence: "Unknown path: 404.",
			Does: "GET a path that is none",
			run:  func(c *C) { c.refused(c.get("/conformance/nothing"), http.StatusNotFound, "not_found") },
		}, {
			ID: "x-wrong-method", Section: additions, Sentence: "wrong method: 405 api_error with Allow",
			Does: "DELETE the tasks of the workflow",
			run: func(c *C) {
				a := c.do(http.MethodDelete, c.tasks(""), nil)
				c.refused(a, http.StatusMethodNotAllowed, "api_error")
				allow := a.Header.Get("Allow")
				if !strings.Contains(allow, http.MethodGet) || !strings.Contains(allow, http.MethodPost) {
					c.fail(a, "Allow with GET and POST", "Allow %q", allow)
				}
			},
		}, {
			ID: "x-content-type", Section: additions, Sentence: "wrong content type: 415 invalid_request",
			Does: "create with Content-Type: text/plain",
			run: func(c *C) {
				a := c.post(c.tasks(""), batch(c.item()), header("Content-Type", "text/plain"))
				c.refused(a, http.StatusUnsupportedMediaType, "invalid_request")
			},
		}, {
			ID: "x-malformed-json", Section: additions, Sentence: "malformed JSON: 400 invalid_request",
			Does: "create with bodies that are no JSON",
			run: func(c *C) {
				for _, doc := range []string{`{"tasks":[`, `{"tasks":[]} x`, `nonsense`} {
					c.refused(c.post(c.tasks(""), []byte(doc)), http.StatusBadRequest, "invalid_request")
				}
			},
		}, {
			ID: "x-unknown-property", Section: additions, Sentence: "an unknown property outside of fields refuses the request",
			Does: "create with a property beside tasks",
			run: func(c *C) {
				doc := batch(c.item())
				doc["conformance"] = true
				c.refused(c.post(c.tasks(""), doc), http.StatusUnprocessableEntity, "validation_error")
			},
		}, {
			ID: "x-bad-id", Section: additions, Sentence: "A non-integer id in a path: 404 not_found.",
			Does: "GET a task and a workflow whose ids are words",
			run: func(c *C) {
				c.refused(c.get("/workflows/abc"), http.StatusNotFound, "not_found")
				c.refused(c.get(c.tasks("/abc")), http.StatusNotFound, "not_found")
			},
		}, {
			ID: "x-limit", Section: additions, Sentence: "limit out of range …: 400 invalid_request",
			Does: "list with limit 0, 201 and ten",
			run: func(c *C) {
				for _, limit := range []string{"0", "201", "ten"} {
					c.refused(c.get(c.tasks("?limit="+limit)), http.StatusBadRequest, "invalid_request")
				}
			},
		}, {
			ID: "x-cursor-tampered", Section: additions, Sentence: "Cursors are opaque and tamper-evident",
			Does: "change one character of a good cursor",
			run: func(c *C) {
				c.created(2)
				cursor := []byte(c.next(c.get(c.tasks("?limit=1"))))
				middle := len(cursor) / 2
				if cursor[middle]++; cursor[middle] > 'y' || cursor[middle] == ':' || cursor[middle] == '[' {
					cursor[middle] = 'a'
				}
				c.refused(c.get(c.tasks("?cursor="+string(cursor))), http.StatusBadRequest, "invalid_request")
			},
		}, {
			ID: "x-cursor-filter", Section: additions, Sentence: "a changed filter under an old cursor is 400",
			Does: "use a cursor of the whole list with a status",
			run: func(c *C) {
				c.created(2)
				cursor := c.next(c.get(c.tasks("?limit=1")))
				c.refused(c.get(c.tasks("?status=failed&cursor="+cursor)), http.StatusBadRequest, "invalid_request")
			},
		}, {
			ID: "x-all-failed", Section: additions, Sentence: "All items failed: 422 with error, message AND the result fields.",
			Does: "create two bad items",
			run: func(c *C) {
				a := c.create(bad(), bad())
				v := a.object(c)
				c.equal(a, "success_count", 0, v["success_count"])
				c.equal(a, "error_count", 2, v["error_count"])
				c.equal(a, "task_ids", "[]", show(v["task_ids"]))
				c.itemError(a, 0, unknownField)
				c.itemError(a, 1, unknownField)
			},
		}, {
			ID: "x-errors-order", Section: additions, Sentence: "errors ordered by index, then field",
			Does: "create a good item and two bad ones with unknown fields from z to a",
			run: func(c *C) {
				worse := fields{"zzz_conformance": 1, "mmm_conformance": 1, "aaa_conformance": 1}
				a := c.create(c.item(), worse, worse)
				list := objects(a.object(c)["errors"])
				order := func(a, b map[string]any) int {
					return cmp.Or(cmp.Compare(number(a["index"]), number(b["index"])), cmp.Compare(fmt.Sprint(a["field_name"]), fmt.Sprint(b["field_name"])))
				}
				if len(list) < 6 || !slices.IsSortedFunc(list, order) {
					c.fail(a, "six errors or more, in order", "errors %s", show(list))
				}
			},
		}, {
			ID: "x-task-ids-order", Section: additions, Sentence: "task_ids in the order of the items that succeeded",
			Does: "create five tasks: their ids rise",
			run: func(c *C) {
				a := c.create(c.items(5)...)
				if ids := numbers(a.object(c)["task_ids"]); len(ids) != 5 || !slices.IsSorted(ids) {
					c.fail(a, "five ids that rise", "%v", ids)
				}
			},
		}, {
			ID: "x-schema-entry", Section: additions, Sentence: "Schema entries add type, required, description, json_schema and example",
			Does: "GET the schema",
			run: func(c *C) {
				a := c.get(in(c.Workflow, "/schema"))
				for _, e := range objects(a.object(c)["fields"]) {
					c.has(a, "fields[]", e, "type", text)
					c.has(a, "fields[]", e, "required", boolean)
					c.has(a, "fields[]", e, "description", text)
					c.has(a, "fields[]", e, "json_schema", object)
					if _, there := e["example"]; !there {
						c.fail(a, "an example", "keys %v", keys(e))
					}
				}
			},
		}, {
			ID: "x-two-keys", Section: additions, Sentence: "a request with different API keys is refused",
			Does: "GET the workflow with the key in one header and another in the other",
			run: func(c *C) {
				a := c.get(in(c.Workflow, ""), header("X-API-Key", "pk_live_"+strings.Repeat("0e", 20)))
				c.refused(a, http.StatusUnauthorized, "invalid_api_key")
			},
		}, {
			ID: "x-openapi-3.0", Section: additions, Sentence: "/api/v1/openapi-3.0.json for generators",
			Does: "GET it",
			run: func(c *C) {
				a := c.get("/openapi-3.0.json", anonymous())
				c.status(a, http.StatusOK)
				if v, _ := a.object(c)["openapi"].(string); !strings.HasPrefix(v, "3.0.") {
					c.fail(a, "openapi 3.0.x", "%q", v)
				}
			},
		}, {
			ID: "x-not-a-zip", Section: additions, Sentence: "an archive that is no ZIP ends the upload as failed",
			Does: "PUT a text, confirm and poll", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.put(u, []byte("This is no archive."))
				c.status(c.confirm(u), http.StatusAccepted)
				a := c.poll(u)
				c.equal(a, "status", "failed", a.object(c)["status"])
			},
		},
	}
}
