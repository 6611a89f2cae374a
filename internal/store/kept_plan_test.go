package store_test

import (
	"fmt"
	"testing"

	"github.com/taskloom/taskloom/internal/store"
)

// TestNodesKeptForPeopleAreNotReadByOthers has 20,000 nodes of one pipeline, among
// hundreds, kept for those who are to have them again: who asks for work, or how much
// there is, reads those whose time is over, of which there are none. Postgres may have
// counted when it was over for others.
func TestNodesKeptForPeopleAreNotReadByOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const kept, pipelines = 20_000, 300
	b.exec(`ALTER TABLE tasks SET UNLOGGED`)
	b.exec(`ALTER TABLE task_nodes SET UNLOGGED`)
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, status, n_total, n_finished, n_in_progress, n_pending, input)
		SELECT $1, CASE WHEN i <= $4 THEN $2 ELSE $2 + i % $5 END, $3, 'in_progress', 1, 0, 1, 0, '{}' FROM generate_series(1, 3 * $4::int) i`,
		b.OrgID, b.PipelineID, b.VersionID, kept, pipelines)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, reserved_for, reserved_until)
		SELECT id, 'solve', org_id, pipeline_id, 'subtask', CASE WHEN id % 2 = 0 OR id <= $1 THEN 'available' ELSE 'finished' END,
			CASE WHEN id <= $1 THEN -id END, CASE WHEN id <= $1 THEN now() + interval '4 hours' END
		FROM tasks`, kept)
	ada := b.Contributors[0]
	statements := map[string]struct {
		sql  string
		args []any
	}{
		"claim":       {store.ClaimLapsedSQL, []any{b.PipelineID, b.OrgID, ada, "subtask", store.ClaimTail()}},
		"passed over": {store.PassedOverSQL, []any{b.PipelineID, b.OrgID, ada, "subtask"}},
		"count":       {store.CountQueueSQL, b.queueArgs(ada, "subtask")},
		"former":      {store.HoldsSQL, []any{fmt.Sprintf("{%d}", b.PipelineID+1), fmt.Sprintf("{%d}", b.OrgID), "{subtask}"}},
	}
	for _, when := range []string{"ahead when Postgres counted", "over when Postgres counted"} {
		if when == "over when Postgres counted" {
			b.exec(`UPDATE task_nodes SET reserved_until = now() - interval '1 hour' WHERE reserved_for IS NOT NULL`)
		}
		b.exec(`ANALYZE tasks`)
		b.exec(`ANALYZE task_nodes`)
		b.exec(`UPDATE task_nodes SET reserved_until = now() + interval '4 hours' WHERE reserved_for IS NOT NULL`)
		b.exec(`VACUUM task_nodes`)
		for name, s := range statements {
			plan := b.explainKept(store.KeepPlanSQL, s.sql, s.args...)
			t.Run(name+", "+when, func(t *testing.T) { readsFew(t, plan, 100) })
		}
	}
}
