package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/grpcproxy"
)

const (
	poison = "qpoison"
	// refusedRows are refused by Temporal, hurriedRows of them so many times.
	refusedRows, hurriedRows, refusedTimes = 50, 5, 100
	// refusedSteps are tasks whose steps Postgres refuses: more than the alert
	// TasksAreRung lets pass.
	refusedSteps = 25
	// hundredWithin is how long the tries may take, each of which waits for the pace
	// of starts.
	hundredWithin = 3 * time.Minute
)

// TestRow18Poison gives the product what it cannot digest: outbox rows that
// Temporal refuses for good, some of them a hundred times, and tasks whose steps
// Postgres refuses. They are kept with the reason, operators are told of them, what is
// behind them goes on all the while, and they go on by themselves when the reason is
// gone. It has no load, and so no floor of traffic: the hundred tries wait for the pace of
// starts, of which a load takes its part; what is refused is told apart by ranges of task
// ids, into which a load's would fall; and the doctor, who is asked in the middle, would
// find a load's rows that are under way. That others go on is seen by tasks that go from
// their creation to their end.
func TestRow18Poison(t *testing.T) {
	var proxy *grpcproxy.Proxy
	r := startRow(t, Row{Number: 18, Name: "poison", Settings: func(s *Settings) { throughGRPC(t, s, &proxy) }})
	ctx := t.Context()
	before := r.scrape()
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
	questions := make([]string, refusedRows)
	for i := range questions {
		questions[i] = fmt.Sprintf("%s %d", poison, i)
	}
	ids, err := r.client(o, "integrator", o.Key, 99).create(ctx, poison, questions)
	require.NoError(t, err)
	// Those that a dispatcher still has in its hands count their attempt already.
	const refusedSQL = `SELECT count(*) FROM outbox WHERE task_id = ANY($1) AND attempts >= $2 AND last_error LIKE '%does not like%' AND leased_until IS NULL`
	r.eventually(ctx, recoverWithin, "Temporal has refused all rows, each with its reason", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, refusedSQL, ids, 1)
		return err == nil && n == refusedRows, err
	})
	queueMoves("Temporal refuses rows")
	hurried := ids[:hurriedRows]
	patient := r.hurry(ctx, hurried)
	r.eventually(ctx, hundredWithin, fmt.Sprintf("%d rows were refused %d times, and kept", hurriedRows, refusedTimes), func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, refusedSQL, hurried, refusedTimes)
		return err == nil && n == hurriedRows, err
	})
	queueMoves("rows are refused for more than the hundredth time")
	patient()
	require.Equal(t, refusedRows, r.number(ctx, `SELECT count(*) FROM outbox WHERE task_id = ANY($1)`, ids), "not all rows were kept")
	r.refusalsAreTold(ctx, o, before, hurried)
	proxy.Set(grpcproxy.Faults{})
	// The next try is up to six minutes away; nobody waits for it here.
	require.NoError(t, r.SQL(ctx, `UPDATE outbox SET next_attempt_at = now() WHERE task_id = ANY($1)`, ids))
	r.eventually(ctx, recoverWithin, "the rows are delivered and have their consequences", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM outbox WHERE task_id = ANY($1)) + (SELECT count(*) FROM tasks WHERE id = ANY($1) AND applied_seq < seq)`, ids)
		return err == nil && n == 0, err
	})

	r.refusedSteps(ctx, queueMoves)
	r.drain(ctx)
	require.NoError(t, r.checkInvariants(ctx))
	require.NoError(t, r.checkRuns(ctx))
	require.NoError(t, r.askDoctor(ctx))
	r.verdict("row-18")
}

// hurry lets what was refused of these tasks be tried again at once, until patient is
// called: the tries are what is looked at, not the waits between them.
func (r *Run) hurry(ctx context.Context, tasks []int64) (patient func()) {
	r.t.Helper()
	require.NoError(r.t, r.SQL(ctx, `CREATE FUNCTION chaos_hurry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			NEW.next_attempt_at := least(NEW.next_attempt_at, now() + interval '100 milliseconds'); RETURN NEW; END $$`))
	require.NoError(r.t, r.SQL(ctx, fmt.Sprintf(`CREATE TRIGGER chaos_hurry BEFORE UPDATE OF next_attempt_at ON outbox FOR EACH ROW
		WHEN (NEW.task_id BETWEEN %d AND %d) EXECUTE FUNCTION chaos_hurry()`, tasks[0], tasks[len(tasks)-1])))
	require.NoError(r.t, r.SQL(ctx, `UPDATE outbox SET next_attempt_at = now() WHERE task_id = ANY($1)`, tasks))
	return func() {
		require.NoError(r.t, r.SQL(ctx, `DROP TRIGGER chaos_hurry ON outbox`))
		r.eventually(ctx, recoverWithin, "the rows wait for minutes again", func(ctx context.Context) (bool, error) {
			n, err := r.Count(ctx, `SELECT count(*) FROM outbox WHERE task_id = ANY($1) AND next_attempt_at > now() + interval '4 minutes'`, tasks)
			return err == nil && n == len(tasks), err
		})
	}
}

// refusedSteps lets the database take nothing of what follows on submissions to some
// tasks. Others go on, and those are rung, and go on when it takes it.
func (r *Run) refusedSteps(ctx context.Context, queueMoves func(while string)) {
	r.t.Helper()
	before := r.scrape()
	questions := make([]string, refusedSteps)
	for i := range questions {
		questions[i] = fmt.Sprintf("%s step %d", r.World.Probe.Mark, i)
	}
	ids, err := r.probes.persist(ctx, "steps", questions)
	require.NoError(r.t, err)
	r.drain(ctx)
	require.NoError(r.t, r.SQL(ctx, fmt.Sprintf(`CREATE FUNCTION chaos_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.applied_seq <> OLD.applied_seq AND NEW.id BETWEEN %d AND %d THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$`, ids[0], ids[len(ids)-1])))
	require.NoError(r.t, r.SQL(ctx, `CREATE TRIGGER chaos_poison BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION chaos_poison()`))
	for _, id := range ids {
		require.NoError(r.t, r.probes.work(ctx, r.probes.contributor, id, nodeTag))
	}
	queueMoves("steps are refused")
	require.Equal(r.t, refusedSteps, r.number(ctx, `SELECT count(*) FROM tasks WHERE id = ANY($1) AND applied_seq < seq`, ids), "some step was not refused")
	r.ringsAreTold(ctx, before)
	queueMoves("steps are refused, and were rung")
	require.NoError(r.t, r.SQL(ctx, `DROP TRIGGER chaos_poison ON tasks`))
	r.eventually(ctx, recoverWithin, "the tasks of the refused steps go on", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE id = ANY($1) AND applied_seq < seq`, ids)
		return err == nil && n == 0, err
	})
}
