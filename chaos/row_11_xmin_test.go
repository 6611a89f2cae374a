package chaos

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// keptShare is how much of its baseline the rate of claims must keep while dead
// rows cannot be removed.
const keptShare = 0.7

// TestRow11HeldXmin keeps the horizon of vacuum back: by a transaction with an
// XID that was forgotten, as a superuser's BEGIN is, and then by four scans on
// one snapshot each, as pg_dump does; each for ten minutes at CHAOS_SCALE=30.
// At the end of that, claims keep seven tenths of the best rate that was possible
// without it, before or after; and none of the product's own sessions can do the same,
// because Postgres ends what it leaves idle in a transaction.
func TestRow11HeldXmin(t *testing.T) {
	var c *claimers
	var best capacity // of those without a snapshot
	held := func(name string, sessions int, begin ...string) Fault {
		// What was measured is no part of what clients are served otherwise.
		settle := func(ctx context.Context, r *Run) error { return r.pause(ctx, floorWindow) }
		return Fault{Name: name, Serves: true, During: settle, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			before, err := c.measure(ctx, "before "+name)
			if err != nil {
				return nil, err
			}
			best = best.orBetter(before)
			letGo, err := r.holdSnapshots(ctx, sessions, begin...)
			return func(ctx context.Context) error {
				during, err := c.measure(ctx, "at the end of "+name)
				err = errors.Join(err, letGo(ctx))
				if err != nil {
					return err
				}
				after, err := c.measure(ctx, "after "+name)
				if err != nil {
					return err
				}
				best = best.orBetter(after)
				during.kept(r, name, best)
				return nil
			}, err
		}}
	}
	RunRow(t, Row{
		Number: 11, Name: "held xmin",
		// What counts is measured with people of its own.
		Settings: func(s *Settings) { lightly(&s.Load) },
		Prepare: func(ctx context.Context, r *Run) error {
			if err := r.noIdleTransactions(ctx); err != nil {
				return err
			}
			var err error
			c, err = newClaimers(ctx, r)
			return err
		},
		Faults: []Fault{
			held("a transaction with an XID forgotten", 1, `BEGIN`, `SELECT pg_current_xact_id()`),
			held("four scans on old snapshots", 4, `BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM tasks`),
		},
		Hold: holdFor(20 * time.Second),
	})
}

// orBetter is the one of two that is more.
func (c capacity) orBetter(other capacity) capacity {
	if other.perSecond > c.perSecond {
		return other
	}
	return c
}

// kept compares what is possible while xmin is held with what is without it.
func (c capacity) kept(r *Run, during string, before capacity) {
	r.Logf("%.1f claims/s at the end of %s, %.0f %% of those without it", c.perSecond, during, 100*c.perSecond/before.perSecond)
	if c.perSecond < keptShare*before.perSecond {
		r.Violate("I10: %.1f claims/s at the end of %s, less than %.0f %% of %.1f (%s)", c.perSecond, during, 100*keptShare, before.perSecond, loadOfMachine())
	}
	r.inside(during, c.took, before.took)
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
