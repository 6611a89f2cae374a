package mathcheck

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Place is where tasks are put, and who is said to have made and claimed them.
type Place struct {
	Org, Pipeline, Version, Actor int64
	// Holders are the people who hold what is claimed; the Actor when there are
	// none.
	Holders []int64
}

// Mix is how many tasks are not finished: in a large pipeline a few, however
// many there are, since people work on one each.
type Mix struct {
	// Free are new, and their first node can be claimed.
	Free int
	// Claimed are being worked on, Escalated wait for an admin.
	Claimed, Escalated int
}

// Usual is the mix of a pipeline of n tasks that people keep up with: at most 20,000
// are free, a third of a day's work (54,720), and 500 claimed and 500 escalated.
func Usual(n int) Mix {
	const free, few = 20_000, 500
	return Mix{Free: min(free, n/10), Claimed: min(few, n/20), Escalated: min(few, n/20)}
}

// within is the mix of n tasks, which may be too few for it.
func (m Mix) within(n int) Mix {
	m.Claimed = min(m.Claimed, n)
	m.Escalated = min(m.Escalated, n-m.Claimed)
	m.Free = min(m.Free, n-m.Claimed-m.Escalated)
	return m
}

// open is how many are not finished.
func (m Mix) open() int { return m.Free + m.Claimed + m.Escalated }

// chunk is how many tasks one statement makes: it bounds what a transaction
// holds, whatever the size of the whole.
const chunk = 1_000_000

// Fill makes n tasks in the usual mix.
func Fill(ctx context.Context, pool *pgxpool.Pool, at Place, n int) error {
	return FillMix(ctx, pool, at, n, Usual(n))
}

// FillNew makes n tasks that nobody has touched, all to be claimed.
func FillNew(ctx context.Context, pool *pgxpool.Pool, at Place, n int) error {
	return FillMix(ctx, pool, at, n, Mix{Free: n})
}

// FillMix makes n tasks of 650 B, all finished but those of the mix, each with
// its nodes and the journal row of its creation. The oldest are as likely to be
// open as the newest. Postgres makes the rows itself, without the product: there
// are no runs of them until they are claimed.
func FillMix(ctx context.Context, pool *pgxpool.Pool, at Place, n int, m Mix) error {
	f := filling{pool: pool, at: at, all: n, mix: m.within(n)}
	for from := 1; from <= n; from += chunk {
		if err := f.chunk(ctx, from, min(n, from+chunk-1)); err != nil {
			return err
		}
	}
	_, err := pool.Exec(ctx, `VACUUM (ANALYZE) tasks, task_nodes, task_events`)
	return err
}

// filling is one pipeline that is being filled.
type filling struct {
	pool *pgxpool.Pool
	at   Place
	all  int
	mix  Mix
}

// tasksSQL makes the tasks from number $5 to $6 of $8, of which $7 are open, at
// equal distances. Of these, $9 are claimed and $10 escalated: multiplying by a
// prime puts them into another order, so that they lie among the others
// everywhere.
const tasksSQL = `INSERT INTO tasks (org_id, pipeline_id, version_id, status, touched, n_total, n_finished, n_in_progress, n_pending, input)
	SELECT $1, $2, $3, s, s <> 'pending', 2, CASE s WHEN 'finished' THEN 2 ELSE 0 END, CASE s WHEN 'finished' THEN 0 ELSE 1 END,
		CASE s WHEN 'finished' THEN 0 ELSE 1 END, jsonb_build_object('question', i || $4::text)
	FROM generate_series($5::bigint, $6::bigint) i
		CROSS JOIN LATERAL (SELECT i * $7::bigint / $8::bigint AS number) o
		CROSS JOIN LATERAL (SELECT CASE WHEN o.number = (i - 1) * $7::bigint / $8::bigint THEN 'finished'
			WHEN o.number * 2654435761 % $7::bigint < $9::bigint THEN 'in_progress'
			WHEN o.number * 2654435761 % $7::bigint < $9::bigint + $10::bigint THEN 'escalated' ELSE 'pending' END AS s) l`

// nodesSQL makes the nodes of all tasks after $4. Who holds one of them is drawn
// from its task's id.
const nodesSQL = `INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, claim_id, claimed_by, lease_expires_at)
	SELECT id, key, $1, $2, kind, s, CASE WHEN s = 'claimed' THEN gen_random_uuid() END,
		CASE WHEN s = 'claimed' THEN ($3::bigint[])[(1 + (hashint8extended(id, 0) & 2147483647) % cardinality($3::bigint[]))::int] END,
		CASE WHEN s = 'claimed' THEN now() + interval '1 day' END
	FROM tasks CROSS JOIN (VALUES ('solve', 'subtask'), ('check', 'review')) AS v(key, kind)
		CROSS JOIN LATERAL (SELECT CASE WHEN status = 'finished' THEN 'finished' WHEN key = 'check' THEN 'pending'
			WHEN status = 'escalated' THEN 'escalated' WHEN status = 'in_progress' THEN 'claimed' ELSE 'available' END AS s) l
	WHERE id > $4 AND pipeline_id = $2 ORDER BY id`

func (f filling) chunk(ctx context.Context, from, to int) error {
	var last int64
	if err := f.pool.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM tasks`).Scan(&last); err != nil {
		return err
	}
	at, holders := f.at, f.at.Holders
	if len(holders) == 0 {
		holders = []int64{at.Actor}
	}
	if _, err := f.pool.Exec(ctx, tasksSQL, at.Org, at.Pipeline, at.Version, Question(0, Small), from, to,
		f.mix.open(), f.all, f.mix.Claimed, f.mix.Escalated); err != nil {
		return err
	}
	if _, err := f.pool.Exec(ctx, nodesSQL, at.Org, at.Pipeline, holders, last); err != nil {
		return err
	}
	_, err := f.pool.Exec(ctx, `INSERT INTO task_events (task_id, seq, kind, actor) SELECT id, 1, 'create', $1 FROM tasks
		WHERE id > $2 AND pipeline_id = $3 ORDER BY id`, at.Actor, last, at.Pipeline)
	return err
}
