package store

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// UploadRing is an upload whose run has to be told something: to begin, or to
// stop.
type UploadRing struct {
	ID                uuid.UUID
	OrgID, PipelineID int64
	PipelineName      string
	Cancel            bool
	// Gen is what DoneUpload takes: a later ring is not undone by an earlier
	// delivery.
	Gen      int64
	Attempts int
}

// TakeUploads leases up to n uploads whose runs have to be told something. One
// whose dispatcher died is given out again after the lease.
func (s *Store) TakeUploads(ctx context.Context, n int) ([]UploadRing, error) {
	rows, _ := s.pool.Query(ctx, `WITH due AS (
			SELECT id FROM uploads WHERE ring_at <= now() ORDER BY ring_at LIMIT $1 FOR UPDATE SKIP LOCKED
		), taken AS (
			UPDATE uploads u SET ring_at = now() + $2::interval, ring_attempts = ring_attempts + 1 FROM due WHERE u.id = due.id
			RETURNING u.id, u.org_id, u.pipeline_id, u.cancel_at IS NOT NULL AS cancel, u.ring_gen, u.ring_attempts
		)
		SELECT t.id, t.org_id, t.pipeline_id, p.name, t.cancel, t.ring_gen, t.ring_attempts
		FROM taken t JOIN pipelines p ON p.id = t.pipeline_id`, n, OutboxLease)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[UploadRing])
	return out, translate(err)
}

// DoneUpload notes that the run was told what was to tell at that time.
func (s *Store) DoneUpload(ctx context.Context, id uuid.UUID, gen int64) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET ring_at = NULL, ring_attempts = 0, ring_error = '' WHERE id = $1 AND ring_gen = $2`, id, gen)
	return translate(err)
}

// RetryUpload lets the next attempt wait and notes the cause; what was rung
// meanwhile does not wait.
func (s *Store) RetryUpload(ctx context.Context, id uuid.UUID, gen int64, in time.Duration, cause string) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET ring_at = now() + $2::interval, ring_error = left($3, 500)
		WHERE id = $1 AND ring_gen = $4 AND ring_at IS NOT NULL`, id, in, strings.ReplaceAll(strings.ToValidUTF8(cause, "?"), "\x00", "?"), gen)
	return translate(err)
}

// GiveBackUpload makes an upload due at once, as if it had not been taken.
func (s *Store) GiveBackUpload(ctx context.Context, id uuid.UUID, gen int64) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET ring_at = now(), ring_attempts = greatest(ring_attempts - 1, 0)
		WHERE id = $1 AND ring_gen = $2 AND ring_at IS NOT NULL`, id, gen)
	return translate(err)
}

// RingStuckUploads tells the runs of uploads again that made no progress for a
// quarter of an hour, and returns how many: whatever was lost, a run or a
// whole Temporal cluster, they go on. It comes once in that time, for a run that
// nobody serves takes only so many signals, and is no progress. A time to come is of
// a clock that has stepped back.
func (s *Store) RingStuckUploads(ctx context.Context) (int, error) {
	tag, err := s.pool.Exec(ctx, `UPDATE uploads SET ring_at = now(), ring_gen = ring_gen + 1, rung_at = now()
		WHERE id = ANY (ARRAY(SELECT id FROM uploads WHERE status = 'processing' AND ring_at IS NULL
			AND updated_at < now() - $1::interval AND (rung_at IS NULL OR rung_at NOT BETWEEN now() - $1::interval AND now())
			ORDER BY coalesce(rung_at, updated_at) LIMIT $2 FOR UPDATE SKIP LOCKED))`, stuckAfter, healedAtOnce)
	return int(tag.RowsAffected()), translate(err)
}
