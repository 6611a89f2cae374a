package conformance

import (
	"net/http"
	"slices"
	"strings"
)

// unavailable is an answer that no check waits for.
func (c *call) unavailable() { c.refuse(http.StatusServiceUnavailable, "service_unavailable") }

func requestMutations(t Target) []mutation {
	return []mutation{
		{name: "an unknown path is a bad request", breaks: []string{"x-unknown-path"}, answer: func(c *call) {
			if c.path == "/conformance/nothing" {
				c.refuse(http.StatusBadRequest, "invalid_request")
			}
		}},
		{name: "no Allow", breaks: []string{"x-wrong-method"}, answer: func(c *call) {
			if c.status == http.StatusMethodNotAllowed {
				c.header.Del("Allow")
			}
		}},
		{name: "text for JSON", breaks: []string{"x-content-type"}, ask: func(c *call) {
			if c.r.Header.Get("Content-Type") == "text/plain" {
				c.r.Header.Set("Content-Type", "application/json")
			}
		}},
		{name: "nonsense is invalid", breaks: []string{"x-malformed-json"}, answer: func(c *call) {
			if c.creates() && string(c.sent) == "nonsense" {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
		{name: "unknown properties are ignored", breaks: []string{"x-unknown-property"}, answer: func(c *call) {
			if c.creates() && strings.Contains(string(c.sent), `"conformance":true`) {
				c.result()
			}
		}},
		{name: "abc is not there now", breaks: []string{"x-bad-id"}, answer: func(c *call) {
			if c.path == "/workflows/abc" {
				c.unavailable()
			}
		}},
		{name: "a limit in words", breaks: []string{"x-limit"}, answer: func(c *call) {
			if c.query.Get("limit") == "ten" {
				c.unavailable()
			}
		}},
		{name: "cursors can be made up", breaks: []string{"x-cursor-tampered"}, answer: func(c *call) {
			cursor := c.query.Get("cursor")
			if c.lists() && len(cursor) > 10 && len(cursor) < 1000 && !c.query.Has("limit") && !c.query.Has("status") {
				c.say(http.StatusOK, map[string]any{"tasks": []any{}, "has_more": false, "next_cursor": nil})
			}
		}},
		{name: "cursors under another filter", breaks: []string{"x-cursor-filter"}, ask: func(c *call) {
			if c.lists() && c.query.Get("status") == "failed" {
				drop(c)
			}
		}},
		{name: "all failed, without a result", breaks: []string{"x-all-failed"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "xx" {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
		{name: "the last error first", breaks: []string{"x-errors-order"}, answer: func(c *call) {
			if c.creates() && strings.Contains(string(c.body), "zzz_conformance") {
				c.edit(func(v map[string]any) { slices.Reverse(v["errors"].([]any)) })
			}
		}},
		{name: "the last task first", breaks: []string{"x-task-ids-order"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-----" {
				c.edit(func(v map[string]any) { slices.Reverse(v["task_ids"].([]any)) })
			}
		}},
		{name: "no JSON Schema", breaks: []string{"x-schema-entry"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(t.Workflow) && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { delete(objects(v["fields"])[0], "json_schema") })
			}
		}},
		{name: "the first of two keys", breaks: []string{"x-two-keys"}, ask: func(c *call) {
			if c.key() != "" {
				c.r.Header.Del("X-API-Key")
			}
		}},
		{name: "a text is unpacked", breaks: []string{"x-not-a-zip"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && strings.Contains(string(c.body), `"failed"`) {
				c.edit(func(v map[string]any) { v["status"] = "completed" })
			}
		}},
	}
}

const idempotent = "Idempotency-Key"

func idempotencyMutations(Target) []mutation {
	once := func(c *call) string { return c.r.Header.Get(idempotent) }
	return []mutation{
		{name: "replays in other words", breaks: []string{"x-idempotency-replay"}, answer: func(c *call) {
			if c.creates() && c.header.Get("Idempotent-Replayed") != "" {
				c.body = append([]byte(" "), c.body...)
			}
		}},
		{name: "replays without a mark", breaks: []string{"x-idempotency-marked"}, answer: func(c *call) { c.header.Del("Idempotent-Replayed") }},
		{name: "another body is a conflict", breaks: []string{"x-idempotency-other-body"}, answer: func(c *call) {
			if c.creates() && once(c) != "" && c.status == http.StatusUnprocessableEntity {
				c.refuse(http.StatusConflict, "api_error")
			}
		}},
		{name: "quotes make another key", breaks: []string{"x-idempotency-quoted"}, ask: func(c *call) {
			if strings.HasPrefix(once(c), `"`) {
				c.r.Header.Set(idempotent, "other-"+strings.Trim(once(c), `"`))
			}
		}},
		{name: "keys of any length", breaks: []string{"x-idempotency-bad"}, ask: func(c *call) {
			if len(once(c)) > 255 {
				c.r.Header.Del(idempotent)
			}
		}},
		{name: "a race makes two tasks", breaks: []string{"x-idempotency-race"}, ask: func() func(*call) {
			uses := counter()
			return func(c *call) {
				if c.creates() && once(c) != "" && uses(once(c), 1) > 2 {
					c.r.Header.Del(idempotent)
				}
			}
		}()},
		{name: "two inits under a key", breaks: []string{"x-idempotency-init"}, ask: func(c *call) {
			if c.inits() {
				c.r.Header.Del(idempotent)
			}
		}},
		{name: "two confirms under a key", breaks: []string{"x-idempotency-confirm"}, ask: func(c *call) {
			if strings.HasSuffix(c.path, "/confirm") {
				c.r.Header.Del(idempotent)
			}
		}},
	}
}

func headerMutations(t Target) []mutation {
	asked := func(c *call) string { return c.r.Header.Get("X-Request-Id") }
	return []mutation{
		{name: "tasks without a tag", breaks: []string{"x-etag-task"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") {
				c.header.Del("ETag")
			}
		}},
		{name: "lists are always new", breaks: []string{"x-etag-list"}, ask: func(c *call) {
			if c.lists() {
				c.r.Header.Del("If-None-Match")
			}
		}},
		{name: "strong tags", breaks: []string{"x-etag-upload"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.header.Get("ETag") != "" {
				c.header.Set("ETag", strings.TrimPrefix(c.header.Get("ETag"), "W/"))
			}
		}},
		{name: "lists are never new", breaks: []string{"x-etag-changes"}, answer: func(c *call) {
			if c.lists() && c.r.Header.Get("If-None-Match") != "" {
				c.status, c.body = http.StatusNotModified, nil
			}
		}},
		{name: "ids of its own", breaks: []string{"x-request-id-echoed"}, answer: func(c *call) {
			if strings.HasPrefix(asked(c), "conformance-") {
				c.header.Set("X-Request-Id", "mine")
			}
		}},
		{name: "ids of any form", breaks: []string{"x-request-id-harmless"}, answer: func(c *call) {
			if strings.Contains(asked(c), "script") {
				c.header.Set("X-Request-Id", asked(c))
			}
		}},
		{name: "no policy", breaks: []string{"x-rate-limit-headers"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(t.Workflow) {
				c.header.Del("RateLimit-Policy")
			}
		}},
		{name: "health without an id", breaks: []string{"x-request-id"}, answer: func(c *call) {
			if c.path == "/health" {
				c.header.Del("X-Request-Id")
			}
		}},
		{name: "schemas may be kept", breaks: []string{"x-no-store"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") {
				c.header.Del("Cache-Control")
			}
		}},
	}
}
