package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// TestPlansOfWork asserts that queues are counted, skips are passed over and a
// history is read at a cost that does not grow with the pipeline, at 200,000
// open tasks and as many submissions.
func TestPlansOfWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const tasks, authors = 200_000, 10
	ada := b.Contributors[0]
	for _, table := range []string{"tasks", "task_nodes", "submissions", "skips"} {
		b.exec(`ALTER TABLE ` + table + ` SET UNLOGGED`)
	}
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, status, n_total, n_finished, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, 'in_progress', 2, 0, 1, 1, '{}' FROM generate_series(1, $4::int) i`, b.OrgID, b.PipelineID, b.VersionID, tasks)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, 'solve', $1, $2, 'subtask', 'available' FROM tasks`, b.OrgID, b.PipelineID)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, 'check', $1, $2, 'review', 'pending' FROM tasks`, b.OrgID, b.PipelineID)
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, created_at)
		SELECT gen_random_uuid(), $1, id, 'solve', 1, CASE WHEN id % $3 = 0 THEN $2 ELSE -(id % $3) END, 3, now() - id * interval '1 second'
		FROM tasks`, b.OrgID, ada, authors)
	b.exec(`INSERT INTO skips (user_id, task_id, node_key, org_id, pipeline_id)
		SELECT $1, id, 'solve', $2, $3 FROM tasks ORDER BY id LIMIT 1000`, ada, b.OrgID, b.PipelineID)
	for _, table := range []string{"tasks", "task_nodes", "submissions", "skips"} {
		b.exec(`ANALYZE ` + table)
	}
	for name, c := range map[string]struct {
		sql  string
		args []any
		most float64
	}{
		"claim behind a thousand skips": {
			store.ClaimFreshSQL, []any{b.PipelineID, b.OrgID, ada, "subtask", store.ClaimTail(), store.QueueFront.Priority, store.QueueFront.TaskID}, 3*1000 + 100,
		},
		"history of another pipeline": {
			store.HistorySQL, []any{ada, nil, []int64{b.PipelineID + 1}, 31, store.UndoWindow, store.HistoryFar}, 3*store.HistoryFar + 100,
		},
		"queue":         {store.CountQueueSQL, b.queueArgs(ada, "subtask"), 4 * 2000},
		"review queue":  {store.CountQueueSQL, b.queueArgs(ada, "review"), 100},
		"explain":       {store.BlockersSQL, []any{b.PipelineID, b.OrgID, ada, "subtask"}, 10 * 2000},
		"explain later": {store.BlockersSQL, []any{b.PipelineID, b.OrgID, ada, "review"}, 10 * 2000},
		"history":       {store.HistorySQL, []any{ada, nil, []int64{b.PipelineID}, 31, store.UndoWindow, store.HistoryFar}, 5 * 31},
		"end of it":     {store.HistoryEndSQL, []any{ada, nil, store.HistoryFar - 1}, store.HistoryFar + 100},
		"answers":       {store.SubmissionsSQL, []any{b.count(`SELECT max(id) FROM tasks`), b.OrgID}, 20},
		"nobody's":      {store.HistorySQL, []any{int64(987654), nil, []int64{b.PipelineID}, 31, store.UndoWindow, store.HistoryFar}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			plan := b.explain(c.sql, c.args...)
			readsFew(t, plan, c.most)
			if c.sql == store.CountQueueSQL || c.sql == store.ClaimFreshSQL {
				readsFew(t, b.explainGeneric(c.sql, c.args...), c.most)
			}
			plan.walk(func(n planNode) {
				if n.Table == "submissions" || n.Table == "skips" {
					require.NotEqual(t, "Seq Scan", n.Type)
				}
			})
		})
	}
	b.claimPlan(t)
	b.crowdPlans(t)
	for _, kind := range []string{"subtask", "review"} {
		t.Run("what a former queue holds, of kind "+kind, func(t *testing.T) {
			args := []any{fmt.Sprintf("{%d}", b.PipelineID), fmt.Sprintf("{%d}", b.OrgID), "{" + kind + "}"}
			readsFew(t, b.explainKept(store.KeepPlanSQL, store.HoldsSQL, args...), 3)
		})
	}
	// Tasks that ended while they were held say so for good.
	b.exec(`UPDATE tasks SET held = true, status = 'failed' WHERE id % 20 = 3`)
	b.exec(`ANALYZE tasks`)
	t.Run("queue beside many that ended on hold", func(t *testing.T) {
		readsFew(t, b.explainKept(store.KeepPlanSQL, store.CountQueueSQL, b.queueArgs(b.Contributors[0], "review")...), 400)
	})
	b.oldHand(t, ada, tasks/authors)
}

// oldHand asserts that what somebody ever handed in, so many, is counted so far and no
// further, and gone through to its end for the one that is from another pipeline.
func (b *bench) oldHand(t *testing.T, user int64, submissions int) {
	t.Helper()
	t.Run("total", func(t *testing.T) {
		readsFew(t, b.explainKept(store.KeepPlanSQL, store.TotalSQL, user, fmt.Sprintf("{%d}", b.OrgID)), store.TotalMost+100)
		p, err := b.Store.Progress(t.Context(), user, 0)
		require.NoError(t, err)
		require.Equal(t, store.TotalMost, p.Total)
	})
	t.Run("a history to its end", func(t *testing.T) {
		d := dbtest.Definition()
		d.Name = "Another"
		other, version := b.AddPipeline(t, d, store.StatusActive)
		b.exec(`UPDATE tasks SET pipeline_id = $1, version_id = $2 WHERE id = (SELECT max(task_id) FROM submissions WHERE author = $3)`,
			other, version, user)
		var found []store.Done
		q := store.HistoryQuery{UserID: user, PipelineID: other}
		for pages, more := 0, true; more; pages++ {
			require.LessOrEqual(t, pages, submissions/store.HistoryFar)
			page := b.history(q)
			found, more, q.Before = append(found, page.Items...), page.More, page.Next
		}
		require.Len(t, found, 1)
	})
}

// claimPlan asserts that a claim is found by its task, not among all that is claimed:
// while Postgres knows of none, its index looks like the shortest way, and it is the
// longest when a snapshot keeps all claims that ever were.
func (b *bench) claimPlan(t *testing.T) {
	t.Helper()
	const claim = "00000010-0601-896b-b71b-d8cb2bed8c23"
	for name, plan := range map[string]planNode{
		"for one claim": b.explain(store.LiveClaimSQL, 1, b.Contributors[0], claim),
		"for all":       b.explainGeneric(store.LiveClaimSQL, 1, b.Contributors[0], claim),
	} {
		t.Run("live claim, planned "+name, func(t *testing.T) {
			plan.walk(func(n planNode) {
				if n.Table == "task_nodes" {
					require.Equal(t, "task_nodes_pkey", n.Index)
				}
			})
		})
	}
}

// queueArgs ask for one queue, written as Postgres writes arrays.
func (b *bench) queueArgs(user int64, kind string) []any {
	front := store.QueueFront
	return []any{
		fmt.Sprintf("{%d}", b.PipelineID), fmt.Sprintf("{%d}", b.OrgID), user, "{" + kind + "}",
		fmt.Sprintf("{%d}", front.Priority), fmt.Sprintf("{%d}", front.TaskID),
	}
}

// crowdPlans asserts that the numbers of a queue are read at a cost that does not
// grow with how many people work in the pipeline.
func (b *bench) crowdPlans(t *testing.T) {
	t.Helper()
	const crowd = 5_000
	bea := b.Contributors[1]
	b.exec(`UPDATE task_nodes n SET status = 'claimed', claim_id = gen_random_uuid(), lease_expires_at = now() + interval '30 minutes',
			claimed_by = CASE WHEN c.i <= 2 THEN $1 ELSE -c.i END
		FROM (SELECT task_id, key, row_number() OVER (ORDER BY task_id) AS i FROM task_nodes WHERE key = 'solve' ORDER BY task_id LIMIT $2) c
		WHERE n.task_id = c.task_id AND n.key = c.key`, bea, crowd)
	b.exec(`ANALYZE task_nodes`)
	args := b.queueArgs(bea, "subtask")
	for name, plan := range map[string]planNode{
		"for one person": b.explain(store.CountQueueSQL, args...),
		"for everybody":  b.explainGeneric(store.CountQueueSQL, args...),
	} {
		t.Run("queue beside a crowd, planned "+name, func(t *testing.T) { readsFew(t, plan, 3*store.CountMost) })
	}
	queues, err := b.Store.Queues(t.Context(), bea)
	require.NoError(t, err)
	require.Len(t, queues, 1)
	require.Equal(t, store.QueueCount{Available: store.CountMost, Mine: 2, ClaimedByOthers: store.CountMost}, queues[0].QueueCount)
}
