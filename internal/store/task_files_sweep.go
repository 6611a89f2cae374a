package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TaskFileLeft is a file of which objects may be left that nobody needs.
type TaskFileLeft struct {
	ID    uuid.UUID
	OrgID int64
	// Keys are the objects to delete.
	Keys []string
	// Copies begins the keys of all copies that were made of what was put, Kept is
	// the one that is the file, if any. The others are to be deleted, too: whoever
	// made them died before it noted, or deleted, them.
	Copies, Kept string
	// Gone says that the file itself is given up, not only what the browser put.
	Gone      bool
	CreatedAt time.Time
}

// How long after its beginning an upload is over, its address having expired
// long ago: it is not completed any more. The sweep comes when a completion that
// was under way at that moment is over as well, or it would take the copy that
// becomes the file. And how long a file that is in no submission waits for one. A
// draft keeps its person's files for as long as it can be handed in: what is finished
// is never opened again.
const (
	taskFileUpload = `interval '1 day'`
	taskFileSwept  = `interval '25 hours'`
	taskFileKept   = `interval '30 days'`
)

// TaskFilesToSweep returns uploads of people that are over: the object that the
// browser put is then of no use, nor is the file when it was never completed or
// never submitted. They come behind the given one, the zero TaskFileLeft being before
// all.
func (s *Store) TaskFilesToSweep(ctx context.Context, after TaskFileLeft, limit int) ([]TaskFileLeft, error) {
	// Given up first, so that no submission can name it while its object goes.
	_, err := s.pool.Exec(ctx, `UPDATE task_files SET completed_at = NULL, swept = false WHERE id IN (
			SELECT f.id FROM task_files f WHERE NOT f.submitted AND f.completed_at < now() - `+taskFileKept+`
				AND f.created_at < now() - `+taskFileKept+` AND NOT EXISTS (SELECT 1 FROM drafts d
					LEFT JOIN tasks t ON t.id = d.task_id LEFT JOIN task_nodes n ON n.task_id = d.task_id AND n.key = d.node_key
					WHERE d.task_id = f.task_id AND d.node_key = f.node_key AND d.user_id = f.user_id
						AND coalesce(t.status NOT IN ('finished', 'failed') AND n.status <> 'finished', true))
			ORDER BY f.created_at LIMIT $1 FOR UPDATE SKIP LOCKED) AND NOT submitted`, limit)
	if err != nil {
		return nil, translate(err)
	}
	rows, _ := s.pool.Query(ctx, `SELECT id, org_id, CASE WHEN completed_at IS NULL AND object_key IS NOT NULL
			THEN ARRAY[upload_key, object_key] ELSE ARRAY[upload_key] END, `+taskFileCopies+`,
			CASE WHEN completed_at IS NULL THEN '' ELSE object_key END, completed_at IS NULL, created_at
		FROM task_files WHERE NOT swept AND created_at < now() - `+taskFileSwept+` AND (created_at, id) > ($1, $2)
		ORDER BY created_at, id LIMIT $3`, after.CreatedAt, after.ID, limit)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[TaskFileLeft])
	return out, translate(err)
}

// SweptTaskFile notes that the objects are deleted.
func (s *Store) SweptTaskFile(ctx context.Context, f TaskFileLeft) error {
	sql := `UPDATE task_files SET swept = true WHERE id = $1 AND org_id = $2`
	if f.Gone {
		sql = `DELETE FROM task_files WHERE id = $1 AND org_id = $2 AND completed_at IS NULL`
	}
	_, err := s.pool.Exec(ctx, sql, f.ID, f.OrgID)
	return translate(err)
}
