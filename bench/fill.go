package main

import (
	"context"
	"fmt"
)

// largeWorld is the world whose pipeline holds many tasks, made when it is
// first asked for.
func (b *bench) largeWorld(ctx context.Context) (*world, error) {
	if b.large != nil {
		return b.large, nil
	}
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return nil, err
	}
	b.say("  filling a pipeline with %d tasks", b.tasks)
	if err := w.fill(ctx, b.tasks); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	b.large = w
	return w, nil
}

// fill makes n tasks of 650 B, of ten: seven finished, one being worked on, one
// escalated and one new, each with its nodes and the journal row of its
// creation. The oldest are as likely to be open as the newest.
func (w *world) fill(ctx context.Context, n int) error {
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{
			`INSERT INTO tasks (org_id, pipeline_id, version_id, status, touched, n_total, n_finished, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, s, s <> 'pending', 2, CASE s WHEN 'finished' THEN 2 ELSE 0 END, CASE s WHEN 'finished' THEN 0 ELSE 1 END,
			CASE s WHEN 'finished' THEN 0 ELSE 1 END, jsonb_build_object('question', i || $5::text)
		FROM generate_series(1, $4::int) i
			CROSS JOIN LATERAL (SELECT coalesce((ARRAY['pending', 'in_progress', 'escalated'])[1 + i % 10], 'finished') AS s) l`,
			[]any{w.orgID, w.pipelineID, w.versionID, n, question(0, smallTask)},
		},
		{`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, claim_id, claimed_by, lease_expires_at)
		SELECT id, key, $1, $2, kind, s, CASE WHEN s = 'claimed' THEN gen_random_uuid() END, CASE WHEN s = 'claimed' THEN $3::bigint END,
			CASE WHEN s = 'claimed' THEN now() + interval '1 day' END
		FROM tasks CROSS JOIN (VALUES ('solve', 'subtask'), ('check', 'review')) AS v(key, kind)
			CROSS JOIN LATERAL (SELECT CASE WHEN status = 'finished' THEN 'finished' WHEN key = 'check' THEN 'pending'
				WHEN status = 'escalated' THEN 'escalated' WHEN status = 'in_progress' THEN 'claimed' ELSE 'available' END AS s) l
		ORDER BY id`, []any{w.orgID, w.pipelineID, w.admin}},
		{`INSERT INTO task_events (task_id, seq, kind, actor) SELECT id, 1, 'create', $1 FROM tasks ORDER BY id`, []any{w.admin}},
	} {
		if err := w.exec(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return w.exec(ctx, `VACUUM (ANALYZE) tasks, task_nodes, task_events`)
}

// fillNew adds n tasks that nobody has touched, all to be claimed.
func (w *world) fillNew(ctx context.Context, n int) error {
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{
			`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, 2, 1, 1, jsonb_build_object('question', i || $5::text) FROM generate_series(1, $4::int) i`,
			[]any{w.orgID, w.pipelineID, w.versionID, n, question(0, smallTask)},
		},
		{`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, key, $1, $2, kind, s FROM tasks CROSS JOIN (VALUES ('solve', 'subtask', 'available'), ('check', 'review', 'pending')) AS v(key, kind, s)
		ORDER BY id`, []any{w.orgID, w.pipelineID}},
		{`INSERT INTO task_events (task_id, seq, kind, actor) SELECT id, 1, 'create', $1 FROM tasks ORDER BY id`, []any{w.admin}},
		{`VACUUM (ANALYZE) tasks, task_nodes, task_events`, nil},
	} {
		if err := w.exec(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return nil
}
