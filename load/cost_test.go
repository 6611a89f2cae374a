package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatFailsCostsNothing has one call fail at a time.
func TestWhatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ role, bad string }{
		"/draft":  {"contributor", "save a draft of task 7: 500 broken"},
		"/submit": {"contributor", "hand in task 7: 500 broken"},
		"/review": {"reviewer", "give a verdict on task 7: 500 broken"},
	} {
		for _, fails := range []bool{true, false} {
			r := standing(t, func(q *http.Request) (int, string, string) {
				if fails && strings.HasSuffix(q.URL.Path, path) {
					return http.StatusInternalServerError, "broken", ""
				}
				return http.StatusOK, `{"revision":1}`, ""
			})
			err := r.decide(t.Context(), &hold{person: &person{}, task: 7, claim: "one"}, c.role)
			if fails {
				require.EqualError(t, err, c.bad)
				require.Empty(t, r.facts.handedIn)
				continue
			}
			require.NoError(t, err, path)
			require.Equal(t, []string{"one"}, r.facts.handedIn)
			require.Len(t, r.facts.said, 1)
		}
	}
}

func TestWholeRuns(t *testing.T) {
	t.Parallel()
	require.NoError(t, temporalCost{Runs: 1 - 1e-12, Completed: 1 - 1e-12}.whole())
	require.ErrorContains(t, temporalCost{Runs: 1, Completed: 0.995}.whole(), "0.995 that completed")
	require.ErrorContains(t, temporalCost{Runs: 0.5, Completed: 0.5}.whole(), "0.5 runs")
}

// TestAwaitQuiet has the clock of a bubble.
func TestAwaitQuiet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration // when nothing is under way any more
		took  time.Duration
		bad   string
	}{
		"at once":    {},
		"in time":    {after: 59 * time.Second, took: 59 * time.Second},
		"not at all": {after: time.Hour, took: 60050 * time.Millisecond, bad: "after 1m0s there are 2 outbox rows, and 1 tasks lag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := awaitQuiet(t.Context(), time.Minute, func(context.Context) (backlog, error) {
					if time.Since(began) >= c.after {
						return backlog{}, nil
					}
					return backlog{rows: 2, lagging: 1}, nil
				})
				if c.bad == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.bad)
				}
				require.Equal(t, c.took, time.Since(began))
			})
		})
	}
}
