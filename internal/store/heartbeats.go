package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// beatSQL takes %s as the backend whose end tells that the worker died: a
// worker that is killed loses its connection at once, long before it is missed.
const beatSQL = `
	WITH forgotten AS (DELETE FROM worker_heartbeats WHERE at < now() - interval '1 day' AND worker_id <> $1)
	INSERT INTO worker_heartbeats (worker_id, queues, temporal_ok, backend_pid) VALUES ($1, coalesce($2, '{}'::text[]), $3, %s)
	ON CONFLICT (worker_id) DO UPDATE SET queues = excluded.queues, temporal_ok = excluded.temporal_ok,
		backend_pid = excluded.backend_pid, at = now()`

var (
	beatOfPulse = fmt.Sprintf(beatSQL, "pg_backend_pid()")
	beatOfPool  = fmt.Sprintf(beatSQL, "NULL::int")
)

// Beat notes that a worker is alive, which task queues it serves, and whether
// it reaches Temporal. Workers that have been silent for a day are forgotten.
func (s *Store) Beat(ctx context.Context, workerID string, queues []string, temporalOK bool) error {
	if _, err := s.pool.Exec(ctx, beatOfPool, workerID, queues, temporalOK); err != nil {
		return translate(fmt.Errorf("write heartbeat: %w", err))
	}
	return nil
}

// DropBeat notes that a worker stopped on purpose.
func (s *Store) DropBeat(ctx context.Context, workerID string) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM worker_heartbeats WHERE worker_id = $1`, workerID); err != nil {
		return translate(fmt.Errorf("delete heartbeat: %w", err))
	}
	return nil
}

// Pulse is the heartbeat of a worker over a connection of its own, which ends
// with the process, however that ends. It is for one goroutine.
type Pulse struct {
	store    *Store
	workerID string
	conn     *pgx.Conn // nil while it is broken
}

// Pulse makes the heartbeat of a worker. It connects with the first beat.
func (s *Store) Pulse(workerID string) *Pulse { return &Pulse{store: s, workerID: workerID} }

// Beat is Store.Beat over the pulse's connection. A connection that broke is
// made anew by the next beat.
func (p *Pulse) Beat(ctx context.Context, queues []string, temporalOK bool) error {
	if p.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, p.store.pool.Config().ConnConfig)
		if err != nil {
			return translate(fmt.Errorf("connect heartbeat: %w", err))
		}
		p.conn = conn
	}
	if _, err := p.conn.Exec(ctx, beatOfPulse, p.workerID, queues, temporalOK); err != nil {
		p.hangUp(ctx)
		return translate(fmt.Errorf("write heartbeat: %w", err))
	}
	return nil
}

// Stop takes the heartbeat away and ends its connection.
func (p *Pulse) Stop(ctx context.Context) error {
	p.hangUp(ctx)
	return p.store.DropBeat(ctx, p.workerID)
}

func (p *Pulse) hangUp(ctx context.Context) {
	if p.conn != nil {
		_ = p.conn.Close(ctx) // it is of no more use, one way or the other
		p.conn = nil
	}
}

// heardSQL tells of heartbeats h that their workers were heard within an interval, in
// SQL, and still hold their connection. One that was heard later than now was heard
// before the clock stepped back. now() is the beginning of the transaction, so a long
// one needs a snapshot of that time, or misses who is heard since.
func heardSQL(within string) string {
	return `h.at > now() - ` + within + ` AND h.at < now() + ` + within + ` AND (h.backend_pid IS NULL OR EXISTS (
			SELECT 1 FROM pg_stat_activity a WHERE a.pid = h.backend_pid AND a.datname = current_database()))`
}

var workersAliveSQL = `SELECT count(*) FROM worker_heartbeats h WHERE $1 = ANY (h.queues) AND h.temporal_ok AND ` + heardSQL("$2::interval")

// WorkersAlive counts the workers of a task queue that were heard within the
// time, still hold their connection, and reach Temporal.
func (s *Store) WorkersAlive(ctx context.Context, queue string, within time.Duration) (int, error) {
	var n int
	if err := s.pool.QueryRow(ctx, workersAliveSQL, queue, within).Scan(&n); err != nil {
		return 0, translate(fmt.Errorf("count workers: %w", err))
	}
	return n, nil
}
