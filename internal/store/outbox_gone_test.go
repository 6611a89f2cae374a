package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// behindGone is less than the numbers of tasks that are gone, which nobody has.
const behindGone = 900_000

// The nodes of a task that somebody deleted stay, also overdue. Once the outbox is rid of
// it, nothing puts it there again.
func TestNothingIsRungForATaskThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(2)
	b.lapse(b.claim(b.Contributors[0], pipeline.KindSubtask).TaskID, 10*time.Minute)
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '10 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	b.exec(`DELETE FROM tasks`)
	done, err := b.Store.RepairOutbox(ctx, true)
	require.NoError(t, err)
	require.NotEmpty(t, done)
	for range 2 {
		rung, err := b.Store.Reconcile(ctx, 100)
		require.NoError(t, err)
		require.Empty(t, rung)
	}
	require.Zero(t, b.count(`SELECT count(*) FROM outbox`))
}

// More of them than one round ends, or rings, keep no other from it.
func TestTasksThatAreGoneHoldUpNoneThatIsOverdue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	ids := b.create(3)
	left, other := b.claim(ada, pipeline.KindSubtask), b.claim(ada, pipeline.KindSubtask)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, claim_id, claimed_by, lease_expires_at, sla_at)
		SELECT $4::bigint + i, 'solve', $1, $2, 'subtask', 'claimed', gen_random_uuid(), $3, now() - interval '1 hour', now() - interval '1 hour'
		FROM generate_series(1, 250) i`, b.OrgID, b.PipelineID, ada, behindGone)
	b.exec(`INSERT INTO outbox (topic, task_id, seq) SELECT 'task_sync', $1::bigint + i, 0 FROM generate_series(1, 250) i`, behindGone)
	b.lapse(left.TaskID, 6*time.Minute)
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '6 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[2])
	rung, err := b.Store.Reconcile(ctx, 10)
	require.NoError(t, err)
	require.Empty(t, rung)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind = 'expire'`, left.TaskID))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind = 'escalate'`, ids[2]))

	b.exec(`DELETE FROM outbox`) // nothing waits to be told: the runs are rung
	b.lapse(other.TaskID, 6*time.Minute)
	rung, err = b.Store.Reconcile(ctx, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{other.TaskID}, rung)
}

// Nor do their rows, which are due before all others, keep any other from being told.
func TestRowsOfTasksThatAreGoneAreNotTaken(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]store.Urgency{"handed": store.UrgencyHanded, "claimed": store.UrgencyClaimed, "created": store.UrgencyCreated} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := b.create(1)[0]
			b.exec(`DELETE FROM outbox`)
			b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
				SELECT 'task_sync', $1::bigint + i, 0, $2, now() - interval '1 hour' FROM generate_series(1, 30) i`, behindGone, u)
			b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_sync', $1, 0, $2)`, id, u)
			got := b.take(u)
			require.Len(t, got, 1)
			require.Equal(t, id, got[0].TaskID)
			require.Zero(t, b.count(`SELECT count(*) FROM outbox WHERE task_id > $1 AND (attempts > 0 OR leased_until IS NOT NULL)`, behindGone))
		})
	}
}

// While the outbox is behind, runs that were lost are rung after a quarter of an hour only.
func TestRowsOfTasksThatAreGoneAreNoBacklog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lagging := b.lags(1)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, next_attempt_at) SELECT 'task_event', $1::bigint + i, 2, now() - interval '1 hour'
		FROM generate_series(1, 150) i`, behindGone)
	rung, err := b.Store.Reconcile(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, lagging, rung)
}
