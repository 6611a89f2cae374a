package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/arrival"
)

// reviewed answers reviewers, each of them at once.
func reviewed() product {
	var claims atomic.Int64
	return func(q *http.Request) (int, string, string) {
		if strings.HasSuffix(q.URL.Path, "/claim") {
			n := strconv.FormatInt(claims.Add(1), 10)
			return http.StatusOK, `{"claim_id":"` + n + `","task_id":` + n + `,"node":"check"}`, ""
		}
		return http.StatusOK, "{}", ""
	}
}

// TestReviewsAreDone has half an hour of reviews come as in the scripts, for as many
// reviewers as there are: in the busiest stretch of a day there are more than they do
// at a time.
func TestReviewsAreDone(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) options { return options{dur: d, scale: 1} }
	day := mean
	day.Verdicts *= 3
	day = day.thinking(3)
	for name, c := range map[string]struct {
		p     profile
		shape arrival.Rate
		most  float64
	}{
		"day":  {day, arrival.Day(usual), arrival.DayMost},
		"peak": {busiest, func(time.Duration) float64 { return 1 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := standing(t, reviewed())
				r.enter("peak", 0)
				for range reviewerCount {
					r.facts.reviewers.free = append(r.facts.reviewers.free, &person{})
				}
				play, stop := context.WithCancel(t.Context())
				defer stop()
				p := c.p.scaled(at(usual))
				rate := func(since time.Duration) float64 { return p.Verdicts * c.shape(since) }
				var g sync.WaitGroup
				r.stream(play, &g, arrival.Poisson(1, rate, p.Verdicts*c.most, 0, usual), func(due time.Time) { r.review(play, due, p.Reviewing) })
				require.NoError(t, r.wind(t.Context(), stop, &g))
				r.sumLeftOut()
				require.LessOrEqual(t, r.numbers.get()[slo.LeftOut], 0.5)
				require.InEpsilon(t, p.Verdicts*usual.Seconds(), r.facts.tallies["reviews"].due, 0.05)
				require.Len(t, r.facts.reviewers.free, reviewerCount)
				require.Less(t, r.judged("claim-review").Quantile(100), time.Millisecond, "what waited for a reviewer is no matter of the product")
			})
		})
	}
}

// TestReviewsWait has a review due while the only reviewer is at work for another
// minute.
func TestReviewsWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most, home time.Duration // of the wait, and when people go home
		tally      tally
		done       int64
	}{
		"until somebody is free": {2 * time.Minute, time.Hour, tally{due: 1}, 1},
		"for too long":           {30 * time.Second, time.Hour, tally{due: 1, left: 1}, 0},
		"until people go home":   {2 * time.Minute, 10 * time.Second, tally{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := standing(t, reviewed())
				r.enter("peak", 0)
				time.AfterFunc(c.home, func() { close(r.home.get()) })
				time.AfterFunc(time.Minute, func() { r.facts.reviewers.release(&person{}) })
				r.review(t.Context(), time.Now(), c.most/reviewsWait)
				require.Equal(t, c.tally, r.facts.tallies["reviews"])
				require.Equal(t, c.done, r.judged("verdict").N())
				require.NoError(t, wait(t.Context(), time.Minute))
				synctest.Wait() // for who lets go
				require.Len(t, r.facts.reviewers.free, 1, "they are free again, for what comes next")
				require.Empty(t, r.facts.reviewers.waiting)
			})
		})
	}
}
