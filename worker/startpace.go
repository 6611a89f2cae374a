package worker

import (
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/taskloom/taskloom/internal/store"
)

const (
	// startsLearn is how often the pace looks whether people wait, while there are
	// bulk starts to make.
	startsLearn = 500 * time.Millisecond
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
// waits for it, as somebody does for those. So the pace halves while people wait
// for too long, and grows by one while they do not, as senders do in a network
// (RFC 5681). It is used by one lane; wait may be called from everywhere.
type startPace struct {
	limit   *rate.Limiter
	most    float64
	learned time.Time
	busy    bool // the last batch had starts in it
}

func newStartPace(most float64) *startPace { return &startPace{limit: bucket(most), most: most} }

// due reports whether it is time to learn how long people wait.
func (p *startPace) due() bool { return p.busy && time.Since(p.learned) >= startsLearn }

// learn is told how long people wait now.
func (p *startPace) learn(behind time.Duration) {
	p.learned = time.Now()
	now := float64(p.limit.Limit())
	if behind > peopleWait {
		now = max(min(startsLeast, p.most), now/2)
	} else {
		now = min(p.most, now+1)
	}
	p.limit.SetLimit(rate.Limit(now))
}

// batch is how many rows to take at a time: what is taken waits for its turn
// outside the outbox, where nothing can go before it.
func (p *startPace) batch() int {
	return max(1, int(float64(p.limit.Limit())*startsLearn.Seconds()))
}

func (p *startPace) took(batch []store.Delivery) {
	p.busy = slices.ContainsFunc(batch, func(d store.Delivery) bool { return d.Bulk })
}

// wait returns when a start may be made.
func (p *startPace) wait(ctx context.Context) error { return p.limit.Wait(ctx) }
