package conformance

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
)

// fresh is an Idempotency-Key that was never used.
func fresh() option { return header("Idempotency-Key", rand.Text()) }

func idempotencyChecks() []Check {
	return []Check{
		{
			ID: "x-idempotency-replay", Section: additions, Sentence: "the same key with the same body gets the first answer again",
			Does: "create twice under one Idempotency-Key",
			run: func(c *C) {
				once, body := fresh(), batch(c.item())
				first := c.post(c.tasks(""), body, once)
				c.status(first, http.StatusOK)
				second := c.post(c.tasks(""), body, once)
				c.status(second, http.StatusOK)
				c.equal(second, "body", string(first.Raw), string(second.Raw))
			},
		}, {
			ID: "x-idempotency-marked", Section: additions, Sentence: "marked Idempotent-Replayed: true",
			Does: "create twice under one Idempotency-Key",
			run: func(c *C) {
				once, body := fresh(), batch(c.item())
				first := c.post(c.tasks(""), body, once)
				c.equal(first, "Idempotent-Replayed of the first answer:", "", first.Header.Get("Idempotent-Replayed"))
				second := c.post(c.tasks(""), body, once)
				c.equal(second, "Idempotent-Replayed of the second answer:", "true", second.Header.Get("Idempotent-Replayed"))
			},
		}, {
			ID: "x-idempotency-other-body", Section: additions, Sentence: "Another body under the same key is 422",
			Does: "create one task and then two under one Idempotency-Key",
			run: func(c *C) {
				once := fresh()
				c.status(c.post(c.tasks(""), batch(c.item()), once), http.StatusOK)
				a := c.post(c.tasks(""), batch(c.items(2)...), once)
				c.refused(a, http.StatusUnprocessableEntity, "validation_error")
			},
		}, {
			ID: "x-idempotency-quoted", Section: additions, Sentence: "1 to 255 printable ASCII characters, bare or in double quotes",
			Does: "create under a key and again under the same in quotes",
			run: func(c *C) {
				value, body := rand.Text(), batch(c.item())
				first := c.post(c.tasks(""), body, header("Idempotency-Key", value))
				second := c.post(c.tasks(""), body, header("Idempotency-Key", `"`+value+`"`))
				c.equal(second, "task_ids", show(first.object(c)["task_ids"]), show(second.object(c)["task_ids"]))
			},
		}, {
			ID: "x-idempotency-bad", Section: additions, Sentence: "400 invalid_request | a bad … Idempotency-Key",
			Does: "create under a key of 300 characters",
			run: func(c *C) {
				a := c.post(c.tasks(""), batch(c.item()), header("Idempotency-Key", fmt.Sprintf("%0300d", 1)))
				c.refused(a, http.StatusBadRequest, "invalid_request")
			},
		}, {
			ID: "x-idempotency-race", Section: additions, Sentence: "repeat the call freely: … creates nothing [twice]",
			Does: "eight creations at the same time under one Idempotency-Key make one task",
			run:  raceCreations,
		}, {
			ID: "x-idempotency-init", Section: additions, Sentence: "Idempotency-Key on the three POSTs",
			Does: "init twice under one Idempotency-Key: it is one upload", needs: []need{needAnyUploads},
			run: func(c *C) {
				workflow, body := c.uploadable()
				once := fresh()
				var ids []string
				for range 2 {
					a := c.post(in(workflow, "/tasks/upload"), body, once)
					c.status(a, http.StatusAccepted)
					ids = append(ids, c.uploadOf(workflow, a).id)
				}
				c.equal(nil, "upload_id", ids[0], ids[1])
			},
		}, {
			ID: "x-idempotency-confirm", Section: additions, Sentence: "Idempotency-Key on the three POSTs",
			Does: "confirm twice under one Idempotency-Key: 202 both times", needs: []need{needAnyUploads},
			run: func(c *C) {
				u, once := c.begin(c.uploadable()), fresh()
				c.put(u, zipOf("a.txt"))
				c.status(c.confirm(u, once), http.StatusAccepted)
				c.status(c.confirm(u, once), http.StatusAccepted)
			},
		},
	}
}

func raceCreations(c *C) {
	const callers = 8
	body, once := batch(c.item()), fresh()
	answers, errs := make([]*answer, callers), make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { answers[i], errs[i] = c.try(http.MethodPost, c.tasks(""), body, once) })
	}
	wg.Wait()
	made := map[string]bool{}
	for i, a := range answers {
		switch {
		case errs[i] != nil:
			c.fail(nil, "an answer to each creation", "%s", errs[i])
		case a.Status == http.StatusConflict: // the first is still running
		default:
			c.status(a, http.StatusOK)
			made[show(a.object(c)["task_ids"])] = true
		}
	}
	if len(made) != 1 {
		c.fail(nil, "the same task in every answer", "%d different ones", len(made))
	}
}
