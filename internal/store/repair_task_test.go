package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// A task that is behind its journal, which is whole, is brought to its end.
func TestATaskBehindItsJournalIsRepaired(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	b.submit(b.Contributors[0], b.claim(b.Contributors[0], pipeline.KindSubtask))
	b.settle(id)
	rc := b.claim(b.Reviewers[0], pipeline.KindReview)
	_, err := b.Store.Review(ctx, b.Reviewers[0], rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.NoError(t, err)
	b.settle(id)
	require.Equal(t, 5, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1`, id))
	b.exec(`UPDATE tasks SET seq = 4, applied_seq = 4 WHERE id = $1`, id)

	for i, apply := range []bool{false, true, true} {
		done, err := b.Store.RepairTask(ctx, id, apply)
		require.NoError(t, err)
		if i == 2 {
			require.Empty(t, done, "it is mended")
			continue
		}
		require.NotEmpty(t, done)
		require.Contains(t, done[0].What, "4 of 4 events were applied, now 5 of 5")
	}
	require.Equal(t, 5, b.count(`SELECT seq FROM tasks WHERE id = $1`, id))
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

// A node that a repair opens has all of its time, as if its run had opened it.
func TestANodeThatARepairOpensHasItsTime(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	d.Nodes[1].SLA, d.Nodes[2].SLA = pipeline.Duration(time.Hour), pipeline.Duration(time.Hour)
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	ends := func(node string) bool {
		return b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = $2 AND status IN ('available', 'claimed')
			AND sla_at BETWEEN now() + interval '50 minutes' AND now() + interval '1 hour' AND opened_at > now() - interval '10 minutes'`, id, node) == 1
	}
	repair := func() {
		done, err := b.Store.RepairTask(ctx, id, true)
		require.NoError(t, err)
		require.NotEmpty(t, done)
	}
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.exec(`UPDATE task_nodes SET opened_at = now() - interval '1 day', sla_at = CASE key WHEN 'solve' THEN now() - interval '1 minute' END`)
	repair()
	require.True(t, ends("check"))
	rc := b.claim(rita, pipeline.KindReview)
	_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	repair()
	require.True(t, ends("solve"), "not what was left of the round before")
	late := b.claim(ada, pipeline.KindSubtask)
	b.exec(`UPDATE task_nodes SET sla_at = now() + interval '1 minute' WHERE claim_id = $1`, late.ID)
	repair()
	require.False(t, ends("solve"), "what runs, runs on")
	b.exec(`DELETE FROM task_nodes WHERE task_id = $1 AND key = 'solve'`, id)
	repair()
	require.True(t, ends("solve"))
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), l.Now, time.Minute, "a run that begins here compares its clock")
	b.settle(id)
	b.checked()
}

// A run that is being told to look may look before the repair: it is told again.
func TestARepairIsToldBesideANudgeOnItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	b.exec(`DELETE FROM outbox`)
	b.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0)`, id)
	onItsWay := b.take(store.UrgencyHanded)
	require.Len(t, onItsWay, 1)
	b.exec(`UPDATE task_nodes SET status = 'finished' WHERE task_id = $1 AND key = 'solve'`, id)
	done, err := b.Store.RepairTask(ctx, id, true)
	require.NoError(t, err)
	require.NotEmpty(t, done)
	require.NoError(t, b.Store.DoneOutbox(ctx, onItsWay))
	require.Len(t, b.take(store.UrgencyHanded), 1)
}
