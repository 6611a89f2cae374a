package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// keptShare is how much of its baseline the rate of claims must keep while dead
// rows cannot be removed.
const keptShare = 0.7

// TestRow11HeldXmin keeps the horizon of vacuum back: by a transaction with an
// XID that was forgotten, as a superuser's BEGIN is, and then by four scans on
// one snapshot each, as pg_dump does. Claims keep seven tenths of their rate
// before; and none of the product's own sessions can do the same, because
// Postgres ends what it leaves idle in a transaction.
func TestRow11HeldXmin(t *testing.T) {
	var baseline float64
	claims := func(ctx context.Context, r *Run, over time.Duration) (float64, error) {
		before, err := r.Count(ctx, `SELECT count(*) FROM task_events WHERE kind = 'claim'`)
		if err != nil {
			return 0, err
		}
		from := time.Now()
		if err := r.pause(ctx, over); err != nil {
			return 0, err
		}
		after, err := r.Count(ctx, `SELECT count(*) FROM task_events WHERE kind = 'claim'`)
		return float64(after-before) / time.Since(from).Seconds(), err
	}
	held := func(name string, sessions int, begin ...string) Fault {
		return Fault{Name: name, Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			if baseline == 0 {
				var err error
				if baseline, err = claims(ctx, r, holdFor(10*time.Second)); err != nil {
					return nil, err
				}
				r.Logf("baseline: %.1f claims/s", baseline)
			}
			return r.holdSnapshots(ctx, sessions, begin...)
		}}
	}
	RunRow(t, Row{
		Number: 11, Name: "held xmin",
		// Enough in the queue that a claim is never waited for.
		Settings: func(s *Settings) { s.Load.Backlog = 60 },
		Prepare: func(ctx context.Context, r *Run) error {
			return r.noIdleTransactions(ctx)
		},
		Faults: []Fault{
			held("a transaction with an XID forgotten", 1, `BEGIN`, `SELECT pg_current_xact_id()`),
			held("four scans on old snapshots", 4, `BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM tasks`),
		},
		During: func(ctx context.Context, r *Run) error {
			rate, err := claims(ctx, r, holdFor(15*time.Second))
			if err != nil {
				return err
			}
			var dead int
			if err := r.Store().Pool().QueryRow(ctx, `SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables`).Scan(&dead); err != nil {
				return err
			}
			r.Logf("%.1f claims/s, %.0f %% of the baseline, with %d dead rows", rate, 100*rate/baseline, dead)
			if rate < keptShare*baseline {
				r.Violate("I10: %.1f claims/s while xmin is held, less than %.0f %% of %.1f", rate, 100*keptShare, baseline)
			}
			return nil
		},
	})
}

// holdSnapshots opens sessions that begin and do not end until they are healed.
func (r *Run) holdSnapshots(ctx context.Context, n int, begin ...string) (heal func(context.Context) error, err error) {
	var open []*pgx.Conn
	heal = func(ctx context.Context) error {
		for _, c := range open {
			_ = c.Close(ctx) // it held what it was to hold
		}
		return nil
	}
	r.t.Cleanup(func() { _ = heal(context.WithoutCancel(ctx)) })
	for range n {
		conn, err := pgx.Connect(ctx, r.Value("DATABASE_URL"))
		if err != nil {
			return heal, err
		}
		open = append(open, conn)
		for _, sql := range begin {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return heal, fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return heal, nil
}

// noIdleTransactions checks what every session of the product asks Postgres
// for, whatever the server's defaults: none of them may hold locks or snapshots
// while nothing happens, nor wait for a lock for ever.
func (r *Run) noIdleTransactions(ctx context.Context) error {
	for _, name := range []string{"idle_in_transaction_session_timeout", "lock_timeout"} {
		var value string
		if err := r.Store().Pool().QueryRow(ctx, "SHOW "+name).Scan(&value); err != nil {
			return err
		}
		r.Logf("%s of our sessions: %s", name, value)
		require.NotEqual(r.t, "0", value, "%s is off", name)
	}
	return nil
}
