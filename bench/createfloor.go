package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// copyFloor writes what a creation writes, and nothing else happens: rows that
// lie ready go through COPY into every table, in one transaction, on one
// connection.
type copyFloor struct {
	world *world
	size  int
}

// table is one COPY.
type table struct {
	name    string
	columns []string
	rows    [][]any
}

func (f *copyFloor) sample(ctx context.Context) (float64, error) {
	// Ids and rows are made before the clock starts.
	first, err := f.world.count(ctx, `SELECT setval(pg_get_serial_sequence('tasks', 'id'),
		nextval(pg_get_serial_sequence('tasks', 'id')) + $1) - $1`, batchSize)
	if err != nil {
		return 0, err
	}
	tables := f.tables(first)
	conn, err := f.world.store.Pool().Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	began := time.Now()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, t := range tables {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
				return fmt.Errorf("copy %s: %w", t.name, err)
			}
		}
		return nil
	})
	return millisSince(began), err
}

func (f *copyFloor) tables(first int64) []table {
	w := f.world
	tasks := table{name: "tasks", columns: []string{
		"id", "org_id", "pipeline_id", "version_id", "status", "start_skipped", "n_total", "n_finished", "n_in_progress", "n_pending", "input",
	}}
	nodes := table{name: "task_nodes", columns: []string{
		"task_id", "key", "org_id", "pipeline_id", "kind", "status", "lease_seconds", "four_eyes", "sla_at", "passed",
	}}
	events := table{name: "task_events", columns: []string{"task_id", "seq", "kind", "actor"}}
	outbox := table{name: "outbox", columns: []string{"topic", "task_id", "seq", "priority"}}
	for i := range batchSize {
		id := first + int64(i)
		input, err := json.Marshal(map[string]string{"question": mathcheck.Question(i, f.size)})
		if err != nil {
			panic(err) // a map of texts can be encoded
		}
		tasks.rows = append(tasks.rows, []any{id, w.orgID, w.pipelineID, w.versionID, "pending", []string(nil), 2, 0, 1, 1, input})
		nodes.rows = append(nodes.rows,
			[]any{id, "solve", w.orgID, w.pipelineID, "subtask", "available", 1800, false, nil, false},
			[]any{id, "check", w.orgID, w.pipelineID, "review", "pending", 1800, false, nil, false})
		events.rows = append(events.rows, []any{id, int64(1), "create", w.admin})
		outbox.rows = append(outbox.rows, []any{"task_event", id, int64(1), int16(9)})
	}
	return []table{tasks, nodes, events, outbox}
}

// check keeps the floor honest: a creation and the floor must leave the same
// rows, but for ids and times, in the same tables.
func (f *copyFloor) check(ctx context.Context, ours sampler) error {
	var left [2]string
	for i, s := range []sampler{f.sample, ours} {
		if err := f.world.clear(ctx); err != nil {
			return err
		}
		if _, err := s(ctx); err != nil {
			return err
		}
		err := f.world.store.Pool().QueryRow(ctx, `WITH first AS (SELECT min(id) AS id FROM tasks)
			SELECT concat_ws(' ',
				(SELECT count(*) FROM tasks), (SELECT count(*) FROM task_nodes), (SELECT count(*) FROM task_events), (SELECT count(*) FROM outbox),
				(SELECT md5(string_agg((to_jsonb(t) - 'id' - 'created_at' - 'updated_at')::text, ' ' ORDER BY id)) FROM tasks t),
				(SELECT md5(string_agg((to_jsonb(n) - 'opened_at' || jsonb_build_object('task_id', n.task_id - first.id))::text, ' ' ORDER BY task_id, key)) FROM task_nodes n, first),
				(SELECT md5(string_agg((to_jsonb(e) - 'created_at' || jsonb_build_object('task_id', e.task_id - first.id))::text, ' ' ORDER BY task_id, seq)) FROM task_events e, first),
				(SELECT md5(string_agg((to_jsonb(o) - 'id' - 'created_at' - 'next_attempt_at' || jsonb_build_object('task_id', o.task_id - first.id))::text, ' ' ORDER BY task_id, seq)) FROM outbox o, first))`,
		).Scan(&left[i])
		if err != nil {
			return err
		}
	}
	if left[0] != left[1] {
		return fmt.Errorf("the floor writes other rows than the product: %s and %s; bring it in line", left[0], left[1])
	}
	return nil
}
