package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bareClaims is the queue that everybody writes first: one table, SKIP LOCKED
// and an update. It has no lease and no recovery.
type bareClaims struct {
	pulled

	db   *database
	pool *pgxpool.Pool
}

const bareTable = `CREATE TABLE jobs (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	status text NOT NULL DEFAULT 'ready',
	claimed_at timestamptz,
	payload jsonb NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX jobs_ready ON jobs (id) WHERE status = 'ready'`

func bareClaimContender(clients int) *claimContender {
	return &claimContender{
		in: info{
			Name: "bare statement", Version: "pgx " + moduleVersion("github.com/jackc/pgx/v5"), Contract: "bare", Uses: []string{partPostgres},
		},
		clients: clients,
		open: func(ctx context.Context, r *room) (claimQueue, error) {
			db, err := r.newDatabase(ctx, nil)
			if err != nil {
				return nil, err
			}
			q := &bareClaims{db: db}
			q.claimer = q
			if err := execURL(ctx, db.url, bareTable); err != nil {
				return q, err
			}
			if q.pool, err = newPool(ctx, db.url); err != nil {
				return q, err
			}
			_, err = q.pool.CopyFrom(ctx, pgx.Identifier{"jobs"}, []string{"payload"},
				pgx.CopyFromSlice(r.items, func(i int) ([]any, error) { return []any{itemJSON(i, r.payload)}, nil }))
			if err != nil {
				return q, err
			}
			return q, settle(ctx, db.url)
		},
	}
}

func (q *bareClaims) claim(ctx context.Context, _ int) (string, string, error) {
	var id int64
	var payload []byte
	err := q.pool.QueryRow(ctx, `UPDATE jobs SET status = 'claimed', claimed_at = now() WHERE id = (
		SELECT id FROM jobs WHERE status = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload`).Scan(&id, &payload)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errEmpty
	}
	return strconv.FormatInt(id, 10), "", err
}

func (q *bareClaims) finish(ctx context.Context, _ int, id, _ string) error {
	_, err := q.pool.Exec(ctx, `UPDATE jobs SET status = 'done' WHERE id = $1::text::bigint AND status = 'claimed'`, id)
	return err
}

func (q *bareClaims) finished(ctx context.Context) (n int64, err error) {
	return countURL(ctx, q.db.url, `SELECT count(*) FROM jobs WHERE status = 'done'`)
}

func (q *bareClaims) databaseURL() string { return q.db.url }

func (q *bareClaims) children() []*child { return nil }

func (q *bareClaims) end(r *room) {
	if q.pool != nil {
		q.pool.Close()
	}
	r.drop(q.db)
}
