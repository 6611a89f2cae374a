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

const standbyName = "taskloom_standby"

// toEither leads the product to whichever of two servers takes writes, without
// a proxy in between: the list of hosts in DATABASE_URL is what is tried.
func toEither(s *Settings, primary, standby *cluster.Cluster) {
	either := "DATABASE_URL=" + primary.URL2(standby)
	s.Env = append(s.Env, either)
	s.Route = func(*stacktest.Stack) []string { return []string{either} }
}

// TestRow07FailoverToSynchronousStandby kills the primary and promotes its
// synchronous standby. DATABASE_URL lists both (docs/operations.md): the pools
// find the new primary by themselves, clients are answered 503 meanwhile, and
// nothing that was acknowledged is lost.
func TestRow07FailoverToSynchronousStandby(t *testing.T) {
	var primary, standby *cluster.Cluster
	failover := Fault{Name: "failover to the synchronous standby", Inject: func(context.Context, *Run) (func(context.Context) error, error) {
		primary.Stop(cluster.Immediate)
		return func(context.Context) error {
			standby.Promote()
			return nil
		}, nil
	}}
	RunRow(t, Row{
		Number: 7, Name: "failover to a standby",
		Settings: func(s *Settings) {
			primary = cluster.Start(t, cluster.Options{})
			standby = primary.Standby(standbyName)
			primary.Set("synchronous_standby_names", standbyName)
			toEither(s, primary, standby)
		},
		Prepare: func(context.Context, *Run) error {
			if n := sessions(t, primary, `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`); n != 1 {
				return fmt.Errorf("%d synchronous standbys instead of one", n)
			}
			return nil
		},
		Faults: []Fault{failover},
		Hold:   holdFor(3 * time.Second),
		After: func(context.Context, *Run) error {
			if n := sessions(t, standby, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'taskloom'`); n == 0 {
				return errors.New("no process of ours is connected to the new primary")
			}
			return nil
		},
	})
}

func sessions(t *testing.T, c *cluster.Cluster, sql string) (n int) {
	t.Helper()
	require.NoError(t, c.Connect("postgres").QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// TestRow07OldPrimaryTurnsReadOnly is the switchover where the old primary
// lives on and refuses writes (SQLSTATE 25006), as managed services do it for a
// moment: the pools leave it without a restart of ours.
func TestRow07OldPrimaryTurnsReadOnly(t *testing.T) {
	var primary, standby *cluster.Cluster
	switchover := Fault{Name: "switchover, the old primary read-only and alive", Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		// Writes under way end first; then nothing new is written, and what was
		// written reaches the standby before it is promoted.
		conn := primary.Connect("postgres")
		if _, err := conn.Exec(ctx, `ALTER SYSTEM SET default_transaction_read_only = on`); err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, `SELECT pg_reload_conf()`); err != nil {
			return nil, err
		}
		return func(context.Context) error {
			require.Eventually(t, func() bool {
				return sessions(t, primary, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'taskloom' AND state = 'active'`) == 0 &&
					sessions(t, primary, `SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`) == 1
			}, recoverWithin, 50*time.Millisecond)
			standby.Promote()
			// The test's own connections only read, which the old primary allows.
			r.Store().Pool().Reset()
			return nil
		}, nil
	}}
	RunRow(t, Row{
		Number: 7, Name: "switchover to a standby",
		Settings: func(s *Settings) {
			primary = cluster.Start(t, cluster.Options{})
			standby = primary.Standby(standbyName)
			primary.Set("synchronous_standby_names", standbyName)
			toEither(s, primary, standby)
		},
		Faults: []Fault{switchover},
		Hold:   holdFor(3 * time.Second),
	})
}

// TestRow07AsynchronousStandbyLosesWhatItHadNotHeard shows the loss that
// docs/operations.md speaks of, and that the checker sees it: a standby that
// does not confirm writes, and lags, becomes the primary.
func TestRow07AsynchronousStandbyLosesWhatItHadNotHeard(t *testing.T) {
	var primary, standby *cluster.Cluster
	r := startRow(t, Row{Number: 7, Name: "failover to an asynchronous standby", Settings: func(s *Settings) {
		primary = cluster.Start(t, cluster.Options{})
		standby = primary.Standby(standbyName)
		toEither(s, primary, standby)
	}})
	ctx := t.Context()
	create := func(name string) []int64 {
		ids, err := r.probes.persist(ctx, name, []string{r.World.Probe.Mark + " " + name})
		require.NoError(t, err)
		return ids
	}
	kept := create("kept")
	require.Eventually(t, func() bool {
		return sessions(t, primary, `SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`) == 1
	}, recoverWithin, 50*time.Millisecond)
	standby.Set("primary_conninfo", "host=127.0.0.1 port=1") // it hears no more
	require.Eventually(t, func() bool {
		return sessions(t, primary, `SELECT count(*) FROM pg_stat_replication`) == 0
	}, recoverWithin, 50*time.Millisecond)
	lost := create("lost")
	primary.Stop(cluster.Immediate)
	standby.Promote()
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
