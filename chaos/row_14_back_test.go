package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/faketime"
	"github.com/taskloom/taskloom/workflows"
)

// TestRow14ClockStepsBack moves the database's clock ten minutes back while work
// is under way, as a failover to a server whose clock is behind does. What was
// on its way when it happened goes on within the deadline and does not wait
// until the clock is where it was; a worker that died before is missed; and
// keys and sessions end by the database's clock, whatever time it is elsewhere. It has no
// load, and so no floor of traffic: what a load's people leave behind when the clock steps
// back is theirs for ten minutes longer (docs/chaos.md), so neither it nor its histories
// would come to an end; and whether idle workers spin is seen without one.
func TestRow14ClockStepsBack(t *testing.T) {
	row := Row{Number: 14, Name: "the database's clock steps back"}
	row.skip(t)
	mustNotSkip(t)
	if missing := faketime.Missing(); missing != "" {
		t.Skip(missing)
	}
	var clock *faketime.Clock
	row.Settings = func(s *Settings) { clock = skewed(t, s, skew) }
	r := startRow(t, row)
	ctx := t.Context()
	files := r.newUploads()

	r.endsByTheDatabasesClock(ctx, clock)

	// On its way at the moment of the step: an event for Temporal, a task that
	// has no run yet, and an archive that was just confirmed.
	up, err := files.put(ctx, zipOf(t, 3, 100))
	require.NoError(t, err)
	ids, err := r.probes.persist(ctx, "back", []string{r.World.Probe.Mark + " back"})
	require.NoError(t, err)
	require.NoError(t, r.alive(ctx, 2))
	for _, w := range r.Workers {
		w.Signal(syscall.SIGSTOP)
	}
	require.NoError(t, r.probes.work(ctx, r.probes.contributor, ids[0], nodeSolve))
	later, err := r.probes.persist(ctx, "back, no run", []string{r.World.Probe.Mark + " back, no run"})
	require.NoError(t, err)
	status, answer, err := files.confirm(ctx, up)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, status, "%s", answer)
	require.Positive(t, r.number(ctx, `SELECT count(*) FROM outbox`), "nothing is on its way; the row proves less than it says")
	clock.Set(0)
	stepped := time.Now()
	for _, w := range r.Workers {
		w.Signal(syscall.SIGCONT)
	}
	for _, id := range []int64{ids[0], later[0]} {
		within, cancel := context.WithDeadline(ctx, stepped.Add(recoverWithin))
		if id == later[0] {
			require.NoError(t, r.probes.work(within, r.probes.contributor, id, nodeSolve))
		}
		stage, err := r.probes.finish(within, id)
		cancel()
		if err != nil {
			r.Violate("liveness: %s of task %d did not come within %s of the clock's step back: %v", stage, id, recoverWithin, r.waiting(err, stepped))
			continue
		}
		r.Logf("task %d was finished %s after the step", id, time.Since(stepped).Round(time.Millisecond))
	}
	r.eventually(ctx, time.Until(stepped.Add(recoverWithin)), "the archive is unpacked", func(ctx context.Context) (bool, error) {
		var now upload
		_, _, err := files.call(ctx, http.MethodGet, "/"+up.ID, nil, &now)
		return now.SuccessCount == 3, err
	})

	r.deadIsMissed(ctx, clock)
	r.jumpsToAndFro(ctx, clock)
	r.drain(ctx)
	require.NoError(t, r.checkInvariants(ctx))
	require.NoError(t, r.checkRuns(ctx))
	require.NoError(t, r.askDoctor(ctx))
	require.NoError(t, nobodySpins(ctx, r))
	r.verdict("row-14-back")
}

// endsByTheDatabasesClock lets a key and a session run out by the database's
// clock within moments, and be good again when it steps back.
func (r *Run) endsByTheDatabasesClock(ctx context.Context, clock *faketime.Clock) {
	r.t.Helper()
	now := clock.By()
	// In five minutes, by the database.
	require.NoError(r.t, r.SQL(ctx, `UPDATE api_keys SET expires_at = now() + interval '5 minutes' WHERE org_id = $1`, r.World.Probe.ID))
	require.NoError(r.t, r.SQL(ctx, `UPDATE sessions s SET expires_at = now() + interval '5 minutes' FROM users u WHERE u.id = s.user_id AND u.email = $1`,
		r.probes.contributor.who))
	for _, step := range []struct {
		by   time.Duration
		want int
	}{{0, http.StatusOK}, {skew, http.StatusUnauthorized}, {0, http.StatusOK}, {-skew, http.StatusOK}} {
		clock.Set(now + step.by)
		for what, c := range map[string]*client{"a key": r.probes.integrator, "a session": r.probes.contributor} {
			path := "/api/console/claims"
			if c.key != "" {
				path = c.workflow("/tasks?limit=1")
			}
			// A key or a session that was looked up is remembered for moments.
			r.eventually(ctx, 15*time.Second, fmt.Sprintf("%s is answered %d by a clock moved by %s", what, step.want, step.by), func(ctx context.Context) (bool, error) {
				status, _, _, err := c.exchange(ctx, r.bases[0], request{method: http.MethodGet, path: path}, nil)
				return status == step.want, err
			})
		}
	}
	clock.Set(now)
	require.NoError(r.t, r.SQL(ctx, `UPDATE api_keys SET expires_at = NULL WHERE org_id = $1`, r.World.Probe.ID))
	require.NoError(r.t, r.SQL(ctx, `UPDATE sessions SET expires_at = now() + interval '30 days'`))
}

// deadIsMissed kills both workers and moves the clock back: their last
// heartbeats are then of the future.
func (r *Run) deadIsMissed(ctx context.Context, clock *faketime.Clock) {
	r.t.Helper()
	const missed = 15 * time.Second
	for _, w := range r.Workers {
		w.Halt()
	}
	clock.Set(clock.By() - skew)
	r.eventually(ctx, missed, "workers that died are missed", func(ctx context.Context) (bool, error) {
		n, err := r.Store().WorkersAlive(ctx, workflows.TaskQueue, 6*time.Second)
		return n == 0, err
	})
	for _, w := range r.Workers {
		w.StartAgain()
	}
	require.NoError(r.t, r.alive(ctx, 2))
}

// jumpsToAndFro jumps ten minutes back or forward twice a second while tasks
// are worked through, and then looks at how busy the workers are with nothing
// to do.
func (r *Run) jumpsToAndFro(ctx context.Context, clock *faketime.Clock) {
	r.t.Helper()
	clock.Set(0)
	calm := r.commitsPerSecond(ctx)
	over, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; wait(over, 500*time.Millisecond) == nil; i++ {
			clock.Set([]time.Duration{skew, 0, -skew, 0}[i%4])
		}
	}()
	for i := range 5 {
		within, cancel := context.WithTimeout(ctx, recoverWithin)
		id, stage, err := r.probes.handIn(within)
		if err == nil {
			stage, err = r.probes.finish(within, id)
		}
		cancel()
		if err != nil {
			r.Violate("liveness: while the clock jumps to and fro, %s of task %d in a row did not come within %s: %v", stage, i, recoverWithin, r.waiting(err, time.Now()))
		}
	}
	stop()
	<-done
	// A claim that somebody walked away from is a deadline that Temporal, whose
	// clock is ahead now, takes for past.
	clock.Set(-skew)
	ids, err := r.probes.persist(ctx, "left", []string{r.World.Probe.Mark + " left"})
	require.NoError(r.t, err)
	_, err = r.probes.contributor.insist(ctx, roleContributor, ids[0], nodeSolve)
	require.NoError(r.t, err)
	if busy := r.commitsPerSecond(ctx); busy > 2*calm+5 {
		r.Violate("I10: workers with nothing to do commit %.1f times a second, %.1f while the clocks agree", busy, calm)
	} else {
		r.Logf("workers with nothing to do commit %.1f times a second, %.1f while the clocks agree", busy, calm)
	}
	r.eventually(ctx, recoverWithin, "the claim that was left is taken back", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM task_events WHERE task_id = $1 AND kind = 'expire'`, ids[0])
		return n == 1, err
	})
}

// commitsPerSecond is how often the workers commit.
func (r *Run) commitsPerSecond(ctx context.Context) float64 {
	r.t.Helper()
	before, from := r.WorkerProxy.Stats().Commits, time.Now()
	require.NoError(r.t, errors.Join(wait(ctx, 10*time.Second)))
	return float64(r.WorkerProxy.Stats().Commits-before) / time.Since(from).Seconds()
}
