package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// spare are the checks that exhaust the spare key.
var spare = []string{"8-bucket", "8-retry"}

// swap lets one key pass for another.
func swap(from, to string) func(*call) {
	return func(c *call) {
		if c.key() == from {
			c.r.Header.Set("Authorization", "Bearer "+to)
		}
	}
}

func authMutations(t Target) []mutation {
	// wrongKey changes the code for keys that begin so.
	wrongKey := func(beginning, code string) func(*call) {
		return func(c *call) {
			if strings.HasPrefix(c.key(), beginning) && c.status == http.StatusUnauthorized {
				c.refuse(http.StatusUnauthorized, code)
			}
		}
	}
	return []mutation{
		{name: "schemas without a key", breaks: []string{"5.1-every-endpoint"}, ask: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.key() == "" {
				c.r.Header.Set("Authorization", "Bearer "+t.Key)
			}
		}},
		{name: "no bearer", breaks: []string{"5.2-bearer"}, ask: func(c *call) { c.r.Header.Del("Authorization") }, alone: []string{"5.2"}},
		{name: "no X-API-Key", breaks: []string{"5.2-x-api-key"}, ask: func(c *call) {
			if c.key() == "" && c.r.Header.Get("X-API-Key") == t.Key {
				c.r.Header.Del("X-API-Key")
			}
		}},
		{name: "a missing key is invalid", breaks: []string{"5.3-missing"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.key() == "" && c.r.Header.Get("X-API-Key") == "" {
				c.refuse(http.StatusUnauthorized, "invalid_api_key")
			}
		}},
		{name: "a wrong prefix is missing", breaks: []string{"5.3-wrong-prefix"}, answer: wrongKey("sk_live_", "missing_api_key")},
		{name: "an unknown key is missing", breaks: []string{"5.3-unknown"}, answer: wrongKey("pk_live_0f0f", "missing_api_key")},
		{name: "expired keys work", breaks: []string{"5.3-expired"}, ask: swap(t.ExpiredKey, t.Key)},
		{name: "revoked keys work", breaks: []string{"5.3-revoked"}, ask: swap(t.RevokedKey, t.Key)},
		{name: "foreign workflows are shown", breaks: []string{"4-foreign", "5.4-own-organization"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(t.ForeignWorkflow) {
				c.say(http.StatusOK, map[string]any{})
			}
		}, alone: []string{"4", "5.4"}},
		{name: "orphaned keys poll", breaks: []string{"5.6-zip"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/upload/*") && c.key() == t.RemovedCreatorKey {
				c.say(http.StatusOK, map[string]any{})
			}
		}},
		{name: "orphaned keys list nothing", breaks: []string{"5.6-json"}, answer: func(c *call) {
			if c.lists() && c.key() == t.RemovedCreatorKey {
				c.refuse(http.StatusNotFound, "not_found")
			}
		}},
		{name: "guessing is free", breaks: []string{"5.7-failed-auth", "7-429"}, answer: func(c *call) {
			if c.status == http.StatusTooManyRequests {
				c.refuse(http.StatusUnauthorized, "invalid_api_key")
			}
		}, alone: []string{"5.7", "7-429"}},
		{name: "the wait in the header only", breaks: []string{"7-429"}, answer: func(c *call) {
			if c.status == http.StatusTooManyRequests {
				c.edit(func(v map[string]any) { delete(v, "retry_after") })
			}
		}, alone: []string{"5.7", "7-429"}},
		{name: "one bucket for all keys", breaks: []string{"8-bucket-per-key"}, answer: func() func(*call) {
			var full atomic.Bool
			return func(c *call) {
				switch {
				case c.key() == t.SpareKey && c.status == http.StatusTooManyRequests:
					full.Store(true)
				case c.key() == t.Key && full.Load():
					c.refuse(http.StatusTooManyRequests, "rate_limit_exceeded")
					c.header.Set("Retry-After", "1")
				}
			}
		}(), alone: spare},
		{name: "a wait that is too short", breaks: []string{"8-retry-after"}, answer: func() func(*call) {
			var full atomic.Bool
			return func(c *call) {
				if c.key() == t.SpareKey && c.path != "/health" && (full.Load() || c.status == http.StatusTooManyRequests) {
					full.Store(true)
					c.refuse(http.StatusTooManyRequests, "rate_limit_exceeded")
					c.header.Set("Retry-After", "1")
				}
			}
		}(), alone: spare},
		{name: "health by address only", breaks: []string{"8-bucket-health"}, ask: func(c *call) {
			if c.is(http.MethodGet, "/health") {
				c.r.Header.Del("Authorization")
			}
		}, alone: spare},
	}
}
