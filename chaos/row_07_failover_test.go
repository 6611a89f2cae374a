package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/internal/stacktest"
)

const (
	standbyName = "taskloom_standby"
	// leavesWithin is how long after a switchover the pools may still hold
	// sessions of the old primary.
	leavesWithin = 10 * time.Second
)

// What is asked of the two servers. The test's own connections have another
// name (toEither).
const (
	productSessions = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'taskloom'`
	// writesUnderWay also counts transactions that began before the server turned
	// read-only, and could still write.
	writesUnderWay = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'taskloom'
		AND (backend_xid IS NOT NULL OR xact_start < now() - interval '2 seconds')`
	standbysCaughtUp = `SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`
	standbysInSync   = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`
	standbys         = `SELECT count(*) FROM pg_stat_replication`
)

// pair is a primary with its standby.
type pair struct{ primary, standby *cluster.Cluster }

// start makes the servers and leads the product to whichever of them takes
// writes, without a proxy in between: the list of hosts in DATABASE_URL is what
// is tried.
func (p *pair) start(t *testing.T, s *Settings, synchronous bool) {
	t.Helper()
	lightly(&s.Load)
	p.primary = cluster.Start(t, cluster.Options{})
	p.standby = p.primary.Standby(standbyName)
	if synchronous {
		p.primary.Set("synchronous_standby_names", standbyName)
	}
	either := "DATABASE_URL=" + p.primary.URL2(p.standby)
	s.Env = append(s.Env, either+"&application_name=chaos")
	s.Route = func(*stacktest.Stack) []string { return []string{either} }
}

// inSync is for Row.Prepare.
func (p *pair) inSync(ctx context.Context, _ *Run) error {
	n, err := p.primary.Count(ctx, standbysInSync)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d synchronous standbys instead of one", n)
	}
	return err
}

// moved is for Row.After: the product is at the new primary, and whoever asked
// in between was told 503.
func (p *pair) moved(ctx context.Context, r *Run) error {
	n, err := p.standby.Count(ctx, productSessions)
	if err == nil && n == 0 {
		err = errors.New("no process of ours is connected to the new primary")
	}
	return errors.Join(err, unavailableIsTold(ctx, r))
}

// TestRow07FailoverToSynchronousStandby kills the primary and promotes its
// synchronous standby. DATABASE_URL lists both (docs/operations.md): the pools
// find the new primary by themselves, clients are answered 503 meanwhile, and
// nothing that was acknowledged is lost.
func TestRow07FailoverToSynchronousStandby(t *testing.T) {
	var p pair
	failover := Fault{Name: "failover to the synchronous standby", Inject: func(context.Context, *Run) (func(context.Context) error, error) {
		p.primary.Stop(cluster.Immediate)
		return func(context.Context) error {
			p.standby.Promote()
			return nil
		}, nil
	}}
	RunRow(t, Row{
		Number: 7, Name: "failover to a standby",
		Settings: func(s *Settings) { p.start(t, s, true) },
		Prepare:  p.inSync,
		Faults:   []Fault{failover},
		Hold:     holdFor(3 * time.Second),
		After:    p.moved,
	})
}

// TestRow07OldPrimaryTurnsReadOnly is the switchover where the old primary
// lives on and refuses writes (SQLSTATE 25006), as managed services do it for a
// moment: the pools leave it without a restart of ours, and clients are
// answered 503 until there is one that takes writes.
func TestRow07OldPrimaryTurnsReadOnly(t *testing.T) {
	var p pair
	switchover := Fault{Name: "switchover, the old primary read-only and alive", Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		p.primary.Set("default_transaction_read_only", "on")
		return func(ctx context.Context) error {
			if err := p.switchOver(ctx); err != nil {
				return err
			}
			// The test's own connections only read, which the old primary allows.
			r.Store().Pool().Reset()
			p.left(ctx, r)
			return nil
		}, nil
	}}
	RunRow(t, Row{
		Number: 7, Name: "switchover to a standby",
		Settings: func(s *Settings) { p.start(t, s, true) },
		Prepare:  p.inSync,
		Faults:   []Fault{switchover},
		Hold:     holdFor(3 * time.Second),
		After:    p.moved,
	})
}

// switchOver promotes the standby of a primary that turned read-only: writes
// under way end first, and what was written reaches the standby.
func (p *pair) switchOver(ctx context.Context) error {
	if err := askUntil(ctx, "writes on the old primary have ended", func(ctx context.Context) (bool, error) {
		n, err := p.primary.Count(ctx, writesUnderWay)
		return n == 0, err
	}); err != nil {
		return err
	}
	if err := askUntil(ctx, "the standby has all that was written", func(ctx context.Context) (bool, error) {
		n, err := p.primary.Count(ctx, standbysCaughtUp)
		return n == 1, err
	}); err != nil {
		return err
	}
	p.standby.Promote()
	return nil
}

// left checks that no process of the product stays with the old primary.
func (p *pair) left(ctx context.Context, r *Run) {
	r.eventually(ctx, leavesWithin, "the pools have left the old primary", func(ctx context.Context) (bool, error) {
		n, err := p.primary.Count(ctx, productSessions)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d sessions of the product are still there", n)
		}
		return err == nil, err
	})
}

// askUntil asks the servers until the answer is yes, within recoverWithin. What
// was asked for and does not come is no promise of the product.
func askUntil(ctx context.Context, what string, ask func(ctx context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	for {
		yes, err := ask(ctx)
		if yes && err == nil {
			return nil
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("not within %s: %s: %w", recoverWithin, what, errors.Join(err, ctx.Err()))
		}
	}
}

// TestRow07AsynchronousStandbyLosesWhatItHadNotHeard shows the loss that
// docs/operations.md speaks of, and that the checker sees it: a standby that
// does not confirm writes, and lags, becomes the primary. It has no load, and so no floor of
// traffic: whatever a load is acknowledged meanwhile is lost, too, as it is said to be, and
// every check of what clients were told would report that.
func TestRow07AsynchronousStandbyLosesWhatItHadNotHeard(t *testing.T) {
	var p pair
	r := startRow(t, Row{Number: 7, Name: "failover to an asynchronous standby", Settings: func(s *Settings) { p.start(t, s, false) }})
	ctx := t.Context()
	create := func(name string) []int64 {
		ids, err := r.probes.persist(ctx, name, []string{r.World.Probe.Mark + " " + name})
		require.NoError(t, err)
		return ids
	}
	kept := create("kept")
	require.NoError(t, askUntil(ctx, "the standby has all that was written", func(ctx context.Context) (bool, error) {
		n, err := p.primary.Count(ctx, standbysCaughtUp)
		return n == 1, err
	}))
	p.standby.Set("primary_conninfo", "host=127.0.0.1 port=1") // it hears no more
	require.NoError(t, askUntil(ctx, "the standby is cut off", func(ctx context.Context) (bool, error) {
		n, err := p.primary.Count(ctx, standbys)
		return n == 0, err
	}))
	lost := create("lost")
	p.primary.Stop(cluster.Immediate)
	p.standby.Promote()
	r.eventually(ctx, recoverWithin, "the task from before the lag is served", func(ctx context.Context) (bool, error) {
		_, err := r.probes.integrator.task(ctx, kept[0])
		return err == nil, err
	})
	require.Empty(t, r.Violations())
	require.NoError(t, r.checkCreates(ctx))
	found := strings.Join(r.Violations(), "\n")
	require.Contains(t, found, fmt.Sprintf("I1: task %d, acknowledged to create", lost[0]), "the checker hides the loss")
	require.NotContains(t, found, fmt.Sprintf("I1: task %d, acknowledged to create", kept[0]))
	r.Logf("the checker reports the loss: %s", found)
}
