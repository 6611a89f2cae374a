package main

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// TestWalk has each page take 10 ms, and some of them not come.
func TestWalk(t *testing.T) {
	t.Parallel()
	const page = 10 * time.Millisecond
	for name, c := range map[string]struct {
		pages, refused, broken int // there are; the page that is refused once, and that fails
		seen                   float64
		rate                   float64 // 0: none
	}{
		"it stops at what an export has": {pages: 2000, seen: walkMost, rate: 20_000},
		"there are fewer":                {pages: 7, seen: 1400, rate: 20_000},
		"being refused takes time":       {pages: 100, refused: 50, seen: 20_000, rate: 20_000 / 2.01},
		"it breaks off":                  {pages: 100, broken: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				refused := false
				r := standing(t, func(q *http.Request) (int, string, string) {
					<-time.After(page)
					require.Equal(t, "Bearer walker", q.Header.Get("Authorization"))
					query, err := url.ParseQuery(q.URL.RawQuery)
					require.NoError(t, err)
					at := 1
					if from := query.Get("cursor"); from != "" {
						at, err = strconv.Atoi(from)
						require.NoError(t, err)
					}
					switch {
					case at == c.refused && !refused:
						refused = true
						return http.StatusServiceUnavailable, "", "1"
					case at == c.broken:
						return http.StatusInternalServerError, "broken", ""
					}
					return http.StatusOK, string(encode(map[string]any{
						"tasks": make([]struct{}, pageSize), "has_more": at < c.pages, "next_cursor": strconv.Itoa(at + 1),
					})), ""
				})
				r.world.keys[keyCount-1] = "walker"
				r.late = r.rec
				r.walk(t.Context())
				r.sum()
				if c.rate == 0 {
					require.NotContains(t, r.numbers.get(), slo.WalkRate)
					require.Contains(t, r.notes.get()[0], "the walk ended after 9800 tasks: 500 broken")
					return
				}
				require.InEpsilon(t, c.seen, r.numbers.get()["tasks walked over"], 1e-9)
				require.InEpsilon(t, c.rate, r.numbers.get()[slo.WalkRate], 1e-9)
			})
		})
	}
}

// TestTheSlowestWalkCounts has two of them in one run.
func TestTheSlowestWalkCounts(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	r.late = r.rec
	r.facts.walked(20_000)
	r.facts.walked(9000)
	r.facts.walked(12_000)
	r.sum()
	require.InDelta(t, 9000, r.numbers.get()[slo.WalkRate], 1e-9)
}
