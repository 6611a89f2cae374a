package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// timed is the usual pipeline with a time limit on its first node.
func timed(runs pipeline.Runs) pipeline.Definition {
	d := dbtest.Definition()
	d.Runs, d.Nodes[1].SLA = runs, pipeline.Duration(time.Hour)
	return d
}

// beside is another pipeline of the organization.
func (b *bench) beside(d pipeline.Definition) *bench {
	b.t.Helper()
	w := *b.World
	d.Name = fmt.Sprintf("Beside %d", b.VersionID)
	w.PipelineID, w.VersionID = b.AddPipeline(b.t, d, "ACTIVE")
	return &bench{World: &w, t: b.t}
}

// late has the time of the tasks' first nodes be up for that long.
func (b *bench) late(ago time.Duration, ids ...int64) {
	b.t.Helper()
	b.exec(`UPDATE task_nodes SET sla_at = now() - $2::interval WHERE key = 'solve' AND task_id = ANY($1)`, ids, ago)
}

// lags has so many claimed tasks whose runs were told nothing of it.
func (b *bench) lags(n int) (ids []int64) {
	b.t.Helper()
	b.create(n)
	for range n {
		ids = append(ids, b.claim(b.Contributors[0], pipeline.KindSubtask).TaskID)
	}
	b.exec(`UPDATE task_lag SET since = now() - interval '2 minutes'`)
	b.exec(`DELETE FROM outbox`)
	return ids
}

// Tasks that wait for their first claim have no run that could watch the time. All of
// them are ended in a round, no run is begun for it, and whoever needs a ring has one.
func TestABacklogPastItsTimeIsEndedWithoutRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(timed(pipeline.RunsOnFirstClaim)))
	ctx, ada := t.Context(), b.Contributors[0]
	ids := b.create(300)
	other := b.beside(timed(""))
	lagging := other.lags(1)
	late := other.create(1)
	b.exec(`DELETE FROM outbox`)
	b.late(2*time.Hour, ids...)
	b.late(10*time.Minute, late...)

	rung, err := b.Store.Reconcile(ctx, 2)
	require.NoError(t, err)
	require.ElementsMatch(t, append(late, lagging...), rung)
	require.Equal(t, 2, b.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, 300, b.count(`SELECT count(*) FROM tasks t JOIN task_events e ON e.task_id = t.id AND e.seq = t.seq
		WHERE t.pipeline_id = $1 AND t.seq = 2 AND t.applied_seq = 2 AND e.kind = 'escalate' AND e.reason = 'sla'`, b.PipelineID))
	require.Equal(t, task.NodeEscalated, b.statusOf(ids[0], "solve"))
	require.Equal(t, task.Escalated, b.status(ids[0]).Status)

	// The run begins with whoever goes on with it, and knows.
	require.NoError(t, b.Store.Requeue(ctx, b.member(b.Admin), ids[0], ""))
	require.NotEmpty(t, b.outboxOf(ids[0]))
	b.settle(ids[0])
	c := b.claimTask(ada, ids[0])
	b.submit(ada, c)
	b.settle(ids[0])
	require.Equal(t, task.NodeAvailable, b.statusOf(ids[0], "check"))
	for _, id := range append(late, lagging...) {
		_, err := b.Store.CheckDeadlines(ctx, id)
		require.NoError(t, err)
		b.settle(id)
	}
	b.checked()
}

// With a claim the run begins: what it does not end is rung for again.
func TestWhatWasClaimedOnceIsRungWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(timed(pipeline.RunsOnFirstClaim)))
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	require.NoError(t, b.Store.ReleaseClaim(t.Context(), b.Contributors[0], c.ID, store.Release{}))
	b.settle(id)
	b.exec(`DELETE FROM outbox`)
	b.late(10*time.Minute, id)
	rung, err := b.Store.Reconcile(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []int64{id}, rung)
	require.Zero(t, b.count(`SELECT count(*) FROM task_events WHERE kind = 'escalate'`))
}

// Of a round each pipeline has its share, and what lags has half.
func TestThoseOfOnePipelineStandBeforeNoOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(timed("")))
	many := b.create(50)
	b.late(2*time.Hour, many...)
	other := b.beside(timed(""))
	few := other.create(2)
	b.late(10*time.Minute, few...)
	lagging := other.beside(dbtest.Definition()).lags(20)
	rung, err := b.Store.Reconcile(t.Context(), 12)
	require.NoError(t, err)
	require.Len(t, rung, 12)
	of := func(ids []int64) (n int) {
		for _, id := range rung {
			if slices.Contains(ids, id) {
				n++
			}
		}
		return n
	}
	require.Equal(t, []int{6, 2, 4}, []int{of(lagging), of(few), of(many)})

	// Nor in what is ended without them.
	b.exec(`INSERT INTO outbox (topic, task_id, seq) SELECT 'task_sync', id, 0 FROM unnest($1::bigint[]) AS id ON CONFLICT DO NOTHING`, slices.Concat(many, few))
	require.NoError(t, store.EndOverdue(b.Store, t.Context(), 4))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM task_events WHERE kind = 'escalate' AND task_id = ANY($1)`, few))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM task_events WHERE kind = 'escalate' AND task_id = ANY($1)`, many))
}

// The reconciler comes every few seconds, also where nothing is late among many that have
// a time limit, and where many are late that are not its part's.
func TestTheLookForWhatIsOverdueReadsOnlyThat(t *testing.T) {
	t.Parallel()
	const late = 3
	for name, most := range map[string]float64{"nothing else is late": 100, "all others wait for their first claim": 30_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(timed(pipeline.RunsOnFirstClaim)))
			b.fill(20_000, "solve", pipeline.KindSubtask)
			if most > 100 {
				b.exec(`UPDATE task_nodes SET sla_at = now() - interval '1 hour'`)
			} else {
				b.exec(`UPDATE task_nodes SET sla_at = now() + interval '1 hour'`)
				b.late(10*time.Minute, b.create(late)...)
			}
			b.exec(`ANALYZE tasks, task_nodes, outbox, pipelines, pipeline_versions`)
			for sql, args := range map[string][]any{
				store.EndOverdueSQL:  {5 * time.Minute, 200},
				store.EndAloneSQL:    {5 * time.Minute, 200},
				store.RingLaggingSQL: {30 * time.Second, 5 * time.Minute, 200, "{}", store.UrgencyRung, 15 * time.Minute},
			} {
				for _, plan := range []planNode{b.explain(sql, args...), b.explainGeneric(sql, args...)} {
					readsFew(t, plan, most) // of all that are late, in each look of three, node, task and outbox: 60,000
				}
			}
		})
	}
}

// Of a task whose rows or events nobody here can go through a run is told after all, and
// its time is up all the same.
func TestATaskThatCannotBeFollowedAloneIsTold(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]string{
		"a newer event was applied": `UPDATE task_events SET kind = 'conjure' WHERE task_id = $1`,
		"a node is missing":         `DELETE FROM task_nodes WHERE task_id = $1 AND key = 'check'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(timed(pipeline.RunsOnFirstClaim)))
			id := b.create(1)[0]
			b.late(10*time.Minute, id)
			b.exec(how, id)
			_, err := b.Store.Reconcile(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'solve' AND status = 'escalated'`, id))
			require.Equal(t, []int64{0}, b.outboxOf(id))
		})
	}
}
