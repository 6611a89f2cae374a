package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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
	Cost    float64    `json:"Total Cost"`
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

// explainGeneric is explain of the plan that serves all values.
func (b *bench) explainGeneric(sql string, args ...any) planNode {
	b.t.Helper()
	return b.explainKept(`SET LOCAL plan_cache_mode = force_generic_plan`, sql, args...)
}

// explainKept is explain of the plan that is kept with such settings.
func (b *bench) explainKept(settings, sql string, args ...any) planNode {
	b.t.Helper()
	tx, err := b.Store.Pool().Begin(b.t.Context())
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(b.t.Context()) }()
	values := make([]string, len(args))
	for i, a := range args {
		values[i] = fmt.Sprintf("'%v'", a)
	}
	for _, s := range []string{settings, `PREPARE generic AS ` + sql} {
		_, err = tx.Exec(b.t.Context(), s)
		require.NoError(b.t, err)
	}
	var doc []byte
	err = tx.QueryRow(b.t.Context(), `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE generic(`+strings.Join(values, ", ")+`)`,
		pgx.QueryExecModeSimpleProtocol).Scan(&doc)
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `DEALLOCATE generic`)
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
	b.foreignPlans(t)
	b.searchPlans(t, tasks)
	b.countPlans(t, tasks)
	b.reviewPlans(t, tasks)
	for name, sql := range map[string]string{"fresh": store.ClaimFreshSQL, "lapsed": store.ClaimLapsedSQL} {
		t.Run("claim "+name, func(t *testing.T) {
			args := []any{b.PipelineID, b.OrgID, b.Contributors[0], "subtask", store.ClaimTail()}
			if sql == store.ClaimFreshSQL {
				args = append(args, store.QueueFront.Priority, store.QueueFront.TaskID)
			}
			readsFew(t, b.explain(sql, args...), 40)
			readsFew(t, b.explainGeneric(sql, args...), 40)
		})
	}
	t.Run("what was passed over", func(t *testing.T) {
		readsFew(t, b.explainKept(store.KeepPlanSQL, store.PassedOverSQL, b.PipelineID, b.OrgID, b.Contributors[0], "subtask"), 100)
	})
}

// foreignPlans asserts that asking for another organization's tasks reads none.
func (b *bench) foreignPlans(t *testing.T) {
	t.Helper()
	other := b.OrgID + 1
	for _, status := range append([]task.Status{""}, task.Statuses()...) {
		sql, args, some := store.PageSQL(other, b.PipelineID, store.TaskQuery{Status: status, Limit: 200}, false)
		if !some {
			continue
		}
		t.Run(fmt.Sprintf("list %q of another organization", status), func(t *testing.T) {
			plan := b.explain(sql, args...)
			readsFew(t, plan, 10)
			// What is not run must not be expensive either: Postgres compiles
			// expensive plans first, which takes longer than any of ours.
			require.Less(t, plan.Cost, 2000.0)
			readsFew(t, b.explainGeneric(sql, args...), 10)
		})
	}
}

// searchPlans asserts what a step of a search reads: its walk one row each, and
// the filter each task of the step with its nodes.
func (b *bench) searchPlans(t *testing.T, tasks int64) {
	t.Helper()
	b.exec(`UPDATE tasks SET held = true WHERE id % 50000 = 7`)
	b.exec(`UPDATE tasks SET priority = 5 WHERE id % 20000 = 3`)
	b.exec(`UPDATE task_nodes SET status = 'escalated' WHERE task_id % 1000 = 10`)
	b.exec(`UPDATE task_nodes SET status = 'claimed', claim_id = gen_random_uuid(), claimed_by = $1, lease_expires_at = now() WHERE task_id % 100000 = 20`, b.Contributors[0])
	b.exec(`ANALYZE task_nodes`)
	held, free, five := true, false, 5
	const step = 500
	for name, q := range map[string]store.TaskSearch{
		"held": {Held: &held}, "not held": {Held: &free}, "priority": {Priority: &five}, "person": {Person: b.Contributors[0]},
		"claimed": {NodeStatus: task.NodeClaimed}, "escalated": {NodeStatus: task.NodeEscalated}, "available": {NodeStatus: task.NodeAvailable},
		"available and begun": {TaskQuery: store.TaskQuery{Status: task.InProgress}, NodeStatus: task.NodeAvailable},
		"node":                {Node: "solve"}, "no such node": {Node: "nope"}, "one": {ID: 4711}, "nobody": {Person: 987654},
		"all together":       {Node: "solve", NodeStatus: task.NodeAvailable, Priority: &five, Held: &held, Person: 1},
		"escalated and held": {TaskQuery: store.TaskQuery{Status: task.Escalated}, Held: &held},
	} {
		for _, before := range []int64{0, tasks / 2} {
			q.Before, q.Limit = before, 50
			t.Run(fmt.Sprintf("search %s below %d", name, before), func(t *testing.T) {
				sql, args, filter := store.SearchSQL(b.OrgID, b.PipelineID, q, step)
				plan := b.explain(sql, args...)
				readsFew(t, plan, 6*step)
				ids := make([]int64, step)
				for i := range ids {
					ids[i] = tasks - int64(i)
				}
				sql, args = filter(ids)
				readsFew(t, b.explain(sql, args...), 4*step)
			})
		}
	}
	t.Run("a time is an id after few steps", func(t *testing.T) {
		readsFew(t, b.explain(`SELECT task_id_at($1, now(), interval '0')`, b.PipelineID), 0) // what it does inside is not shown
		var id int64
		require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT task_id_at($1, 'infinity', interval '0')`, b.PipelineID).Scan(&id))
		require.Equal(t, tasks+1, id)
	})
}

// countPlans asserts that counts are read, not counted, and that a place in the
// queue is counted to its bound only.
func (b *bench) countPlans(t *testing.T, tasks int64) {
	t.Helper()
	b.exec(`INSERT INTO count_changes SELECT pipeline_id, version_id, counted_task(status), count(*) FROM tasks GROUP BY 1, 2, 3`)
	require.NoError(t, b.Store.FoldCounts(t.Context()))
	b.exec(`ANALYZE count_changes`)
	t.Run("kept counts", func(t *testing.T) {
		plan := b.explain(store.KeptSQL, []int64{b.PipelineID})
		readsFew(t, plan, 100)
		plan.walk(func(n planNode) { require.LessOrEqual(t, n.Rows, 100.0) })
		counts, err := b.Store.QueueCounts(t.Context(), b.OrgID, b.PipelineID)
		require.NoError(t, err)
		require.EqualValues(t, tasks, counts.Total)
		require.EqualValues(t, tasks*7/10, counts.Finished)
	})
	t.Run("open tasks, one of three statuses", func(t *testing.T) {
		readsFew(t, b.explain(store.OpenTasksSQL, b.PipelineID, b.OrgID), store.OpenCounted+100)
		readsFew(t, b.explainGeneric(store.OpenTasksSQL, b.PipelineID, b.OrgID), store.OpenCounted+100)
	})
	t.Run("a place in the queue", func(t *testing.T) {
		readsFew(t, b.explain(store.AheadSQL, b.PipelineID, b.OrgID, "subtask", 0, tasks, store.MaxAhead), 2*store.MaxAhead)
	})
}

// reviewPlans asserts that a page of the reviews reads little more than it
// shows, with 100,000 reviews that wait.
func (b *bench) reviewPlans(t *testing.T, tasks int64) {
	t.Helper()
	b.exec(`UPDATE task_nodes SET status = 'submitted', actor = 1 + task_id % 100 WHERE task_id % 10 = 1`)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, opened_at, four_eyes)
		SELECT task_id, 'check', org_id, pipeline_id, 'review', 'available', now() - task_id * interval '1 second', true
		FROM task_nodes WHERE task_id % 10 = 1`)
	b.exec(`ANALYZE task_nodes`)
	const page = 51
	for name, q := range map[string]struct {
		sql      string
		from, at any
	}{
		"by age, from the front":      {store.ReviewsByAgeSQL, time.Time{}, int64(0)},
		"by age, from the middle":     {store.ReviewsByAgeSQL, time.Now().Add(-500_000 * time.Second), int64(0)},
		"by contributor":              {store.ReviewsByActorSQL, int64(0), int64(0)},
		"by contributor, from half":   {store.ReviewsByActorSQL, int64(50), tasks / 2},
		"of a contributor":            {store.ReviewsOfActorSQL, int64(52), int64(0)},
		"of a contributor, from half": {store.ReviewsOfActorSQL, int64(52), tasks / 2},
		"of somebody who did nothing": {store.ReviewsOfActorSQL, int64(987654), int64(0)},
	} {
		t.Run("reviews "+name, func(t *testing.T) {
			readsFew(t, b.explain(q.sql, b.PipelineID, b.OrgID, b.Reviewers[0], q.from, q.at, "", page), 8*page)
		})
	}
}
