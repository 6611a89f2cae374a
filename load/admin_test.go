package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/load/internal/record"
)

// TestAnAdminPublishes asserts what is sent, that who is refused comes again, and that
// a run in which it does not succeed fails.
func TestAnAdminPublishes(t *testing.T) {
	t.Parallel()
	const pipeline = `{"version": 3, "revision": 7, "draft": {"name": "Math check", "nodes": []}}`
	for name, c := range map[string]struct {
		answers map[string]int // the first time, by method and last part of the path
		version int            // what the publication answers
		asked   []string
		fails   string
		no      bool // draft
	}{
		"it does": {version: 4, asked: []string{"GET 1", "PUT draft", "POST publish"}},
		"a creation was in the way": {
			answers: map[string]int{"POST publish": 503}, version: 4,
			asked: []string{"GET 1", "PUT draft", "POST publish", "POST publish"},
		},
		"nothing came of it": {version: 3, asked: []string{"GET 1", "PUT draft", "POST publish"}, fails: "its version is 3"},
		"there is no draft":  {no: true, asked: []string{"GET 1"}, fails: "without a draft"},
		"somebody else saved": {
			answers: map[string]int{"PUT draft": 409}, asked: []string{"GET 1", "PUT draft"},
			fails: "PUT /api/console/pipelines/1/draft: 409",
		},
		"the publication went wrong": {
			answers: map[string]int{"POST publish": 500}, asked: []string{"GET 1", "PUT draft", "POST publish"},
			fails: "publish: 500",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			r := standing(t, func(q *http.Request) (int, string, string) {
				what := q.Method + " " + path.Base(q.URL.Path)
				first := !slices.Contains(asked, what)
				asked = append(asked, what)
				if status := c.answers[what]; status != 0 && first {
					return status, `{}`, map[int]string{http.StatusServiceUnavailable: "1"}[status]
				}
				switch what {
				case "PUT draft":
					var body struct {
						Definition map[string]any `json:"definition"`
						Revision   int64          `json:"revision"`
					}
					raw, err := io.ReadAll(q.Body)
					if err != nil || json.Unmarshal(raw, &body) != nil || body.Revision != 7 ||
						body.Definition["name"] != "Math check" || body.Definition["description"] != "Version 4" {
						return http.StatusBadRequest, string(raw), ""
					}
					return http.StatusOK, `{"version": 3, "revision": 8}`, ""
				case "POST publish":
					return http.StatusOK, string(encode(map[string]int{"version": c.version})), ""
				default:
					if c.no {
						return http.StatusOK, `{"version": 3, "revision": 7, "draft": null}`, ""
					}
					return http.StatusOK, pipeline, ""
				}
			})
			r.world.main = 1
			r.publish(t.Context(), time.Now())
			require.Equal(t, c.asked, asked)
			all := r.failures.get()
			if c.fails == "" {
				require.Empty(t, all)
				ok := r.rec.Select(func(k record.Key) bool { return k.Op == "publish" && k.Class == record.OK })
				require.EqualValues(t, 1, ok.N())
				return
			}
			require.Len(t, all, 1)
			require.ErrorContains(t, all[0], c.fails)
		})
	}
}
