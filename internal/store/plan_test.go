package store_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// planNode is a node of EXPLAIN (FORMAT JSON).
type planNode struct {
	Type    string     `json:"Node Type"`
	Table   string     `json:"Relation Name"`
	Index   string     `json:"Index Name"`
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Removed float64    `json:"Rows Removed by Filter"`
	Plans   []planNode `json:"Plans"`
}

// walk calls fn for the node and all below it.
func (n planNode) walk(fn func(planNode)) {
	fn(n)
	for _, p := range n.Plans {
		p.walk(fn)
	}
}

// explain runs a statement, undoes it, and returns its plan.
func (b *bench) explain(sql string, args ...any) planNode {
	b.t.Helper()
	tx, err := b.Store.Pool().Begin(b.t.Context())
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(b.t.Context()) }()
	var doc []byte
	args = append([]any{pgx.QueryExecModeExec}, args...)
	err = tx.QueryRow(b.t.Context(), `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) `+sql, args...).Scan(&doc)
	require.NoError(b.t, err)
	var plans []struct{ Plan planNode }
	require.NoError(b.t, json.Unmarshal(doc, &plans))
	return plans[0].Plan
}

// readsFew demands that a plan reads its tables by index and no more than most
// rows in all, however many there are.
func readsFew(t *testing.T, p planNode, most float64) {
	t.Helper()
	read := 0.0
	p.walk(func(n planNode) {
		if n.Table == "tasks" || n.Table == "task_nodes" {
			require.NotEqual(t, "Seq Scan", n.Type)
			require.NotContains(t, n.Type, "Bitmap")
		}
		if n.Index != "" {
			read += (n.Rows + n.Removed) * max(n.Loops, 1)
		}
	})
	require.LessOrEqual(t, read, most)
}

// TestPlansAtAMillionTasks asserts that listing and claiming read by index only
// what they return, with a million tasks in the pipeline.
func TestPlansAtAMillionTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const tasks = 1_000_000
	b.exec(`ALTER TABLE tasks SET UNLOGGED`)
	b.exec(`ALTER TABLE task_nodes SET UNLOGGED`)
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, status, n_total, n_finished, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, (ARRAY['pending', 'in_progress', 'finished', 'finished', 'finished', 'finished', 'finished', 'finished', 'finished', 'escalated'])[1 + i % 10],
			2, 0, 1, 1, '{}' FROM generate_series(1, $4::int) i`, b.OrgID, b.PipelineID, b.VersionID, tasks)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, 'solve', $1, $2, 'subtask', CASE WHEN id % 10 = 0 THEN 'available' ELSE 'finished' END FROM tasks`, b.OrgID, b.PipelineID)
	b.exec(`ANALYZE tasks`)
	b.exec(`ANALYZE task_nodes`)

	const limit = 200
	for _, paused := range []bool{false, true} {
		for _, status := range append([]task.Status{""}, task.Statuses()...) {
			for _, before := range []int64{0, tasks / 2, 3} {
				q := store.TaskQuery{Status: status, Before: before, Limit: limit}
				sql, args, some := store.PageSQL(b.OrgID, b.PipelineID, q, paused)
				if !some {
					continue
				}
				t.Run(fmt.Sprintf("list %q below %d paused %v", status, before, paused), func(t *testing.T) {
					plan := b.explain(sql, args...)
					readsFew(t, plan, 3*(limit+1))
				})
			}
		}
	}
	for name, sql := range map[string]string{"fresh": store.ClaimFreshSQL, "lapsed": store.ClaimLapsedSQL} {
		t.Run("claim "+name, func(t *testing.T) {
			readsFew(t, b.explain(sql, b.PipelineID, b.OrgID, b.Contributors[0], "subtask", store.ClaimTail()), 40)
		})
	}
}

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
