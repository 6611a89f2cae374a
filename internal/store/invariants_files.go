package store

import (
	"cmp"
	"context"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ReferencedFiles returns files whose objects must be in the object store, in
// the order of their ids, from the one after: those of uploads first, those that
// people uploaded, with peoples. None at the end. Patience bounds this question
// as CheckOptions.Patience does those of a check, and the questions below.
func (s *Store) ReferencedFiles(ctx context.Context, patience time.Duration, peoples bool, after uuid.UUID, limit int) ([]File, error) {
	sql := `SELECT id, org_id, object_key, name, size, sha256, content_type FROM files WHERE id > $1 ORDER BY id LIMIT $2`
	if peoples {
		sql = `SELECT ` + taskFileColumns + ` FROM task_files WHERE id > $1 AND completed_at IS NOT NULL ORDER BY id LIMIT $2`
	}
	var out []File
	err := s.snapshot(ctx, cmp.Or(patience, wholeTimeout), func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, sql, after, limit)
		out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[File])
		return err
	})
	return out, translate(err)
}

// StillReferenced reports whether a row that ReferencedFiles returned is still
// there and names the same object. One that was given up since needs none: a sweep
// gives it up before it deletes the object.
func (s *Store) StillReferenced(ctx context.Context, patience time.Duration, peoples bool, f File) (still bool, err error) {
	sql := `SELECT EXISTS (SELECT FROM files WHERE id = $1 AND org_id = $2 AND object_key = $3)`
	if peoples {
		sql = `SELECT EXISTS (SELECT FROM task_files WHERE id = $1 AND org_id = $2 AND object_key = $3 AND completed_at IS NOT NULL)`
	}
	err = s.snapshot(ctx, cmp.Or(patience, wholeTimeout), func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sql, f.ID, f.OrgID, f.Key).Scan(&still)
	})
	return still, translate(err)
}

// CountReferencedFiles says how many files ReferencedFiles returns in all.
func (s *Store) CountReferencedFiles(ctx context.Context, patience time.Duration) (n int64, err error) {
	err = s.snapshot(ctx, cmp.Or(patience, wholeTimeout), func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM files) + (SELECT count(*) FROM task_files WHERE completed_at IS NOT NULL)`).Scan(&n)
	})
	return n, translate(err)
}

// The keys of objects, as the API and the ingestion make them.
var (
	archiveKey = regexp.MustCompile(`^org/\d+/uploads/([0-9a-f-]{36})\.zip$`)
	fileKey    = regexp.MustCompile(`^org/\d+/files/([0-9a-f-]{36})/([0-9a-f-]{36})$`)
	putKey     = regexp.MustCompile(`^org/\d+/uploads/task/\d+/([0-9a-f-]{36})$`)
	doneKey    = regexp.MustCompile(`^org/\d+/files/task/\d+/([0-9a-f-]{36})-`)
)

// Unreferenced returns those of the keys that nothing refers to any more and
// that no sweep is going to look at again: an upload is swept after its end, what a
// person put, and the copies of it, when no completion can be under way any more.
func (s *Store) Unreferenced(ctx context.Context, patience time.Duration, keys []string) ([]string, error) {
	var uploads, files, peoples []uuid.UUID
	at := func(re *regexp.Regexp, key string, part int, into *[]uuid.UUID) bool {
		m := re.FindStringSubmatch(key)
		if m == nil {
			return false
		}
		if id, err := uuid.Parse(m[part]); err == nil {
			*into = append(*into, id)
		}
		return true
	}
	for _, k := range keys {
		_ = at(archiveKey, k, 1, &uploads) || at(fileKey, k, 1, &uploads) && at(fileKey, k, 2, &files) ||
			at(putKey, k, 1, &peoples) || at(doneKey, k, 1, &peoples)
	}
	// A key is somebody's when its row says so, or when its upload will still
	// be swept.
	const sql = `SELECT k.key FROM unnest($1::text[]) WITH ORDINALITY AS k(key, at)
		WHERE NOT EXISTS (SELECT FROM files f WHERE f.id = ANY ($3) AND f.object_key = k.key)
			AND NOT EXISTS (SELECT FROM task_files f WHERE f.id = ANY ($4) AND (f.object_key = k.key OR NOT f.swept AND
				(f.upload_key = k.key OR starts_with(k.key, ` + taskFileCopies + `))))
			AND NOT EXISTS (SELECT FROM uploads u WHERE u.id = ANY ($2) AND u.swept_at IS NULL
				AND (u.object_key = k.key OR starts_with(k.key, 'org/' || u.org_id || '/files/' || u.id || '/')))
		ORDER BY k.at`
	var out []string
	err := s.snapshot(ctx, cmp.Or(patience, wholeTimeout), func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, sql, keys, uploads, files, peoples)
		out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return out, translate(err)
}
