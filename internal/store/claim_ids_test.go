package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// FuzzTaskOfClaim looks for claim ids that break the parser.
func FuzzTaskOfClaim(f *testing.F) {
	for _, s := range []string{"", "x", "00000000-002a-8abc-9def-0123456789ab", "00000000002a8abc9def0123456789ab", "{00000000-002a-8abc-9def-0123456789ab}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := store.TaskOfClaim(s)
		if ok && (id < 0 || id >= 1<<48) {
			t.Fatalf("%q gives task %d", s, id)
		}
	})
}

func TestClaimIDsCarryTheirTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []int64{1, 42, 1<<32 + 7, 1<<48 - 1} {
		b.exec(`INSERT INTO tasks (id, org_id, pipeline_id, version_id, n_total, n_in_progress, input) VALUES ($1, $2, $3, $4, 1, 1, '{}')`,
			id, b.OrgID, b.PipelineID, b.VersionID)
		b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES ($1, 'solve', $2, $3, 'subtask', 'available')`,
			id, b.OrgID, b.PipelineID)
		c := b.claim(b.Contributors[0], "subtask")
		require.NotNil(t, c)
		require.Equal(t, id, c.TaskID)
		got, ok := store.TaskOfClaim(c.ID)
		require.True(t, ok)
		require.Equal(t, id, got)
		_, err := b.Store.LiveClaim(t.Context(), b.Contributors[0], c.ID)
		require.NoError(t, err)
	}
}
