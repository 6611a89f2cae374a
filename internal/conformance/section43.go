package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

func listChecks() []Check {
	return []Check{
		{
			ID: "4.3-limit-default", Section: "4.3", Sentence: "limit | integer | 50",
			Does: "create 51 tasks and list without limit",
			run: func(c *C) {
				c.created(51)
				a := c.get(c.tasks(""))
				c.equal(a, "tasks on the page:", 50, len(c.ids(a)))
			},
		}, {
			ID: "4.3-limit", Section: "4.3", Sentence: "limit | 1 to 200",
			Does: "create 201 tasks and list with limit 1, 7 and 200",
			run: func(c *C) {
				c.created(201)
				for _, limit := range []int{1, 7, 200} {
					a := c.get(c.tasks(fmt.Sprintf("?limit=%d", limit)))
					c.status(a, http.StatusOK)
					c.equal(a, "tasks on the page:", limit, len(c.ids(a)))
				}
			},
		}, {
			ID: "4.3-cursor", Section: "4.3", Sentence: "cursor | opaque; pass the previous response's next_cursor",
			Does: "create three tasks, list one and then the page after it",
			run: func(c *C) {
				c.created(3)
				first := c.get(c.tasks("?limit=1"))
				second := c.get(c.tasks("?limit=1&cursor=" + c.next(first)))
				c.status(second, http.StatusOK)
				if a, b := c.ids(first), c.ids(second); len(a) != 1 || len(b) != 1 || b[0] >= a[0] {
					c.fail(second, fmt.Sprintf("one task that is older than %v", a), "%v", b)
				}
			},
		}, {
			ID: "4.3-walk", Section: "4.3", Sentence: "pagination is cursor-based only … (no task is missed and none comes twice)",
			Does: "create 30 tasks and walk pages of 7 over them while more are created",
			run:  walkWhileCreating,
		}, {
			ID: "4.3-order", Section: "4.3", Sentence: "Results are sorted by task id descending (newest first).",
			Does: "create three tasks and list",
			run: func(c *C) {
				c.created(3)
				a := c.get(c.tasks("?limit=50"))
				ids := c.ids(a)
				for i := 1; i < len(ids); i++ {
					if ids[i] >= ids[i-1] {
						c.fail(a, "ids that fall", "%v", ids)
					}
				}
			},
		}, {
			ID: "4.3-no-total", Section: "4.3", Sentence: "with no offset and no total count",
			Does: "list a page and look at its keys",
			run: func(c *C) {
				a := c.get(c.tasks("?limit=1"))
				for _, name := range keys(a.object(c)) {
					if slices.Contains([]string{"total", "total_count", "count", "offset", "page", "pages"}, name) {
						c.fail(a, "no total count and no offset", "the key %s", name)
					}
				}
			},
		}, {
			ID: "4.3-no-offset", Section: "4.3", Sentence: "pagination is cursor-based only, with no offset",
			Does: "list a page, and the same with offset=1: it is the same, or refused",
			run: func(c *C) {
				c.created(3)
				page := c.second("&limit=2")
				first, moved := c.get(page), c.get(page+"&offset=1")
				if moved.Status != http.StatusBadRequest && !slices.Equal(c.ids(first), c.ids(moved)) {
					c.fail(moved, fmt.Sprintf("tasks %v, whatever the offset", c.ids(first)), "%v", c.ids(moved))
				}
			},
		}, {
			ID: "4.3-last-page", Section: "4.3", Sentence: "next_cursor is null when has_more is false.",
			Does: "list each status with limit 200, and look for a last page",
			run: func(c *C) {
				for _, status := range taskStatuses {
					a := c.get(c.tasks("?limit=200&status=" + status))
					v := a.object(c)
					if v["has_more"] == false {
						if next, there := v["next_cursor"]; !there || next != nil {
							c.fail(a, "next_cursor null, for has_more is false", "next_cursor %s", show(next))
						}
						return
					}
				}
				c.skip("there are more than 200 tasks of every status")
			},
		}, {
			ID: "4.3-has-more", Section: "4.3", Sentence: "has_more | boolean (next_cursor is there while it is true)",
			Does: "create two tasks and list one",
			run: func(c *C) {
				c.created(2)
				a := c.get(c.tasks("?limit=1"))
				c.equal(a, "has_more", true, a.object(c)["has_more"])
				c.next(a)
			},
		}, {
			ID: "4.3-status", Section: "4.3", Sentence: "status | string | none (no filter) | one of pending, in_progress, …",
			Does: "list each of the seven statuses",
			run: func(c *C) {
				for _, status := range taskStatuses {
					a := c.get(c.tasks("?limit=20&status=" + status))
					c.status(a, http.StatusOK)
					for _, t := range objects(a.object(c)["tasks"]) {
						c.equal(a, "status", status, t["status"])
					}
				}
			},
		}, {
			ID: "4.3-status-finds", Section: "4.3", Sentence: "status (filter)",
			Does: "create a task and find it under its own status",
			run:  findByStatus,
		}, {
			ID: "4.3-status-invalid", Section: "4.3", Sentence: "A status outside the allowed values returns 400 invalid_request …",
			Does: "list with the statuses done and PENDING",
			run: func(c *C) {
				for _, status := range []string{"done", "PENDING"} {
					c.refused(c.get(c.tasks("?status="+status)), http.StatusBadRequest, "invalid_request")
				}
			},
		}, {
			ID: "4.3-status-message", Section: "4.3", Sentence: "… with the accepted values in the message.",
			Does: "list with the status done",
			run: func(c *C) {
				a := c.get(c.tasks("?status=done"))
				message, _ := a.object(c)["message"].(string)
				for _, status := range taskStatuses {
					if !strings.Contains(message, status) {
						c.fail(a, "a message with the value "+status, "%q", message)
					}
				}
			},
		}, {
			ID: "4.3-cursor-malformed", Section: "4.3", Sentence: "A malformed cursor returns 400 invalid_request.",
			Does: "list with cursors that nobody made",
			run: func(c *C) {
				for _, cursor := range []string{"garbage", "1", "%00", strings.Repeat("A", 5000)} {
					c.refused(c.get(c.tasks("?cursor="+cursor)), http.StatusBadRequest, "invalid_request")
				}
			},
		},
	}
}

// next returns the cursor of the page after, escaped.
func (c *C) next(a *answer) string {
	c.status(a, http.StatusOK)
	next, ok := a.object(c)["next_cursor"].(string)
	if !ok || next == "" {
		c.fail(a, "a next_cursor", "%s", show(a.object(c)["next_cursor"]))
	}
	return url.QueryEscape(next)
}

// second is the path of a page that keeps its place while tasks are created: the
// one after the newest task.
func (c *C) second(query string) string {
	return c.tasks("?cursor=" + c.next(c.get(c.tasks("?limit=1"))) + query)
}

// listed looks for a task in a list, from the newest to where it would be.
func (c *C) listed(id int64, query string) (found bool, last *answer) {
	for cursor := ""; ; {
		a := c.get(c.tasks(query + cursor))
		c.status(a, http.StatusOK)
		for _, listed := range c.ids(a) {
			if listed <= id {
				return listed == id, a
			}
		}
		if a.object(c)["has_more"] != true {
			return false, a
		}
		cursor = "&cursor=" + c.next(a)
	}
}

func walkWhileCreating(c *C) {
	want := map[int64]bool{}
	oldest := int64(nobody)
	for _, id := range c.created(30) {
		want[id], oldest = true, min(oldest, id)
	}
	query, last, newest := "?limit=7", int64(nobody), int64(0)
	for {
		a := c.get(c.tasks(query))
		c.status(a, http.StatusOK)
		for _, id := range c.ids(a) {
			newest = max(newest, id)
			if id >= last {
				c.fail(a, fmt.Sprintf("tasks older than %d on the next page", last), "task %d", id)
			}
			last = id
			delete(want, id)
		}
		if last <= oldest {
			break
		}
		if id := c.created(1)[0]; id <= newest {
			c.fail(a, "a new task with an id above those of the walk", "%d", id)
		}
		query = "?limit=7&cursor=" + c.next(a)
	}
	if len(want) > 0 {
		c.fail(nil, "all 30 tasks on some page", "%d were missed", len(want))
	}
}

func findByStatus(c *C) {
	id := c.created(1)[0]
	// Somebody may pick the task up between two calls, so it may take a few.
	const attempts = 5
	for range attempts {
		a := c.get(c.taskPath(id))
		status, _ := a.object(c)["status"].(string)
		if found, _ := c.listed(id, "?limit=200&status="+url.QueryEscape(status)); found {
			return
		}
	}
	c.fail(nil, fmt.Sprintf("task %d in the list of its status", id), "it is not there, %d times over", attempts)
}
