package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// fact is what is kept of an answer of the API, for checks about all of them.
type fact struct {
	*Exchange
	method, path string
	header       http.Header
	keyed, json  bool
	// Of an error body: its keys and values; members is nil when it is no object.
	members map[string]json.RawMessage
	code    string
	message string
}

func (r *runner) remember(a *answer) {
	f := fact{Exchange: a.exchange(), method: a.Method, path: a.Path, header: a.Header, keyed: a.keyed, json: a.json()}
	if a.Status >= http.StatusBadRequest {
		_ = json.Unmarshal(a.Raw, &f.members) // what is none shows
		_ = json.Unmarshal(f.members["error"], &f.code)
		_ = json.Unmarshal(f.members["message"], &f.message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, f)
}

// errorCodes are the stable values of error (spec 7).
var errorCodes = []string{
	"missing_api_key", "invalid_api_key", "invalid_request", "unauthorized", "forbidden", "not_found",
	"payload_too_large", "validation_error", "rate_limit_exceeded", "internal_server_error", "service_unavailable", "api_error",
}

// codesOf is the table of spec 7: which codes go with a status.
var codesOf = map[int][]string{
	http.StatusBadRequest:            {"invalid_request"},
	http.StatusUnauthorized:          {"missing_api_key", "invalid_api_key"},
	http.StatusNotFound:              {"not_found"},
	http.StatusConflict:              {"api_error"},
	http.StatusRequestEntityTooLarge: {"payload_too_large"},
	http.StatusUnprocessableEntity:   {"validation_error"},
	http.StatusTooManyRequests:       {"rate_limit_exceeded"},
	http.StatusInternalServerError:   {"internal_server_error"},
	http.StatusServiceUnavailable:    {"service_unavailable"},
}

// resultFields are what the answer carries besides when all items failed.
var resultFields = []string{"success_count", "error_count", "errors", "task_ids"}

func hindsightChecks() []Check {
	const does = "provoke 400, 401, 404 and 422, and look at every error of this run"
	return []Check{
		{
			ID: "7-error-shape", Section: "7", Sentence: "Every error body is JSON with these fields: error string, message string, retry_after …",
			Does: does,
			run:  func(c *C) { c.eachError(errorShape) },
		}, {
			ID: "7-error-json", Section: "7", Sentence: "Every error body is JSON",
			Does: does,
			run: func(c *C) {
				c.eachError(func(f fact) string {
					if !f.json {
						return "Content-Type " + f.header.Get("Content-Type")
					}
					return ""
				})
			},
		}, {
			ID: "7-retry-after-only", Section: "7", Sentence: "retry_after | integer | present only on 429",
			Does: does,
			run: func(c *C) {
				c.eachError(func(f fact) string {
					if _, there := f.members["retry_after"]; there && f.Status != http.StatusTooManyRequests {
						return fmt.Sprintf("retry_after in an answer %d", f.Status)
					}
					return ""
				})
			},
		}, {
			ID: "7-codes", Section: "7", Sentence: "Stable error values: missing_api_key, invalid_api_key, invalid_request, …",
			Does: does,
			run: func(c *C) {
				c.eachError(func(f fact) string {
					if !slices.Contains(errorCodes, f.code) {
						return fmt.Sprintf("error %q", f.code)
					}
					return ""
				})
			},
		}, {
			ID: "7-table", Section: "7", Sentence: "400 invalid_request; 401 missing_api_key / invalid_api_key; 404 not_found; 409 api_error; 413 …; 422 …",
			Does: does,
			run: func(c *C) {
				c.eachError(func(f fact) string {
					if want, known := codesOf[f.Status]; known && slices.Contains(errorCodes, f.code) && !slices.Contains(want, f.code) {
						return fmt.Sprintf("error %s with status %d", f.code, f.Status)
					}
					return ""
				})
			},
		}, {
			ID: "9-statuses", Section: "9", Sentence: "The served OpenAPI description … is the source of truth",
			Does: "look at every answer of this run: its status is described for its operation",
			run:  checkStatuses,
		}, {
			ID: "x-request-id", Section: additions, Sentence: "Every answer carries X-Request-Id.",
			Does: "look at every answer of this run",
			run: func(c *C) {
				c.provoke()
				c.each(func(f fact) string {
					if f.RequestID == "" {
						return "no X-Request-Id"
					}
					return ""
				})
			},
		}, {
			ID: "x-no-store", Section: additions, Sentence: "Cache-Control: no-store on authenticated answers",
			Does: "look at every answer of this run to a request with a key",
			run: func(c *C) {
				c.provoke()
				c.each(func(f fact) string {
					if value := f.header.Get("Cache-Control"); f.keyed && strings.HasPrefix(f.path, "/workflows/") && !strings.Contains(value, "no-store") {
						return fmt.Sprintf("Cache-Control %q", value)
					}
					return ""
				})
			},
		},
	}
}

// provoke makes sure that there is something to look at.
func (c *C) provoke() {
	c.get("/health", anonymous())
	c.get(in(c.Workflow, ""))
	c.get(c.tasks("?limit=1"))
	c.get(c.tasks("?cursor=garbage"))
	c.get(in(c.Workflow, ""), anonymous())
	c.get(c.taskPath(nobody))
	c.create(bad())
	c.post(c.tasks(""), []byte(`{"tasks":[]}`))
}

// each ends the check at the first answer of which what says something.
func (c *C) each(what func(fact) string) {
	c.runner.mu.Lock()
	seen := c.runner.seen
	c.runner.mu.Unlock()
	for _, f := range seen {
		if wrong := what(f); wrong != "" {
			c.failAt(f.Exchange, c.result.Sentence, "%s", wrong)
		}
	}
}

func (c *C) eachError(what func(fact) string) {
	c.provoke()
	c.each(func(f fact) string {
		if f.Status < http.StatusBadRequest || f.method == http.MethodHead {
			return ""
		}
		return what(f)
	})
}

func errorShape(f fact) string {
	if f.code == "" || f.message == "" {
		return "no error and message, both texts that are not empty"
	}
	all := slices.Sorted(maps.Keys(f.members))
	allFailed := f.Status == http.StatusUnprocessableEntity && f.method == http.MethodPost && creates(f.path) &&
		slices.Contains(all, "success_count")
	for _, name := range all {
		switch {
		case name == "error", name == "message", name == "retry_after":
		case allFailed && slices.Contains(resultFields, name):
		default:
			return "the key " + name
		}
	}
	return ""
}

// creates reports whether a path takes items, which may all be wrong.
func creates(path string) bool {
	return strings.HasSuffix(path, "/tasks") || strings.HasSuffix(path, "/tasks/upload")
}
