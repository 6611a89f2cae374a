package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// What fills the list does not hide the nodes of the other status behind it.
func TestWhatWaitsIsListedByItsStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const limit = 200
	ids := b.create(limit + 2)
	escalated, quarantined := ids[:limit+1], ids[limit+1]
	b.exec(`UPDATE task_nodes SET status = CASE WHEN task_id = $1 THEN 'quarantined' ELSE 'escalated' END WHERE key = 'solve'`, quarantined)
	for status, want := range map[task.NodeStatus][]int64{
		"":                   escalated[:limit],
		task.NodeEscalated:   escalated[:limit],
		task.NodeQuarantined: {quarantined},
		task.NodeAvailable:   {},
	} {
		found, err := b.Store.Waiting(t.Context(), b.OrgID, b.PipelineID, status, limit)
		require.NoError(t, err)
		require.Equal(t, want, tasksOf(found), string(status))
	}
}

func tasksOf(nodes []store.WaitingNode) []int64 {
	ids := []int64{}
	for _, n := range nodes {
		ids = append(ids, n.TaskID)
	}
	return ids
}
