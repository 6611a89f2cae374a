package mathcheck

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Place is where tasks are put, and who is said to have made and claimed them.
type Place struct {
	Org, Pipeline, Version, Actor int64
}

// chunk is how many tasks one statement makes: it bounds what a transaction
// holds, whatever the size of the whole.
const chunk = 1_000_000

// Fill makes n tasks of 650 B, of ten: seven finished, one being worked on, one
// escalated and one new, each with its nodes and the journal row of its
// creation. The oldest are as likely to be open as the newest. Postgres makes
// the rows itself, without the product: there are no runs of them until they
// are claimed.
func Fill(ctx context.Context, pool *pgxpool.Pool, at Place, n int) error {
	return fill(ctx, pool, at, n, `INSERT INTO tasks (org_id, pipeline_id, version_id, status, touched, n_total, n_finished, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, s, s <> 'pending', 2, CASE s WHEN 'finished' THEN 2 ELSE 0 END, CASE s WHEN 'finished' THEN 0 ELSE 1 END,
			CASE s WHEN 'finished' THEN 0 ELSE 1 END, jsonb_build_object('question', i || $5::text)
		FROM generate_series(1, $4::int) i
			CROSS JOIN LATERAL (SELECT coalesce((ARRAY['pending', 'in_progress', 'escalated'])[1 + i % 10], 'finished') AS s) l`)
}

// FillNew makes n tasks that nobody has touched, all to be claimed.
func FillNew(ctx context.Context, pool *pgxpool.Pool, at Place, n int) error {
	return fill(ctx, pool, at, n, `INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_in_progress, n_pending, input)
		SELECT $1, $2, $3, 2, 1, 1, jsonb_build_object('question', i || $5::text) FROM generate_series(1, $4::int) i`)
}

func fill(ctx context.Context, pool *pgxpool.Pool, at Place, n int, tasks string) error {
	for n > 0 {
		step := min(n, chunk)
		n -= step
		if err := fillChunk(ctx, pool, at, step, tasks); err != nil {
			return err
		}
	}
	_, err := pool.Exec(ctx, `VACUUM (ANALYZE) tasks, task_nodes, task_events`)
	return err
}

func fillChunk(ctx context.Context, pool *pgxpool.Pool, at Place, n int, tasks string) error {
	var last int64
	if err := pool.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM tasks`).Scan(&last); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, tasks, at.Org, at.Pipeline, at.Version, n, Question(0, Small)); err != nil {
		return err
	}
	_, err := pool.Exec(ctx, `INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, claim_id, claimed_by, lease_expires_at)
		SELECT id, key, $1, $2, kind, s, CASE WHEN s = 'claimed' THEN gen_random_uuid() END, CASE WHEN s = 'claimed' THEN $3::bigint END,
			CASE WHEN s = 'claimed' THEN now() + interval '1 day' END
		FROM tasks CROSS JOIN (VALUES ('solve', 'subtask'), ('check', 'review')) AS v(key, kind)
			CROSS JOIN LATERAL (SELECT CASE WHEN status = 'finished' THEN 'finished' WHEN key = 'check' THEN 'pending'
				WHEN status = 'escalated' THEN 'escalated' WHEN status = 'in_progress' THEN 'claimed' ELSE 'available' END AS s) l
		WHERE id > $4 AND pipeline_id = $2 ORDER BY id`, at.Org, at.Pipeline, at.Actor, last)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `INSERT INTO task_events (task_id, seq, kind, actor) SELECT id, 1, 'create', $1 FROM tasks
		WHERE id > $2 AND pipeline_id = $3 ORDER BY id`, at.Actor, last, at.Pipeline)
	return err
}
