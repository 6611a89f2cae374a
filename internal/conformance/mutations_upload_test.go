package conformance

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// elsewhere writes a time by the clocks of another zone, and moves it.
func elsewhere(v any, by time.Duration) string {
	at, _ := time.Parse(time.RFC3339Nano, v.(string))
	return at.Add(by).In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)
}

// lives makes the uploads that a mutation is about live so long.
func lives(about func(sent string) bool, span time.Duration) func(*call) {
	return func(c *call) {
		if c.inits() && c.status == http.StatusAccepted && about(string(c.sent)) {
			c.edit(func(v map[string]any) { v["expires_at"] = time.Now().Add(span).UTC().Format(time.RFC3339Nano) })
		}
	}
}

func is(body string) func(string) bool { return func(sent string) bool { return sent == body } }

func initMutations(t Target) []mutation {
	return []mutation{
		{name: "init with 200", breaks: []string{
			"2-upload-result", "3-upload-pending", "4.2.1-init", "4.2.1-omitted", "4.2-expires-default",
			"4.2.1-files", "4.2-task-ids", "4.2.2-put", "4.2.2-storage", "4.2.3-again", "4.2.3-confirm", "4.2.3-not-stored",
			"4.2.3-once", "4.2.3-over", "4.2.3-stays-pending", "4.2.4-poll", "4.2-other-workflow",
		}, answer: func(c *call) {
			if c.inits() && c.in(t.FileWorkflow) && string(c.sent) == "{}" {
				c.status = http.StatusOK
			}
		}, alone: []string{"2", "3", "4"}},
		{name: "an upload begins as processing", breaks: []string{"3-upload-pending"}, answer: func() func(*call) {
			confirmed := counter()
			return func(c *call) {
				switch id := upTo(c.path, "/confirm"); {
				case c.is(http.MethodPost, "/workflows/*/tasks/upload/*/confirm"):
					confirmed(id, 1)
				case c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.status == http.StatusOK && confirmed(id, 0) == 0:
					c.edit(func(v map[string]any) { v["status"] = "processing" })
				}
			}
		}()},
		{name: "folders want tasks", breaks: []string{"4.2.1-omitted", "4.2.1-folders", "4.2.1-by-name"}, answer: func(c *call) {
			if c.inits() && c.in(t.FolderWorkflow) && c.status == http.StatusAccepted {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}, alone: []string{"2", "3", "4"}},
		{name: "tasks may always be omitted", breaks: []string{"4.2.1-required"}, answer: func(c *call) {
			if c.inits() && c.in(t.MixedWorkflow) && string(c.sent) == "{}" && c.key() == t.Key {
				c.say(http.StatusAccepted, map[string]any{})
			}
		}},
		{name: "a size that is a text", breaks: []string{"4.2.1-size-integer"}, answer: func(c *call) {
			if c.inits() && strings.Contains(string(c.sent), `"1000"`) {
				c.say(http.StatusAccepted, map[string]any{})
			}
		}},
		{name: "two hours by default", breaks: []string{"4.2-expires-default"}, answer: lives(is("{}"), 2*time.Hour)},
		{name: "a minute for a byte", breaks: []string{"4.2-expires-least"}, answer: lives(is(`{"file_size_bytes":1}`), time.Minute)},
		{name: "less time for more", breaks: []string{"4.2-expires-scales"}, answer: lives(is(`{"file_size_bytes":5368709120}`), 61*time.Minute)},
		{name: "thirteen hours", breaks: []string{"4.2-expires-most"}, answer: lives(is(`{"file_size_bytes":17592186044416}`), 13*time.Hour)},
	}
}

// counter counts by a name.
func counter() func(name string, by int) int {
	var mu sync.Mutex
	counts := map[string]int{}
	return func(name string, by int) int {
		mu.Lock()
		defer mu.Unlock()
		counts[name] += by
		return counts[name]
	}
}

func upTo(s, end string) string {
	head, _, _ := strings.Cut(s, end)
	return head
}

// confirmed makes a mutation of the confirms of uploads: it is given the call,
// the number of confirms so far, this one included, and of polls.
func confirmed(change func(c *call, confirms, polls int)) func(*call) {
	confirms, polls := counter(), counter()
	return func(c *call) {
		id := upTo(c.path, "/confirm")
		switch {
		case c.is(http.MethodGet, "/workflows/*/tasks/upload/*"):
			change(c, confirms(id, 0), polls(id, 1))
		case c.is(http.MethodPost, "/workflows/*/tasks/upload/*/confirm"):
			change(c, confirms(id, 1), polls(id, 0))
		}
	}
}

func (c *call) accept() {
	c.say(http.StatusAccepted, map[string]any{"upload_id": noUpload, "status": "processing"})
}

func confirmMutations(t Target) []mutation {
	conflict := func(c *call) bool { return c.status == http.StatusConflict }
	puts := []string{
		"2-upload-result", "4.2-mixed-errors", "4.2-task-ids", "4.2-tasks", "4.2.1-by-name", "4.2.1-files", "4.2.1-folders",
		"4.2.2-put", "4.2.3-again", "4.2.3-confirm", "4.2.3-once", "4.2.3-over", "4.2.3-stays-pending", "4.2.4-poll",
	}
	return []mutation{
		{name: "an address that takes no PUT", breaks: puts, answer: func(c *call) {
			if c.inits() && c.status == http.StatusAccepted {
				c.edit(func(v map[string]any) { v["upload_url"] = upTo(v["upload_url"].(string), "?") })
			}
		}, alone: []string{"2", "3", "4"}},
		{name: "archives through the API", breaks: []string{"4.2.2-storage"}, ask: func(c *call) {
			if c.r.Method == http.MethodPut {
				req, _ := http.NewRequestWithContext(c.r.Context(), http.MethodPut, c.query.Get("to"), strings.NewReader(string(c.sent)))
				req.Header.Set("Content-Type", c.r.Header.Get("Content-Type"))
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				res.Body.Close()
				c.say(res.StatusCode, nil)
			}
		}, answer: func(c *call) {
			if c.inits() && c.status == http.StatusAccepted && string(c.sent) == "{}" {
				c.edit(func(v map[string]any) {
					v["upload_url"] = "http://" + c.r.Host + prefix + "/store?to=" + escape(v["upload_url"].(string))
				})
			}
		}},
		{name: "a confirm that has started", breaks: []string{"4.2.3-confirm"}, answer: confirmed(func(c *call, confirms, _ int) {
			if confirms == 1 && c.status == http.StatusAccepted && c.r.Method == http.MethodPost {
				c.edit(func(v map[string]any) { v["status"] = "started" })
			}
		})},
		{name: "a conflict when nothing is stored", breaks: []string{"4.2.3-not-stored"}, answer: confirmed(func(c *call, confirms, _ int) {
			if confirms == 1 && c.status == http.StatusUnprocessableEntity && c.key() == t.Key {
				c.refuse(http.StatusConflict, "api_error")
			}
		})},
		{name: "a failed confirm ends the upload", breaks: []string{"4.2.3-stays-pending"}, answer: confirmed(func(c *call, confirms, _ int) {
			if confirms == 1 && c.r.Method == http.MethodGet && strings.Contains(string(c.body), `"pending"`) {
				c.edit(func(v map[string]any) { v["status"] = "failed" })
			}
		})},
		{name: "a second confirm is invalid", breaks: []string{"4.2.3-again", "4.2.3-once"}, answer: func() func(*call) {
			conflicts := counter()
			return confirmed(func(c *call, _, polls int) {
				if conflict(c) && polls == 0 && conflicts(c.path, 1) == 1 {
					c.refuse(http.StatusUnprocessableEntity, "validation_error")
				}
			})
		}(), alone: []string{"4.2"}},
		{name: "what is over can be confirmed", breaks: []string{"4.2.3-over"}, answer: confirmed(func(c *call, _, polls int) {
			if conflict(c) && polls > 0 {
				c.accept()
			}
		})},
		{name: "a race has two winners", breaks: []string{"4.2.3-once"}, answer: confirmed(func(c *call, confirms, _ int) {
			if conflict(c) && confirms > 2 {
				c.accept()
			}
		})},
		{name: "an upload status of its own", breaks: []string{
			"2-upload-result", "4.2-mixed-errors", "4.2-task-ids", "4.2-tasks", "4.2.1-by-name", "4.2.1-files", "4.2.1-folders", "4.2.3-over", "4.2.4-poll",
		}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) {
					if v["status"] == "completed" {
						v["status"] = "done"
					}
				})
			}
		}, alone: []string{"2", "3", "4"}},
		{name: "no upload, but invalid", breaks: []string{"7-404-upload"}, answer: func(c *call) {
			if strings.HasSuffix(c.path, noUpload+"/confirm") && c.in(t.FileWorkflow) && c.status == http.StatusNotFound {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
		{name: "uploads of other workflows are shown", breaks: []string{"4.2-other-workflow"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.in(t.Workflow) && !strings.Contains(c.path, noUpload) {
				c.say(http.StatusOK, map[string]any{"status": "pending"})
			}
		}},
	}
}

// resulting changes the results of completed uploads of a workflow.
func resulting(workflow int64, made, failed int, change func(v map[string]any)) func(*call) {
	return func(c *call) {
		if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.in(workflow) && c.status == http.StatusOK {
			c.edit(func(v map[string]any) {
				if v["status"] == "completed" && isNumber(v["success_count"], made) && isNumber(v["error_count"], failed) {
					change(v)
				}
			})
		}
	}
}

func resultMutations(t Target) []mutation {
	return []mutation{
		{name: "no ids of one task", breaks: []string{"2-upload-result"}, answer: resulting(t.FileWorkflow, 1, 0, func(v map[string]any) {
			delete(v, "task_ids")
		})},
		{name: "a file too few", breaks: []string{"4.2.1-files"}, answer: resulting(t.FileWorkflow, 3, 0, func(v map[string]any) { v["success_count"] = 2 })},
		{name: "a folder too many", breaks: []string{"4.2.1-folders"}, answer: resulting(t.FolderWorkflow, 2, 0, func(v map[string]any) { v["success_count"] = 3 })},
		{name: "a missing file is not named", breaks: []string{"4.2.1-by-name"}, answer: resulting(t.FolderWorkflow, 1, 1, func(v map[string]any) {
			objects(v["errors"])[0]["field_name"] = ""
		})},
		{name: "an error without one", breaks: []string{"4.2-tasks"}, answer: resulting(t.MixedWorkflow, 2, 0, func(v map[string]any) { v["error_count"] = 1 })},
		{name: "ids of nothing uploaded", breaks: []string{"4.2-task-ids"}, answer: resulting(t.FileWorkflow, 2, 0, func(v map[string]any) {
			v["task_ids"] = []any{nobody - 1, nobody - 2}
		})},
		{name: "pre-validation failures are forgotten", breaks: []string{"4.2-mixed-errors"}, answer: resulting(t.MixedWorkflow, 1, 2, func(v map[string]any) {
			v["errors"] = slices.DeleteFunc(v["errors"].([]any), func(e any) bool { return isNumber(e.(map[string]any)["index"], 1) })
		})},
	}
}
