package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
)

// The limits of spec section 8.
const (
	maxTasks = 5000
	maxBody  = 32 << 20
)

func repeat(f fields, n int) []fields { return slices.Repeat([]fields{f}, n) }

func limitChecks() []Check {
	return []Check{
		{
			ID: "8-tasks-5000", Section: "8", Sentence: "tasks per request | 1 to 5,000 | JSON create",
			Does: "create 5,000 items, of which one is good: all are looked at", heavy: true,
			run: func(c *C) {
				a := c.create(append(repeat(bad(), maxTasks-1), c.item())...)
				c.status(a, http.StatusOK)
				c.equal(a, "success_count", 1, a.object(c)["success_count"])
				c.equal(a, "error_count", maxTasks-1, a.object(c)["error_count"])
			},
		}, {
			ID: "8-tasks-5001", Section: "8", Sentence: "body fails schema validation (for example more than 5,000 tasks)",
			Does: "create 5,001 items, of which one is good: the request is refused, not its items", heavy: true,
			run: func(c *C) {
				a := c.create(append(repeat(bad(), maxTasks), c.item())...)
				c.refused(a, http.StatusUnprocessableEntity, "validation_error")
				if _, there := a.object(c)["success_count"]; there {
					c.fail(a, "a refusal of the whole request", "a result")
				}
			},
		}, {
			ID: "8-tasks-0", Section: "8", Sentence: "tasks per request | 1 to 5,000",
			Does: "create with an empty array",
			run: func(c *C) {
				c.refused(c.post(c.tasks(""), []byte(`{"tasks":[]}`)), http.StatusUnprocessableEntity, "validation_error")
			},
		}, {
			ID: "8-body-32mb", Section: "8", Sentence: "JSON body size | 32 MB maximum",
			Does: "create one task with a body of exactly 32 MB", heavy: true,
			run: func(c *C) { c.status(c.post(c.tasks(""), c.padded(maxBody)), http.StatusOK) },
		}, {
			ID: "8-body-over", Section: "8", Sentence: "larger yields 413 payload_too_large",
			Does: "create one task with a body of one byte more", heavy: true,
			run: func(c *C) {
				a := c.post(c.tasks(""), c.padded(maxBody+1))
				c.refused(a, http.StatusRequestEntityTooLarge, "payload_too_large")
			},
		}, {
			ID: "8-body-over-upload", Section: "8", Sentence: "all JSON endpoints; ZIP archives are excluded",
			Does: "init an upload with a body of one byte more than 32 MB", needs: []need{needAnyUploads}, heavy: true,
			run: func(c *C) {
				workflow, _ := c.uploadable()
				a := c.post(in(workflow, "/tasks/upload"), pad([]byte(`{}`), maxBody+1))
				c.refused(a, http.StatusRequestEntityTooLarge, "payload_too_large")
			},
		}, {
			ID: "8-page-size", Section: "8", Sentence: "page size | 1 to 200, default 50",
			Does: "list with limit 0, 201 and -1: refused",
			run: func(c *C) {
				for _, limit := range []string{"0", "201", "-1"} {
					a := c.get(c.tasks("?limit=" + limit))
					if a.Status < 400 || a.Status > 499 {
						c.fail(a, "a refusal", "status %d", a.Status)
					}
				}
			},
		},
	}
}

// padded is a creation of one task with as many bytes.
func (c *C) padded(size int) []byte {
	doc, err := json.Marshal(batch(c.item()))
	if err != nil {
		c.fail(nil, "an item that is JSON", "%s", err)
	}
	return pad(doc, size)
}

// pad fills a document up with blanks.
func pad(doc []byte, size int) []byte {
	return append(doc, bytes.Repeat([]byte(" "), size-len(doc))...)
}
