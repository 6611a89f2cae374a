package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
