package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// While the outbox is behind, a task that lags may have been told of a moment ago: the
// reconciler leaves it alone, and the check calls it lost no sooner.
func TestNothingIsCalledLostWhileTheOutboxIsBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ada, told := b.Contributors[0], b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.exec(`DELETE FROM outbox`)
	others := b.create(100)
	b.exec(`UPDATE outbox SET priority = 0, next_attempt_at = now() - interval '31 seconds'`)
	lost := func(minutes int) (ids []int64) {
		b.exec(`UPDATE tasks SET updated_at = now() - $2::int * interval '1 minute' WHERE id = $1`, told, minutes)
		found, err := b.Store.Check(t.Context(), store.CheckOptions{NoPeople: true, NoJournal: true})
		require.NoError(t, err)
		for _, f := range found {
			if f.Name == "events-on-the-way" {
				for _, v := range f.Violations {
					ids = append(ids, v.TaskID)
				}
			}
		}
		return ids
	}
	require.Empty(t, lost(4))
	require.Equal(t, []int64{told}, lost(16), "nothing is left alone for ever")
	b.exec(`DELETE FROM outbox WHERE task_id = $1`, others[0])
	require.Equal(t, []int64{told}, lost(4), "one row less is not behind")
	require.Empty(t, lost(2))
}
