package conformance

import (
	"net/http"
	"time"
)

func uploadInitChecks() []Check {
	return []Check{
		{
			ID: "4.2.1-init", Section: "4.2", Sentence: "POST …/tasks/upload | upload_id, upload_url, expires_at; 202",
			Does: "init an upload", needs: []need{needAnyUploads},
			run: func(c *C) {
				workflow, body := c.uploadable()
				c.status(c.post(in(workflow, "/tasks/upload"), body), http.StatusAccepted)
			},
		}, {
			ID: "2-upload-fields", Section: "2", Sentence: "upload_id string (UUID); upload_url string; expires_at string (timestamp)",
			Does: "init an upload", needs: []need{needAnyUploads},
			run: func(c *C) {
				workflow, body := c.uploadable()
				a := c.post(in(workflow, "/tasks/upload"), body)
				v := a.object(c)
				c.has(a, "", v, "upload_id", aUUID)
				c.has(a, "", v, "upload_url", text)
				c.has(a, "", v, "expires_at", timestamp)
			},
		}, {
			ID: "3-upload-pending", Section: "3", Sentence: "(none) | init call | accepted | pending",
			Does: "init an upload and GET its status", needs: []need{needAnyUploads},
			run: func(c *C) {
				u := c.begin(c.uploadable())
				a := c.get(u.path(""))
				c.status(a, http.StatusOK)
				c.equal(a, "status", "pending", a.object(c)["status"])
			},
		}, {
			ID: "4.2.1-omitted", Section: "4.2", Sentence: "tasks may be omitted only when has_only_file_upload_fields is true",
			Does: "init an upload without tasks for every workflow given that has file fields only", needs: []need{needAnyUploads},
			run: func(c *C) {
				asked := false
				for _, id := range []int64{c.FileWorkflow, c.FolderWorkflow} {
					if id > 0 {
						asked = true
						c.status(c.post(in(id, "/tasks/upload"), map[string]any{}), http.StatusAccepted)
					}
				}
				if !asked {
					c.skip("needs %s or %s", needFile, needFolder)
				}
			},
		}, {
			ID: "4.2.1-required", Section: "4.2", Sentence: "otherwise tasks is required",
			Does: "init an upload without tasks for a workflow that has other fields, too", needs: []need{needMixed},
			run: func(c *C) {
				a := c.post(in(c.MixedWorkflow, "/tasks/upload"), map[string]any{})
				c.refused(a, http.StatusUnprocessableEntity, "validation_error")
			},
		}, {
			ID: "4.2.1-size-integer", Section: "4.2", Sentence: "optional integer file_size_bytes",
			Does: "init with a text and with a fraction as file_size_bytes, and with an integer", needs: []need{needFile},
			run: func(c *C) {
				path := in(c.FileWorkflow, "/tasks/upload")
				for _, doc := range []string{`{"file_size_bytes":"1000"}`, `{"file_size_bytes":1.5}`} {
					c.refused(c.post(path, []byte(doc)), http.StatusUnprocessableEntity, "validation_error")
				}
				c.status(c.post(path, []byte(`{"file_size_bytes":1000}`)), http.StatusAccepted)
			},
		}, {
			ID: "4.2-expires-default", Section: "4.2", Sentence: "60 minutes (the value when file_size_bytes is omitted)",
			Does: "init without file_size_bytes and compare expires_at with the answer's Date", needs: []need{needAnyUploads},
			run: func(c *C) {
				workflow, body := c.uploadable()
				a := c.post(in(workflow, "/tasks/upload"), body)
				c.lives(a, time.Hour)
			},
		}, {
			ID: "4.2-expires-least", Section: "4.2", Sentence: "expires_at … is clamped between 60 minutes …",
			Does: "init with file_size_bytes 1", needs: []need{needFile},
			run: func(c *C) { c.lives(c.sized(1), time.Hour) },
		}, {
			ID: "4.2-expires-scales", Section: "4.2", Sentence: "expires_at scales with file_size_bytes",
			Does: "init with 1 MB to 16 TB: the larger, the longer", needs: []need{needFile},
			run: func(c *C) { expiryScales(c) },
		}, {
			ID: "4.2-expires-most", Section: "4.2", Sentence: "… and 12 hours",
			Does: "init with 1 MB to 16 TB, as far as they are taken: none lives longer, and 16 TB as long", needs: []need{needFile},
			run: func(c *C) { expiryEnds(c) },
		}, {
			ID: "8-upload-tasks", Section: "8", Sentence: "tasks per request | 1 to 5,000 | … the tasks array of ZIP init",
			Does: "init with no task and with 5,001", needs: []need{needMixed}, heavy: true,
			run: func(c *C) {
				path := in(c.MixedWorkflow, "/tasks/upload")
				item := c.mixedItem("a.txt")
				for _, n := range []int{0, maxTasks + 1} {
					c.refused(c.post(path, batch(repeat(item, n)...)), http.StatusUnprocessableEntity, "validation_error")
				}
			},
		}, {
			ID: "8-upload-5000", Section: "8", Sentence: "tasks per request | 1 to 5,000 | … the tasks array of ZIP init",
			Does: "init with one task and with 5,000; neither is confirmed", needs: []need{needMixed}, heavy: true,
			run: func(c *C) {
				item := c.mixedItem("a.txt")
				for _, n := range []int{1, maxTasks} {
					c.status(c.post(in(c.MixedWorkflow, "/tasks/upload"), batch(repeat(item, n)...)), http.StatusAccepted)
				}
			},
		},
	}
}

// sized starts an upload of an archive that is said to have that many bytes.
func (c *C) sized(bytes int64) *answer {
	return c.post(in(c.FileWorkflow, "/tasks/upload"), map[string]any{"file_size_bytes": bytes})
}

func (c *C) lives(a *answer, want time.Duration) {
	c.status(a, http.StatusAccepted)
	if got := c.lifetime(a); !near(got, want) {
		c.fail(a, "expires_at "+want.String()+" ahead", "%s ahead", got.Round(time.Second))
	}
}

// sizes are announced in turn; a deployment may refuse the largest, for an
// archive has a limit of its own.
func sizes() []int64 {
	return []int64{1 << 20, 1 << 30, 5 << 30, 16 << 30, 64 << 30, 256 << 30, 1 << 40, 16 << 40}
}

// lifetimes returns how long uploads of the sizes live, up to the first that
// is refused, and the last answer that was not.
func (c *C) lifetimes() (spans []time.Duration, last *answer) {
	for _, size := range sizes() {
		a := c.sized(size)
		if a.Status == http.StatusUnprocessableEntity && last != nil {
			break
		}
		c.status(a, http.StatusAccepted)
		spans, last = append(spans, c.lifetime(a)), a
	}
	return spans, last
}

func expiryScales(c *C) {
	spans, last := c.lifetimes()
	for i := 1; i < len(spans); i++ {
		if spans[i] < spans[i-1]-tolerance {
			c.fail(last, "a larger archive to have no less time", "lifetimes %v", spans)
		}
	}
	if longest := spans[len(spans)-1]; longest <= time.Hour+tolerance {
		c.fail(last, "more than an hour for a large archive", "%s", longest)
	}
}

func expiryEnds(c *C) {
	spans, last := c.lifetimes()
	for _, span := range spans {
		if span > 12*time.Hour+tolerance {
			c.fail(last, "at most 12 hours", "lifetimes %v", spans)
		}
	}
	if len(spans) == len(sizes()) && !near(spans[len(spans)-1], 12*time.Hour) {
		c.fail(last, "12 hours for 16 TB", "lifetimes %v", spans)
	}
}
