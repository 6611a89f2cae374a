package conformance

import (
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
)

var weakTag = regexp.MustCompile(`^W/"[^"]+"$`)

func headerChecks() []Check {
	return []Check{
		{
			ID: "x-etag-task", Section: additions, Sentence: "send it back as If-None-Match and an unchanged answer costs a 304 without a body",
			Does: "create a task, GET it, and GET it again with its ETag",
			run:  func(c *C) { c.unchanged(c.taskPath(c.created(1)[0])) },
		}, {
			ID: "x-etag-list", Section: additions, Sentence: "Status and list carry a weak ETag",
			Does: "list, and list again with the ETag",
			run: func(c *C) {
				c.created(3)
				c.unchanged(c.second("&limit=2"))
			},
		}, {
			ID: "x-etag-upload", Section: additions, Sentence: "weak ETags and 304 on … upload polls",
			Does: "init an upload, GET its status, and GET it again with its ETag", needs: []need{needAnyUploads},
			run: func(c *C) { c.unchanged(c.begin(c.uploadable()).path("")) },
		}, {
			ID: "x-etag-changes", Section: additions, Sentence: "an unchanged answer costs a 304 (and a changed one does not)",
			Does: "list, create a task, and list again with the ETag",
			run: func(c *C) {
				c.created(1)
				before := c.get(c.tasks("?limit=1"))
				c.created(1)
				after := c.get(c.tasks("?limit=1"), header("If-None-Match", before.Header.Get("ETag")))
				c.status(after, http.StatusOK)
				if tag := after.Header.Get("ETag"); tag == before.Header.Get("ETag") {
					c.fail(after, "another ETag for another list", "ETag %s again", tag)
				}
			},
		}, {
			ID: "x-request-id-echoed", Section: additions, Sentence: "X-Request-Id; send your own to find a request in both logs",
			Does: "GET the workflow with an X-Request-Id",
			run: func(c *C) {
				id := "conformance-" + rand.Text()
				a := c.get(in(c.Workflow, ""), header("X-Request-Id", id))
				c.equal(a, "X-Request-Id", id, a.Header.Get("X-Request-Id"))
			},
		}, {
			ID: "x-request-id-harmless", Section: additions, Sentence: "X-Request-Id (the caller's own when it is a harmless one, else a new one)",
			Does: "GET the workflow with markup for an X-Request-Id",
			run: func(c *C) {
				a := c.get(in(c.Workflow, ""), header("X-Request-Id", "<script>"+strings.Repeat("x", 200)))
				if id := a.Header.Get("X-Request-Id"); strings.Contains(id, "script") {
					c.fail(a, "an X-Request-Id of the server's own", "%q", id)
				}
			},
		}, {
			ID: "x-rate-limit-headers", Section: additions, Sentence: "RateLimit/RateLimit-Policy advisory headers",
			Does: "GET the workflow",
			run: func(c *C) {
				a := c.get(in(c.Workflow, ""))
				for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
					if a.Header.Get(name) == "" {
						c.fail(a, "a header "+name, "none")
					}
				}
			},
		},
	}
}

// unchanged ends the check unless the path answers its own ETag with 304.
// Somebody may work on the task between two calls, so it may take a few.
func (c *C) unchanged(path string) {
	const attempts = 5
	for try := 1; ; try++ {
		a := c.get(path)
		c.status(a, http.StatusOK)
		tag := a.Header.Get("ETag")
		if !weakTag.MatchString(tag) {
			c.fail(a, `an ETag, W/"…"`, "%q", tag)
		}
		again := c.get(path, header("If-None-Match", tag))
		if again.Status == http.StatusOK && again.Header.Get("ETag") != tag && try < attempts {
			continue
		}
		c.status(again, http.StatusNotModified)
		c.equal(again, "bytes of body:", 0, len(again.Raw))
		return
	}
}
