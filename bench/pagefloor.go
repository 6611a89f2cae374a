package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// pageFloor is the page's query on a connection of its own, prepared, with its
// rows read into structs: no HTTP, no key, no JSON.
type pageFloor struct {
	world  *world
	status string
	before int64
	conn   *pgx.Conn
	took   []float64
}

// pageRow is what an answer tells of a task.
type pageRow struct {
	id                                   int64
	status                               string
	total, finished, inProgress, pending int
	createdAt, updatedAt                 time.Time
}

func (f *pageFloor) connect(ctx context.Context) (err error) {
	f.conn, err = pgx.Connect(ctx, f.world.url)
	return err
}

func (f *pageFloor) close(ctx context.Context) { _ = f.conn.Close(ctx) } // nothing to save

func (f *pageFloor) page(ctx context.Context) ([]pageRow, error) {
	const columns = `SELECT id, status, n_total, n_finished, n_in_progress, n_pending, created_at, updated_at FROM tasks
		WHERE pipeline_id = $1 AND org_id = $2 AND `
	before := f.before
	if before == 0 {
		before = 1<<63 - 1
	}
	sql, args := columns+`id < $3 ORDER BY id DESC LIMIT $4`, []any{f.world.pipelineID, f.world.orgID, before, pageSize + 1}
	if f.status != "" {
		sql, args = columns+`-id > -$3::bigint AND status = $5 ORDER BY -id LIMIT $4`, append(args, f.status)
	}
	rows, _ := f.conn.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pageRow, error) {
		var r pageRow
		err := row.Scan(&r.id, &r.status, &r.total, &r.finished, &r.inProgress, &r.pending, &r.createdAt, &r.updatedAt)
		return r, err
	})
}

func (f *pageFloor) sample(ctx context.Context) (float64, error) {
	took := make([]float64, pagesPerSample)
	for i := range took {
		began := time.Now()
		if _, err := f.page(ctx); err != nil {
			return 0, err
		}
		took[i] = millisSince(began)
	}
	f.took = append(f.took, took...)
	return percentile(took, 50), nil
}
