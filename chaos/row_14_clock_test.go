package chaos

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/chaos/internal/faketime"
)

// skew is how far the database's clock is away from everybody else's.
const skew = 10 * time.Minute

// skewed gives the product a Postgres of its own with a clock of its own.
// Temporal's database has the machine's.
func skewed(t *testing.T, s *Settings, by time.Duration) *faketime.Clock {
	t.Helper()
	s.Clock = faketime.New(t, by)
	db := cluster.Start(t, cluster.Options{Env: s.Clock.Env()})
	s.Env = append(s.Env, "DATABASE_URL="+db.URL())
	return s.Clock
}

// TestRow14ClockSkew runs the product on a database whose clock is ten minutes
// behind all others, jumps to theirs, and on to ten minutes ahead, and then
// jumps a minute every second. Leases hold as long as they say by the
// database's clock, whatever Temporal's and the processes' say, and no run
// spins on a deadline that Temporal takes for past.
func TestRow14ClockSkew(t *testing.T) {
	row := Row{Number: 14}
	row.skip(t)
	mustNotSkip(t)
	if missing := faketime.Missing(); missing != "" {
		t.Skip(missing)
	}
	var clock *faketime.Clock
	to := func(name string, by time.Duration) Fault {
		return Fault{Name: name, Serves: true, During: leasesHold, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
			clock.Set(by)
			return nil, nil //nolint:nilnil // it stays so
		}}
	}
	RunRow(t, Row{
		Number: 14, Name: "clock skew",
		Settings: func(s *Settings) {
			clock = skewed(t, s, -skew)
			// Nobody waits for the end of a lease over a jump of the clock.
			s.Load.Late = 0
		},
		Faults: []Fault{
			to("the database's clock ten minutes behind", -skew),
			to("the database's clock jumps ten minutes forward", 0),
			to("the database's clock jumps to ten minutes ahead", skew),
			{Name: "the database's clock jumps a minute every second", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
				for i := range 10 {
					clock.Set(skew + time.Duration(i+1)*time.Minute)
					if err := r.pause(ctx, time.Second); err != nil {
						return nil, err
					}
				}
				return nil, nil //nolint:nilnil // it stays so
			}},
		},
		Hold: holdFor(5 * time.Second),
		After: func(ctx context.Context, r *Run) error {
			r.neverInternal(r.began)
			return nobodySpins(ctx, r)
		},
	})
}

// leasesHold claims a node and checks when it can be had by somebody else: by
// the database's clock, not a moment before the lease ends, and soon after.
func leasesHold(ctx context.Context, r *Run) error {
	const soon = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	ids, err := r.probes.persist(ctx, fmt.Sprintf("lease-%d", time.Now().UnixNano()), []string{r.World.Probe.Mark + " lease"})
	if err != nil {
		return err
	}
	heir := r.client(r.World.Probe, r.World.Probe.Contributors[1], "", 4)
	if err := heir.login(ctx); err != nil {
		return err
	}
	from, err := r.databaseTime(ctx)
	if err != nil {
		return err
	}
	k, err := r.probes.contributor.insist(ctx, roleContributor, ids[0], nodeSolve)
	if err != nil {
		return err
	}
	until, err := r.databaseTime(ctx)
	if err != nil {
		return err
	}
	lease := time.Duration(r.Load.LeaseSeconds) * time.Second
	if k.LeaseEnds.Before(from.Add(lease)) || k.LeaseEnds.After(until.Add(lease)) {
		r.Violate("I2: a claim between %s and %s by the database's clock holds until %s; the lease is %s", from, until, k.LeaseEnds, lease)
	}
	for {
		_, err := heir.claimNode(ctx, roleContributor, ids[0], nodeSolve)
		now, clockErr := r.databaseTime(ctx)
		if clockErr != nil {
			return clockErr
		}
		late := now.Sub(k.LeaseEnds)
		switch {
		case err == nil && late < 0:
			r.Violate("I2: a node was given to somebody else %s before its lease ended", -late)
			return nil
		case err == nil:
			r.Logf("a lease of %s held for %s by the database's clock, which is %s off", lease, now.Sub(from).Round(time.Millisecond), r.settings.Clock.By())
			return r.lost(ctx, k)
		case !errors.Is(err, errRefused) && !errors.Is(err, errUnknown):
			return err
		case late > soon:
			r.Violate("liveness: a node cannot be claimed %s after its lease ended", late)
			return nil
		}
		if err := r.pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// lost checks that the holder of a lapsed claim is refused.
func (r *Run) lost(ctx context.Context, k *claim) error {
	err := r.probes.contributor.submit(ctx, k, object{"answer": r.World.Probe.Mark + " too late"})
	if err == nil {
		r.Violate("I2: a submission was taken under claim %s after somebody else had claimed the node", k.ID)
		return nil
	}
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// databaseTime asks the database what time it is.
func (r *Run) databaseTime(ctx context.Context) (at time.Time, err error) {
	err = r.Store().Pool().QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at)
	return at, err
}

// leastTimer is the least wait of a run for a deadline: workflows never set a
// shorter timer, so that clocks that differ cannot make a run spin.
const leastTimer = time.Second

// nobodySpins looks at every timer of every run.
func nobodySpins(ctx context.Context, r *Run) error {
	timers, most := 0, 0
	runs, err := r.eachRun(ctx, func(id, runID string) error {
		fired := 0
		history := r.Temporal().GetWorkflowHistory(ctx, id, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for history.HasNext() {
			e, err := history.Next()
			if err != nil {
				return err
			}
			if e.GetEventType() == enums.EVENT_TYPE_TIMER_FIRED {
				fired++
			}
			if e.GetEventType() != enums.EVENT_TYPE_TIMER_STARTED {
				continue
			}
			timers++
			if d := e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration(); d < leastTimer {
				r.Violate("I10: run %s waits only %s for a deadline", id, d)
			}
		}
		most = max(most, fired)
		return nil
	})
	if err != nil {
		return err
	}
	if timers == 0 {
		return errors.New("no run has set a timer: the row looks at nothing")
	}
	r.Logf("%d timers of %d runs, none under %s; at most %d of one run fired", timers, runs, leastTimer, most)
	return nil
}

// eachRun calls do with every run of a task, open or closed, and returns how
// many there were.
func (r *Run) eachRun(ctx context.Context, do func(workflowID, runID string) error) (n int, err error) {
	var token []byte
	for {
		page, err := r.Temporal().ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: `WorkflowType = "TaskWorkflow"`, PageSize: 1000, NextPageToken: token,
		})
		if err != nil {
			return n, err
		}
		for _, e := range page.GetExecutions() {
			n++
			if err := do(e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()); err != nil {
				return n, fmt.Errorf("run of %s: %w", e.GetExecution().GetWorkflowId(), err)
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return n, nil
		}
	}
}
