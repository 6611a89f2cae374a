package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A trial changes nothing, what is done stands in the audit log, and where
// nothing is wrong there is nothing to say.
func TestRepairsStandInTheAuditLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(2)
	audited := func(action, object string) int {
		return b.count(`SELECT count(*) FROM audit_log WHERE org_id = $1 AND actor IS NULL AND action = $2 AND object = $3`, b.OrgID, action, object)
	}
	err := b.Store.Tidy(ctx) // folds the counts
	require.NoError(t, err)
	b.exec(`DELETE FROM outbox`)
	b.exec(`UPDATE pipeline_counts SET n = n + 40 WHERE pipeline_id = $1`, b.PipelineID)

	for _, apply := range []bool{false, true, true} {
		run, err := b.Store.RepairRun(ctx, ids[0], apply)
		require.NoError(t, err)
		require.Len(t, run, 1)
		counts, err := b.Store.RepairCounts(ctx, apply)
		require.NoError(t, err)
		if !apply {
			require.NotEmpty(t, counts)
			require.Zero(t, audited("run.repair", fmt.Sprintf("task/%d", ids[0])), "a trial")
			require.Zero(t, audited("pipeline.repair", fmt.Sprintf("pipeline/%d", b.PipelineID)), "a trial")
		}
	}
	require.Equal(t, 1, audited("run.repair", fmt.Sprintf("task/%d", ids[0])), "the second time the run was told already")
	changed := audited("pipeline.repair", fmt.Sprintf("pipeline/%d", b.PipelineID))
	require.Positive(t, changed)
	_, err = b.Store.RepairCounts(ctx, true)
	require.NoError(t, err)
	require.Equal(t, changed, audited("pipeline.repair", fmt.Sprintf("pipeline/%d", b.PipelineID)), "nothing was wrong any more")
}
