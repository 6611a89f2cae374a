package main

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

// TestWhoGoesHomeLetsGo has somebody go home with a task, which somebody else is
// given when the lease has ended.
func TestWhoGoesHomeLetsGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(r *run)
		open int // drafts are looked for in these
	}{
		"a contributor": {func(r *run) { r.contribute(t.Context(), time.Now(), time.Hour, 1) }, 1},
		"a reviewer":    {func(r *run) { r.review(t.Context(), time.Now(), time.Hour) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := standing(t, func(*http.Request) (int, string, string) {
				return http.StatusOK, `{"claim_id":"one","task_id":7,"node":"solve","draft":{"revision":3}}`, ""
			})
			r.facts.contributors.free, r.facts.reviewers.free = []*person{{}}, []*person{{}}
			close(r.home.get())
			c.work(r)
			require.Len(t, r.facts.contributors.open(), c.open)
			require.Empty(t, r.facts.held)
			again := work{ClaimID: "two", TaskID: 7, Node: "solve"}
			r.facts.claimed(again)
			require.Zero(t, r.facts.double)
			r.facts.claimed(again)
			require.EqualValues(t, 1, r.facts.double, "that is one while it is held")
		})
	}
}

// TestPollsOfWhoDidNothing has somebody poll: for the first time, with nothing new,
// after they claimed something, and with something new that others did.
func TestPollsOfWhoDidNothing(t *testing.T) {
	t.Parallel()
	body := "1"
	r := standing(t, func(q *http.Request) (int, string, string) {
		if q.Header.Get("If-None-Match") == body {
			return http.StatusNotModified, "", ""
		}
		return http.StatusOK, body, ""
	})
	p := &person{}
	r.world.contributors = []*person{p}
	r.enter("peak", 0)
	for _, c := range []struct {
		why         string
		first       func()
		polls, idle polled
	}{
		{"nothing to compare with", func() {}, polled{}, polled{}},
		{"the same", func() {}, polled{1, 1}, polled{1, 1}},
		{"others did something", func() { body = "2" }, polled{2, 1}, polled{2, 1}},
		{"they did something", func() { p.acts()(); body = "3" }, polled{3, 1}, polled{2, 1}},
		{"they did something that changed nothing", func() { p.acts()() }, polled{4, 2}, polled{2, 1}},
		{"the same after that", func() {}, polled{5, 3}, polled{3, 2}},
	} {
		c.first()
		r.pollCounts(t.Context(), time.Now())
		require.Equal(t, [2]polled{c.polls, c.idle}, [2]polled{r.facts.polls, r.facts.idle}, c.why)
	}
	r.sumPolls()
	require.InDelta(t, 60, r.numbers.get()[slo.NotModified], 1e-9)
	require.InDelta(t, 200./3, r.numbers.get()[slo.Unchanged], 1e-9)
	require.InDelta(t, 50, r.numbers.get()["looks at the queues that were 304, %"], 1e-9, "of six")
}

// TestATabLooksAtOnce has somebody claim a task and hand it in, who has a tab open:
// what that changed of their own numbers is news to no poll.
func TestATabLooksAtOnce(t *testing.T) {
	t.Parallel()
	for script, looks := range map[string]int64{"peak": 2, "growth": 0} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var held atomic.Int64
				r := standing(t, func(q *http.Request) (int, string, string) {
					switch {
					case strings.HasSuffix(q.URL.Path, "/claim"):
						held.Add(1)
						return http.StatusOK, `{"claim_id":"one","task_id":7,"node":"solve"}`, ""
					case strings.HasSuffix(q.URL.Path, "/submit"):
						held.Add(-1)
						return http.StatusOK, "{}", ""
					}
					mine := strconv.FormatInt(held.Load(), 10)
					if q.Header.Get("If-None-Match") == mine {
						return http.StatusNotModified, "", ""
					}
					return http.StatusOK, mine, ""
				})
				r.script = script
				p := &person{}
				r.world.contributors, r.facts.contributors.free = []*person{p}, []*person{p}
				r.enter("peak", 0)
				r.pollCounts(t.Context(), time.Now())
				r.loop.Start(time.Now(), func() { r.contribute(t.Context(), time.Now(), time.Minute, 1) })
				synctest.Wait() // they have it, and work on it
				r.pollCounts(t.Context(), time.Now())
				r.loop.Wait()
				r.pollCounts(t.Context(), time.Now())
				require.Equal(t, polled{2, looks}, r.facts.polls)
				after := r.rec.Select(func(k record.Key) bool { return k.Op == "counts-after" && k.Class == record.OK })
				require.Equal(t, looks, after.N())
			})
		})
	}
}
