package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/grpcproxy"
)

// TestRow18Poison gives the product what it cannot digest: outbox rows that
// Temporal refuses for good, also for the hundredth time, and a task whose step
// Postgres refuses. They are kept with the reason, what is behind them goes on
// all the while, and they go on by themselves when the reason is gone.
func TestRow18Poison(t *testing.T) {
	const poison = "qpoison"
	var proxy *grpcproxy.Proxy
	r := startRow(t, Row{Number: 18, Name: "poison", Settings: func(s *Settings) { throughGRPC(t, s, &proxy) }})
	ctx := t.Context()
	// A tenant whose name is in every call about its runs.
	world := &World{Probe: newOrganization(poison, 1, 1)}
	world.settle(r.Apply(world.document(t)))
	o := world.Probe
	queueMoves := func(while string) {
		ctx, cancel := context.WithTimeout(ctx, recoverWithin)
		defer cancel()
		began := time.Now()
		id, stage, err := r.probes.handIn(ctx)
		if err == nil {
			stage, err = r.probes.finish(ctx, id)
		}
		if err != nil {
			r.Violate("liveness: %s not within %s while %s: %v", stage, recoverWithin, while, err)
			return
		}
		r.Logf("a task went from its creation to its end in %s while %s", time.Since(began).Round(time.Millisecond), while)
	}

	proxy.Set(grpcproxy.Faults{Poison: poison})
	const rows = 50
	questions := make([]string, rows)
	for i := range questions {
		questions[i] = fmt.Sprintf("%s %d", poison, i)
	}
	ids, err := r.client(o, "integrator", o.Key, 99).create(ctx, poison, questions)
	require.NoError(t, err)
	const refusedSQL = `SELECT count(*) FROM outbox WHERE task_id = ANY($1) AND attempts >= $2 AND last_error LIKE '%does not like%'`
	r.eventually(ctx, recoverWithin, "Temporal has refused all rows, each with its reason", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, refusedSQL, ids, 1)
		return err == nil && n == rows, err
	})
	queueMoves("Temporal refuses rows")
	require.NoError(t, r.SQL(ctx, `UPDATE outbox SET attempts = 99, next_attempt_at = now() WHERE task_id = ANY($1)`, ids))
	r.eventually(ctx, recoverWithin, "all rows are refused for the hundredth time, and kept", func(ctx context.Context) (bool, error) {
		// Those that a dispatcher still has in its hands count their attempt already.
		n, err := r.Count(ctx, refusedSQL+` AND leased_until IS NULL`, ids, 100)
		return err == nil && n == rows, err
	})
	queueMoves("rows were refused a hundred times")
	proxy.Set(grpcproxy.Faults{})
	// The next try is up to six minutes away; nobody waits for it here.
	require.NoError(t, r.SQL(ctx, `UPDATE outbox SET next_attempt_at = now() WHERE task_id = ANY($1)`, ids))
	r.eventually(ctx, recoverWithin, "the rows are delivered and have their consequences", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM outbox WHERE task_id = ANY($1)) + (SELECT count(*) FROM tasks WHERE id = ANY($1) AND applied_seq < seq)`, ids)
		return err == nil && n == 0, err
	})

	// A step that is refused: the database does not take what follows on a
	// submission.
	id, _, err := r.probes.handIn(ctx)
	require.NoError(t, err)
	r.drain(ctx)
	require.NoError(t, r.SQL(ctx, fmt.Sprintf(`CREATE FUNCTION chaos_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.applied_seq <> OLD.applied_seq AND NEW.id = %d THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$`, id)))
	require.NoError(t, r.SQL(ctx, `CREATE TRIGGER chaos_poison BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION chaos_poison()`))
	require.NoError(t, r.probes.work(ctx, r.probes.contributor, id, nodeTag))
	queueMoves("the step of one task is refused")
	queueMoves("the step of one task is refused")
	require.Equal(t, 1, r.number(ctx, `SELECT count(*) FROM tasks WHERE id = $1 AND applied_seq < seq`, id), "the step was not refused")
	require.NoError(t, r.SQL(ctx, `DROP TRIGGER chaos_poison ON tasks`))
	r.eventually(ctx, recoverWithin, "the task of the refused step goes on", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE id = $1 AND applied_seq = seq`, id)
		return err == nil && n == 1, err
	})
	r.drain(ctx)
	require.NoError(t, r.checkInvariants(ctx))
	require.NoError(t, r.checkRuns(ctx))
	require.NoError(t, r.askDoctor(ctx))
	r.verdict("row-18")
}
