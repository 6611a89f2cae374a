package main

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPhasesShareTheItems(t *testing.T) {
	t.Parallel()
	o := options{items: 100_000, claimRate: 50, window: 20 * time.Second, heldFor: 10 * time.Minute}
	require.Equal(t, claimPlan{warm: 5000, share: 40_000, paced: 20 * time.Second}, o.longPlan(64))
	held := o.heldPlan(64)
	require.Equal(t, 10*time.Minute, held.held)
	require.LessOrEqual(t, held.warm+2*held.share+50*600+64, o.items)

	o.items = 2000
	require.Equal(t, claimPlan{warm: 100, share: 1836}, o.shortPlan(64))
	require.Equal(t, claimPlan{warm: 500, share: 1000}, o.shortPlan(500))
	require.Equal(t, 12*time.Second, o.heldPlan(64).held, "few items do not last for ten minutes")
	require.Equal(t, 4*time.Second, o.longPlan(64).paced)
}

// slowQueue is a queue with items that take their time, or that pushes them.
type slowQueue struct {
	pulled

	takes  time.Duration
	pushes bool
	mu     sync.Mutex
	limits []int
	next   int
}

func (q *slowQueue) claim(context.Context, int) (string, string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	return strconv.Itoa(q.next), "", nil
}

func (q *slowQueue) finish(ctx context.Context, _ int, _, _ string) error { return wait(ctx, q.takes) }

func (q *slowQueue) pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error) {
	if q.pushes {
		return claimRun{}, errPushed
	}
	return q.pulled.pace(ctx, perSecond, during)
}

func (q *slowQueue) work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error) {
	q.limits = append(q.limits, limit)
	return q.pulled.work(ctx, clients, limit, most)
}

func (q *slowQueue) finished(context.Context) (int64, error) { return int64(q.next), nil }

func (q *slowQueue) children() []*child { return nil }

func (q *slowQueue) end(*room) {}

func newSlowQueue(takes time.Duration, pushes bool) *slowQueue {
	q := &slowQueue{takes: takes, pushes: pushes}
	q.claimer = q
	return q
}

func TestAPaceThatIsTooFastIsGivenUp(t *testing.T) {
	t.Parallel()
	began := time.Now()
	run, err := newSlowQueue(250*time.Millisecond, false).pace(t.Context(), 5000, 200*time.Millisecond)
	require.NoError(t, err)
	require.Less(t, time.Since(began), 5*time.Second)
	require.EqualValues(t, 1000, run.claim.quantiles().N, "what was given up counts")
	require.Less(t, run.done, 1000)
	require.Positive(t, run.done)
	require.Zero(t, run.doubles)
}

func TestSystemsThatPushWorkInSlices(t *testing.T) {
	t.Parallel()
	q := newSlowQueue(0, true)
	x := &claimSample{
		claimContender: &claimContender{clients: 2}, queue: q, s: newSample(),
		room: &room{options: options{claimRate: 50}},
	}
	require.NoError(t, x.slices(t.Context(), time.Second))
	require.Equal(t, []int{50}, q.limits)
	require.Equal(t, 50, x.done)
	require.NoError(t, x.atRate(t.Context()), "no phase without a time")
	x.plan.paced = time.Second
	require.NoError(t, x.atRate(t.Context()))
	require.NotContains(t, x.s.Values, "paced_claim_p99_ms")
	require.NoError(t, x.count(t.Context()))
	require.Zero(t, x.s.Values["lost"])
}

// trailed is a queue with somebody behind its answers.
type trailed struct {
	*slowQueue

	takes time.Duration
}

func (q trailed) caughtUp(ctx context.Context) error { return wait(ctx, q.takes) }

func TestWhatFollowsIsPaidForAndNoPartOfTheRate(t *testing.T) {
	t.Parallel()
	const behind = 300 * time.Millisecond
	q := trailed{newSlowQueue(time.Millisecond, false), behind}
	x := &claimSample{
		claimContender: &claimContender{clients: 2, plan: claimPlan{share: 20}}, queue: q, s: newSample(),
		room: &room{options: options{window: time.Minute}},
	}
	require.NoError(t, x.free(t.Context()))
	require.GreaterOrEqual(t, x.s.Values["free_behind_s"], behind.Seconds())
	require.GreaterOrEqual(t, x.s.Values["free_s"], behind.Seconds())
	require.Greater(t, x.s.Values["free_per_s"]*behind.Seconds(), 20.0, "the rate is that of the work")
}

// emptyQueue tells everybody that there is nothing.
type emptyQueue struct{ *slowQueue }

func (emptyQueue) claim(context.Context, int) (string, string, error) { return "", "", errEmpty }

func TestAQueueThatGivesNothingIsNoQuickOne(t *testing.T) {
	t.Parallel()
	q := emptyQueue{newSlowQueue(0, false)}
	q.claimer = q
	x := &claimSample{claimContender: &claimContender{}, queue: q, s: newSample(), room: &room{options: options{claimRate: 50}}}
	require.ErrorContains(t, x.pace(t.Context(), "paced", 200*time.Millisecond), "10 of 10 who asked")
	require.NoError(t, claimRun{done: 200, empty: 2}.served(), "somebody may be quicker")
	require.Error(t, claimRun{done: 97, empty: 3}.served())
}
