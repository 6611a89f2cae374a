package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestClaimsReadFewOfAQueueOfAnyLength asserts that a claim, and the numbers of a
// queue, read what they return and not the queue, whether few, hundreds or thousands
// are free in it. What Postgres expects differs with the length, and so would its plan.
func TestClaimsReadFewOfAQueueOfAnyLength(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, table := range []string{"tasks", "task_nodes"} {
		b.exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = off)`)
	}
	made := 0
	for _, length := range []int{20, 100, 500, 1000, 2000, 5000} {
		b.create(length - made)
		made = length
		for _, finished := range []int{0, 3, 2} { // one in so many
			if finished > 0 {
				b.exec(`UPDATE task_nodes SET status = 'finished' WHERE key = 'solve' AND task_id % $1 = 0`, finished)
			}
			b.exec(`VACUUM (ANALYZE) tasks, task_nodes`)
			t.Run(fmt.Sprintf("%d tasks, one in %d done", length, finished), func(t *testing.T) {
				claim := []any{b.PipelineID, b.OrgID, b.Contributors[0], pipeline.KindSubtask, store.ClaimTail()}
				readsFew(t, b.explainKept(store.KeepPlanSQL, store.ClaimLapsedSQL, claim...), 20)
				readsFew(t, b.explainKept(store.KeepPlanSQL, store.PassedOverSQL, claim[:4]...), 100)
				claim = append(claim, store.QueueFront.Priority, store.QueueFront.TaskID)
				readsFew(t, b.explainKept(store.KeepPlanSQL, store.ClaimFreshSQL, claim...), 20)
				readsFew(t, b.explainKept(store.KeepPlanSQL, store.CountQueueSQL, fmt.Sprintf("{%d}", b.PipelineID), fmt.Sprintf("{%d}", b.OrgID),
					b.Contributors[0], "{subtask}", fmt.Sprintf("{%d}", store.QueueFront.Priority), fmt.Sprintf("{%d}", store.QueueFront.TaskID)), 1.5*store.CountMost)
			})
		}
		b.exec(`UPDATE task_nodes SET status = 'available' WHERE key = 'solve'`)
	}
}

// TestPlansOfAFewTasksServeThousands claims by plans that were made when there
// were a few tasks, as a new installation does until Postgres has counted.
func TestPlansOfAFewTasksServeThousands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, table := range []string{"tasks", "task_nodes"} {
		b.exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = off)`)
	}
	ctx := t.Context()
	one, m := b.oneConnection(), b.member(b.Contributors[0])
	claim := func() *store.Claim {
		c, err := one.ClaimNext(ctx, m, pipeline.KindSubtask)
		require.NoError(t, err)
		return c
	}
	b.create(100)
	b.exec(`VACUUM (ANALYZE) tasks, task_nodes`)
	require.NotNil(t, claim())
	const many = 5000
	ids := b.create(many)
	_, err := one.Pool().Exec(ctx, `UPDATE task_nodes SET status = 'finished' WHERE task_id <= $1 AND status = 'available'`, ids[many/2])
	require.NoError(t, err)
	// Dead nodes are no part of it: who drops a database beside this test has Postgres keep them.
	rows := func() (n int64) {
		_, err := one.Pool().Exec(ctx, `SELECT pg_stat_force_next_flush()`)
		require.NoError(t, err)
		require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT sum(seq_tup_read + idx_tup_fetch)::bigint
			FROM pg_stat_user_tables WHERE relname IN ('tasks', 'task_nodes')`).Scan(&n))
		return n
	}
	before := rows()
	require.Greater(t, claim().TaskID, ids[many/2])
	require.Less(t, rows()-before, int64(100))
}
