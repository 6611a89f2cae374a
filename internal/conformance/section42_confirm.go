package conformance

import (
	"fmt"
	"net/http"
	"sync"
)

// racers is how many confirm at once.
const racers = 16

func uploadConfirmChecks() []Check {
	return []Check{
		{
			ID: "4.2.2-put", Section: "4.2", Sentence: "HTTP PUT of the ZIP to upload_url with header Content-Type: application/zip.",
			Does: "init an upload and PUT an archive, without a key", needs: []need{needAnyUploads},
			run: func(c *C) { c.put(c.begin(c.uploadable()), zipOf("a.txt")) },
		}, {
			ID: "4.2.2-storage", Section: "4.2", Sentence: "This goes straight to storage, not through the API server.",
			Does: "init an upload: upload_url is no address of the API", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				if !c.elsewhere(u.url) {
					c.fail(nil, "an upload_url outside of "+c.BaseURL, "%s", shortURL(u.url))
				}
			},
		}, {
			ID: "4.2.3-confirm", Section: "4.2", Sentence: "POST …/confirm | {upload_id, status} with status processing; 202",
			Does: "init, PUT and confirm", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.put(u, zipOf("a.txt"))
				a := c.confirm(u)
				c.status(a, http.StatusAccepted)
				c.equal(a, "upload_id", u.id, a.object(c)["upload_id"])
				c.equal(a, "status", "processing", a.object(c)["status"])
			},
		}, {
			ID: "4.2.3-not-stored", Section: "4.2", Sentence: "422 when the ZIP is not yet in storage",
			Does: "init and confirm without a PUT", needs: []need{needAnyUploads},
			run: func(c *C) {
				a := c.confirm(c.begin(c.uploadable()))
				c.refused(a, http.StatusUnprocessableEntity, "validation_error")
			},
		}, {
			ID: "4.2.3-stays-pending", Section: "3", Sentence: "pending | confirm call | ZIP not yet in storage | pending",
			Does: "init, confirm too early, GET the status, PUT and confirm again", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.confirm(u)
				a := c.get(u.path(""))
				c.equal(a, "status", "pending", a.object(c)["status"])
				c.put(u, zipOf("a.txt"))
				c.status(c.confirm(u), http.StatusAccepted)
			},
		}, {
			ID: "4.2.3-again", Section: "4.2", Sentence: "409 when already confirmed",
			Does: "init, PUT, and confirm twice", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.put(u, zipOf("a.txt"))
				c.status(c.confirm(u), http.StatusAccepted)
				c.refused(c.confirm(u), http.StatusConflict, "api_error")
			},
		}, {
			ID: "4.2.3-over", Section: "4.2", Sentence: "409 when … no longer pending (unchanged)",
			Does: "ingest an archive, confirm again and GET the status", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.put(u, zipOf("a.txt"))
				c.status(c.confirm(u), http.StatusAccepted)
				before := c.poll(u)
				c.refused(c.confirm(u), http.StatusConflict, "api_error")
				after := c.get(u.path(""))
				c.equal(after, "status", before.object(c)["status"], after.object(c)["status"])
			},
		}, {
			ID: "4.2.3-once", Section: "4.2", Sentence: "Confirm succeeds once.",
			Does: fmt.Sprintf("init, PUT, and %d confirms at the same time", racers), needs: []need{needAnyUploads},
			run: raceConfirms,
		}, {
			ID: "4.2.4-poll", Section: "4.2", Sentence: "Poll: GET the upload status until status is completed, failed or cancelled.",
			Does: "ingest an archive and GET the status until it is terminal", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				c.put(u, zipOf("a.txt"))
				c.status(c.confirm(u), http.StatusAccepted)
				c.poll(u)
			},
		}, {
			ID: "7-404-upload", Section: "7", Sentence: "404 | not_found | … upload absent in the key's organization",
			Does: "GET and confirm an upload that does not exist", needs: []need{needAnyUploads},
			run: func(c *C) {
				workflow, _ := c.uploadable()
				u := upload{workflow: workflow, id: noUpload}
				c.refused(c.get(u.path("")), http.StatusNotFound, "not_found")
				c.refused(c.confirm(u), http.StatusNotFound, "not_found")
			},
		}, {
			ID: "4.2-other-workflow", Section: "4.2", Sentence: "Every {workflow_id} must belong … otherwise the response is 404 (an upload under another workflow)",
			Does: "init an upload, and GET it under the workflow without file fields", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				u.workflow = c.Workflow
				c.refused(c.get(u.path("")), http.StatusNotFound, "not_found")
			},
		},
	}
}

func raceConfirms(c *C) {
	u := c.begin(c.uploadable())
	c.put(u, zipOf("a.txt"))
	answers, errs := make([]*answer, racers), make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { answers[i], errs[i] = c.try(http.MethodPost, u.path("/confirm"), nil) })
	}
	wg.Wait()
	accepted := 0
	for i, a := range answers {
		switch {
		case errs[i] != nil:
			c.fail(nil, "an answer to each confirm", "%s", errs[i])
		case a.Status == http.StatusAccepted:
			accepted++
		default:
			c.refused(a, http.StatusConflict, "api_error")
		}
	}
	if accepted != 1 {
		c.fail(answers[0], "202 for exactly one of them", "202 for %d", accepted)
	}
}
