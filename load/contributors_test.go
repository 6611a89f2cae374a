package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
		why       string
		first     func()
		of, still int64
	}{
		{"nothing to compare with", func() {}, 0, 0},
		{"the same", func() {}, 1, 1},
		{"others did something", func() { body = "2" }, 2, 1},
		{"they did something", func() { p.acts()(); body = "3" }, 2, 1},
		{"they did something that changed nothing", func() { p.acts()() }, 2, 1},
		{"the same after that", func() {}, 3, 2},
	} {
		c.first()
		r.pollCounts(t.Context(), time.Now())
		require.Equal(t, [2]int64{c.of, c.still}, [2]int64{r.facts.polls, r.facts.unchanged}, c.why)
	}
}
