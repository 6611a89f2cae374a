package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// route is one path of the served description.
type route struct {
	path       string
	form       *regexp.Regexp
	operations map[string]any
}

var placeholder = regexp.MustCompile(`\{[^/]+\}`)

// routes are the described paths, the more literal ones first: …/tasks/upload
// is no task.
func routes(paths map[string]any) []route {
	var out []route
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		literal := placeholder.Split(path, -1)
		for i := range literal {
			literal[i] = regexp.QuoteMeta(literal[i])
		}
		out = append(out, route{path, regexp.MustCompile("^" + strings.Join(literal, "[^/]+") + "$"), operations})
	}
	slices.SortFunc(out, func(a, b route) int { return strings.Count(a.path, "{") - strings.Count(b.path, "{") })
	return out
}

// checkStatuses compares the answers of the run with the served description.
// What is asked at a path or with a method that is not described is left out.
func checkStatuses(c *C) {
	c.provoke()
	described := routes(c.paths(c.get("/openapi.json")))
	c.each(func(f fact) string {
		path, _, _ := strings.Cut(f.path, "?")
		for _, r := range described {
			op, _ := r.operations[strings.ToLower(f.method)].(map[string]any)
			if op == nil || !r.form.MatchString(path) {
				continue
			}
			if responses, _ := op["responses"].(map[string]any); !lists(responses, f.Status) {
				return fmt.Sprintf("status %d, which openapi.json does not list for %s %s", f.Status, f.method, r.path)
			}
			return ""
		}
		return ""
	})
}

// lists reports whether a status is among the described answers.
func lists(responses map[string]any, status int) bool {
	for _, name := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX", "default"} {
		if _, there := responses[name]; there {
			return true
		}
	}
	return false
}
