package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
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
			readsFew(t, b.explain(sql, args...), 40)
			readsFew(t, b.explainGeneric(sql, args...), 40)
		})
	}
}

// A plan is kept for as long as a connection lives. One that was made when
// nothing was in the outbox must do for a full one: what is done by the store
// itself reads few rows, on a connection that has done it before.
func TestPlansOfAnEmptyOutboxServeAFullOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	one, err := store.Open(ctx, b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(one.Close)
	m, ids := b.member(b.Contributors[0]), b.create(20)
	act := func() { // everything that writes to the outbox while people work
		c, err := one.ClaimNext(ctx, m, pipeline.KindSubtask)
		require.NoError(t, err)
		_, err = one.Submit(ctx, m.UserID, c.ID, raw(`{"answer":"42","sure":true}`))
		require.NoError(t, err)
		got, err := one.TakeOutbox(ctx, 1, store.UrgencyHanded)
		require.NoError(t, err)
		require.Len(t, got, 1)
		_, err = one.TakeOutbox(ctx, 1, store.UrgencyCreated)
		require.NoError(t, err)
		_, err = one.StepsBehind(ctx)
		require.NoError(t, err)
		require.NoError(t, one.GiveBackOutbox(ctx, []int64{got[0].ID}))
		require.NoError(t, one.RetryOutbox(ctx, got[0].ID, 0, "later"))
		require.NoError(t, one.DoneOutbox(ctx, got))
	}
	fill := func(n int) {
		b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
			SELECT 'task_event', $1, (SELECT coalesce(max(seq), 100) FROM outbox) + i, 9, now() + interval '1 hour'
			FROM generate_series(1, $2::int) i`, ids[19], n)
	}
	b.exec(`ALTER TABLE outbox SET (autovacuum_enabled = off)`) // it would have the plans made anew
	_, err = one.Pool().Exec(ctx, `DELETE FROM outbox`)         // where its reads are counted at once
	require.NoError(t, err)
	fill(1)
	for range 7 { // Postgres keeps a plan from the sixth time on
		b.exec(`VACUUM (ANALYZE) outbox`) // and makes it anew after this, by what there is
		act()
	}
	const full = 5000
	fill(full)
	before := b.outboxReads(one)
	act()
	require.Less(t, b.outboxReads(one)-before, int64(full), "no statement reads the outbox whole")
}

// outboxReads is how many rows and index entries of the outbox were read until now
// on this connection. Others tell what they read when they please, a second late or
// ten: what reads many rows between two counts must do it here.
func (b *bench) outboxReads(one *store.Store) (rows int64) {
	b.t.Helper()
	_, err := one.Pool().Exec(b.t.Context(), `SELECT pg_stat_force_next_flush()`)
	require.NoError(b.t, err)
	require.NoError(b.t, b.Store.Pool().QueryRow(b.t.Context(), `SELECT max(t.seq_tup_read) + sum(i.idx_tup_read)::bigint
		FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid) WHERE t.relname = 'outbox'`).Scan(&rows))
	return rows
}

// After an outage thousands of rows are due, two for each task that was claimed and
// handed in: who takes some reads those, and passes over the others' claims once.
func TestTakingSomeReadsFewAfterAnOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	one, err := store.Open(ctx, b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(one.Close)
	const tasks, some = 3000, 16
	ids := b.create(tasks)
	b.exec(`ALTER TABLE outbox SET (autovacuum_enabled = off)`) // it would have the plans made anew
	_, err = one.Pool().Exec(ctx, `DELETE FROM outbox`)         // where its reads are counted at once
	require.NoError(t, err)
	take := func(u store.Urgency, want int) {
		got, err := one.TakeOutbox(ctx, some, u)
		require.NoError(t, err)
		require.Len(t, got, want)
		require.NoError(t, one.DoneOutbox(ctx, got))
	}
	take(store.UrgencyHanded, 0) // plans are made now, and kept
	take(store.UrgencyClaimed, 0)
	b.exec(`INSERT INTO task_events (task_id, seq, kind)
		SELECT id, seq, CASE seq WHEN 2 THEN 'claim' ELSE 'submit' END FROM unnest($1::bigint[]) id, generate_series(2, 3) seq`, ids)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
		SELECT 'task_event', id, seq, CASE seq WHEN 2 THEN $2::int ELSE 0 END, now() - $3::int * interval '1 ms' + n * interval '1 ms'
		FROM unnest($1::bigint[]) WITH ORDINALITY AS t (id, n), generate_series(2, 3) seq ORDER BY n, seq`,
		ids[1:], store.UrgencyClaimed, tasks)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_event', $1, 2, $2)`, ids[0], store.UrgencyClaimed)

	before := b.outboxReads(one)
	take(store.UrgencyHanded, some)
	require.Less(t, b.outboxReads(one)-before, int64(tasks/2))

	for done := false; !done; { // the one claim that stands for itself is the last of all
		got, err := one.TakeOutbox(ctx, some, store.UrgencyClaimed)
		require.NoError(t, err)
		require.NoError(t, one.DoneOutbox(ctx, got))
		if done = len(got) > 0; done {
			require.Equal(t, ids[0], got[0].TaskID)
		}
	}
	for range tasks / 128 {
		take(store.UrgencyClaimed, 0)
	}
	b.exec(`VACUUM outbox`)
	before = b.outboxReads(one)
	take(store.UrgencyClaimed, 0)
	require.Less(t, b.outboxReads(one)-before, int64(tasks/2))
	var claims, handed int
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT count(*) FILTER (WHERE priority = $1), count(*) FILTER (WHERE priority = 0) FROM outbox`,
		store.UrgencyClaimed).Scan(&claims, &handed))
	require.Zero(t, claims)
	require.Equal(t, tasks-1-some, handed, "nothing else is gone")
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
		"node": {Node: "solve"}, "no such node": {Node: "nope"}, "one": {ID: 4711}, "nobody": {Person: 987654},
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
