package worker

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/taskloom/taskloom/internal/giveway"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	// peopleWait is how long people may wait for what follows from what they did
	// before claims give way: the objective for 95 of 100 submissions (docs/load.md).
	peopleWait = 500 * time.Millisecond
	// startsWait is the same for starts, and less. They take whatever the machine has
	// left until steps are that late, and claims, drafts and polls get slow sooner
	// than steps: with 250 ms those stood at their bounds (docs/load.md).
	startsWait = 150 * time.Millisecond
	// startsLeast a second are made however long people wait: new tasks must begin,
	// too, and a Temporal that is far away takes longer than startsWait by itself.
	// Each takes some 20 ms of two processors, so it is few. Who claims a task whose
	// start stands in line starts it.
	startsLeast = 2
	// startsFirst a second are made when a worker begins, of which two cores can make
	// many more: the pace must not fill the machine to learn that people are there.
	startsFirst = 20
	// claimsLeast a second are told however long people wait, a few more than 500
	// people make in their busiest hour, and claimsMost when nobody waits: as many
	// as they make when a shift begins.
	claimsLeast, claimsMost = 10, 50
	// startsStep and startsRise are by how much their pace grows, each half second:
	// slowly while people work, for what is one too many makes them wait, and from a
	// dozen a second on by a fiftieth, to 200 in a minute and a half when they rest.
	startsStep, startsRise = 0.25, 0.02
	// startsFall is to which part of itself their pace falls. It falls where they have
	// taken all that the machine had left. From half of that on they would take it
	// all most of the time, and every collection of garbage would make people wait.
	startsFall = 1. / 8
	// claimsRise is by which part of itself their pace grows. What is left of an
	// outage, when all that was handed in has been told, are the claims of those who
	// work now, mostly of tasks whose runs are there. Where they are starts, people
	// wait longer, and the pace halves.
	claimsRise = 0.25
)

// calm decides how many deliveries a second are made of what nobody waits for:
// the starts of new tasks, which cost Temporal, Postgres and the worker as much as
// three or four steps of tasks that people work on, and claims, each of which may
// be a start, too. All of them stand in the same lines as what somebody waits for.
// It is used by one lane; wait may be called from everywhere.
type calm struct {
	pace  *giveway.Pace
	limit *rate.Limiter
	busy  bool // the last batch had rows in it
}

// calmOf are the urgencies that give way.
func calmOf(r Rates) map[store.Urgency]*calm {
	return map[store.Urgency]*calm{
		store.UrgencyClaimed: newCalm(giveway.New(claimsLeast, min(claimsMost, r.Signals), peopleWait).Rising(1, claimsRise)),
		store.UrgencyCreated: newCalm(giveway.New(startsLeast, r.Starts, startsWait).
			Falling(startsFall).Rising(startsStep, startsRise).From(startsFirst)),
	}
}

func newCalm(pace *giveway.Pace) *calm {
	return &calm{pace: pace, limit: bucket(pace.Now())}
}

// due reports whether it is time to learn how long people wait.
func (c *calm) due() bool { return c.busy && c.pace.Due() }

// learn is told how long people wait now.
func (c *calm) learn(behind time.Duration) {
	now := c.pace.Learn(behind)
	c.limit.SetLimit(rate.Limit(now))
	c.limit.SetBurst(atOnce(now))
}

// batch is how many rows to take at a time: what is taken waits for its turn
// outside the outbox, where nothing can go before it.
func (c *calm) batch() int { return max(1, int(c.pace.Now()*giveway.Every.Seconds())) }

// took is told how many rows there were.
func (c *calm) took(n int) { c.busy = n > 0 }

// wait returns when a delivery may be made.
func (c *calm) wait(ctx context.Context) error { return c.limit.Wait(ctx) }
