package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// difference says where an answer is not what a page shows. In what is shown,
// … stands for anything, an id for any id and a time for any time; lines of
// text and of headers must be among those printed.
func difference(shown block, got string) string {
	if shown.lang == "json" {
		var want, have any
		if err := json.Unmarshal([]byte(shown.text), &want); err != nil {
			return "the page shows no JSON: " + err.Error()
		}
		if err := json.Unmarshal([]byte(got), &have); err != nil {
			return "no JSON was printed: " + err.Error()
		}
		return unlike("", want, have)
	}
	for line := range strings.Lines(shown.text) {
		pattern := regexp.QuoteMeta(strings.Join(strings.Fields(line), " "))
		re := regexp.MustCompile(`(?m)^` + strings.ReplaceAll(pattern, "…", ".*") + ` *$`)
		if !re.MatchString(regexp.MustCompile(` +`).ReplaceAllString(got, " ")) {
			return "missing: " + line
		}
	}
	return ""
}

// unlike compares JSON values at a path.
func unlike(path string, want, have any) string {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if a, b := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(have)); !ok || !slices.Equal(a, b) {
			return fmt.Sprintf("%s: has %v, not %v", path, b, a)
		}
		for name := range want {
			if d := unlike(path+"/"+name, want[name], have[name]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		have, ok := have.([]any)
		if !ok || len(have) != len(want) {
			return fmt.Sprintf("%s: is %v, not %v", path, have, want)
		}
		for i := range want {
			if d := unlike(path, want[i], have[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		if have, ok := have.(string); ok && (matches(want, have) || isTime(want) && isTime(have)) {
			return ""
		}
	case float64:
		if _, ok := have.(float64); ok && (have == want || regexp.MustCompile(`(/|_)ids?$`).MatchString(path)) {
			return ""
		}
	default:
		if have == want {
			return ""
		}
	}
	return fmt.Sprintf("%s: is %v, not %v", path, have, want)
}

func matches(pattern, s string) bool {
	re := strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*")
	return regexp.MustCompile(`^` + re + `$`).MatchString(s)
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil && strings.HasSuffix(s, "Z")
}

func TestDifferenceSeesWhatIsShownWrongly(t *testing.T) {
	t.Parallel()
	shown := block{lang: "json", text: `{"id": 1, "at": "2026-11-20T10:00:00Z", "total": 2, "why": "no …", "next": null, "task_ids": [1, 2]}`}
	for _, same := range []string{
		`{"id":7,"at":"2027-01-01T00:00:00.5Z","total":2,"why":"no idea","next":null,"task_ids":[8,9]}`,
	} {
		require.Empty(t, difference(shown, same))
	}
	for _, other := range []string{
		`{"id":7,"at":"2027-01-01T00:00:00Z","total":3,"why":"no idea","next":null,"task_ids":[8,9]}`,
		`{"id":7,"at":"yesterday","total":2,"why":"no idea","next":null,"task_ids":[8,9]}`,
		`{"id":7,"at":"2027-01-01T00:00:00Z","total":2,"why":"an idea","next":null,"task_ids":[8,9]}`,
		`{"id":7,"at":"2027-01-01T00:00:00Z","total":2,"why":"no idea","next":"c","task_ids":[8,9]}`,
		`{"id":7,"at":"2027-01-01T00:00:00Z","total":2,"why":"no idea","next":null,"task_ids":[8]}`,
		`{"id":7,"at":"2027-01-01T00:00:00Z","total":2,"why":"no idea","next":null,"task_ids":[8,9],"more":1}`,
		`nothing`,
	} {
		require.NotEmpty(t, difference(shown, other), other)
	}
	headers := block{lang: "http", text: "HTTP/1.1 200 OK\nETag: W/\"…\"\n"}
	require.Empty(t, difference(headers, "HTTP/1.1 200 OK\nDate: x\nETag: W/\"1\"\n\n{}"))
	require.NotEmpty(t, difference(headers, "HTTP/1.1 304 Not Modified\nETag: W/\"1\"\n"))
}
