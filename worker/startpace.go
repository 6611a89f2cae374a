package worker

import (
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/taskloom/taskloom/internal/giveway"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	// peopleWait is how long people may wait for what follows from what they did:
	// the objective for 95 of 100 submissions (docs/load.md).
	peopleWait = 500 * time.Millisecond
	// startsLeast a second are made however long people wait: new tasks must begin,
	// too, and a Temporal that is far away takes longer than peopleWait by itself.
	startsLeast = 5
)

// startPace decides how many runs of new tasks are started a second. A start
// costs Temporal, Postgres and the worker as much as three or four steps of
// tasks that people work on, and all of them stand in the same lines; but nobody
// waits for it, as somebody does for those. It is used by one lane; wait may be
// called from everywhere.
type startPace struct {
	pace  *giveway.Pace
	limit *rate.Limiter
	busy  bool // the last batch had starts in it
}

func newStartPace(most float64) *startPace {
	return &startPace{pace: giveway.New(startsLeast, most, peopleWait), limit: bucket(most)}
}

// due reports whether it is time to learn how long people wait.
func (p *startPace) due() bool { return p.busy && p.pace.Due() }

// learn is told how long people wait now.
func (p *startPace) learn(behind time.Duration) { p.limit.SetLimit(rate.Limit(p.pace.Learn(behind))) }

// batch is how many rows to take at a time: what is taken waits for its turn
// outside the outbox, where nothing can go before it.
func (p *startPace) batch() int {
	return max(1, int(p.pace.Now()*giveway.Every.Seconds()))
}

func (p *startPace) took(batch []store.Delivery) {
	p.busy = slices.ContainsFunc(batch, func(d store.Delivery) bool { return d.Bulk })
}

// wait returns when a start may be made.
func (p *startPace) wait(ctx context.Context) error { return p.limit.Wait(ctx) }
