package conformance

import (
	"net/http"
	"net/url"
	"slices"
)

func escape(s string) string { return url.QueryEscape(s) }

// drop takes the cursor away before the product sees it.
func drop(c *call) { c.requery(func(q url.Values) { q.Del("cursor") }) }

func listMutations(t Target) []mutation {
	// paged changes the first pages of a size.
	paged := func(limit string, change func(v map[string]any)) func(*call) {
		return func(c *call) {
			if c.lists() && c.query.Get("limit") == limit && !c.query.Has("status") && !c.query.Has("cursor") && c.status == http.StatusOK {
				c.edit(change)
			}
		}
	}
	shorter := func(v map[string]any) { v["tasks"] = v["tasks"].([]any)[:len(v["tasks"].([]any))-1] }
	return []mutation{
		{name: "49 by default", breaks: []string{"4.3-limit-default"}, answer: paged("", shorter)},
		{name: "199 at most", breaks: []string{"4.3-limit"}, answer: paged("200", shorter)},
		{name: "a cursor that is forgotten", breaks: []string{"4.3-cursor"}, ask: func(c *call) {
			if c.lists() && c.query.Get("limit") == "1" {
				drop(c)
			}
		}},
		{name: "a cursor that loops", breaks: []string{"4.3-walk"}, ask: func(c *call) {
			if c.lists() && c.query.Get("limit") == "7" {
				drop(c)
			}
		}},
		{name: "oldest first", breaks: []string{"4.3-order"}, answer: paged("50", func(v map[string]any) { slices.Reverse(v["tasks"].([]any)) })},
		{name: "a total count", breaks: []string{"4.3-no-total"}, answer: paged("1", func(v map[string]any) { v["total_count"] = 1 })},
		{name: "an offset that moves", breaks: []string{"4.3-no-offset"}, answer: func(c *call) {
			if c.lists() && c.query.Has("offset") {
				c.edit(func(v map[string]any) { objects(v["tasks"])[0]["id"] = 1 })
			}
		}},
		{name: "a cursor after the last page", breaks: []string{"4.3-last-page"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "200" && c.status == http.StatusOK {
				c.edit(func(v map[string]any) {
					if v["has_more"] == false {
						v["next_cursor"] = "more"
					}
				})
			}
		}},
		{name: "no more after the first page", breaks: []string{"4.3-has-more"}, answer: paged("1", func(v map[string]any) { v["has_more"] = false })},
		{name: "a filter that does not filter", breaks: []string{"4.3-status"}, ask: func(c *call) {
			if c.lists() && c.query.Get("status") == "finished" {
				c.requery(func(q url.Values) { q.Del("status") })
			}
		}},
		{name: "a filter that hides", breaks: []string{"4.3-status-finds"}, answer: func(c *call) {
			if c.lists() && c.query.Get("status") == "pending" && c.query.Get("limit") == "200" {
				c.edit(func(v map[string]any) { v["tasks"] = []any{} })
			}
		}},
		{name: "statuses in capitals", breaks: []string{"4.3-status-invalid"}, ask: func(c *call) {
			if c.lists() && c.query.Get("status") == "PENDING" {
				c.requery(func(q url.Values) { q.Set("status", "pending") })
			}
		}},
		{name: "accepted statuses kept secret", breaks: []string{"4.3-status-message"}, answer: func(c *call) {
			if c.lists() && c.query.Get("status") == "done" {
				c.edit(func(v map[string]any) { v["message"] = "bad status" })
			}
		}},
		{name: "any cursor will do", breaks: []string{"4.3-cursor-malformed"}, ask: func(c *call) {
			if c.lists() && c.query.Get("cursor") == "garbage" {
				drop(c)
			}
		}},
		{name: "tasks of other workflows are shown", breaks: []string{"4.4-other-workflow"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") && c.in(t.PausedWorkflow) {
				c.say(http.StatusOK, map[string]any{})
			}
		}},
		{name: "tasks that are none are shown", breaks: []string{"4.4-unknown"}, answer: func(c *call) {
			if c.path == "/workflows/"+decimal(t.Workflow)+"/tasks/"+decimal(nobody) {
				c.say(http.StatusOK, map[string]any{})
			}
		}},
	}
}
