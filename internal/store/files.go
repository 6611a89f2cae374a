package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// File is an object of the object store that values refer to by its id.
type File struct {
	ID          uuid.UUID
	OrgID       int64
	Key, Name   string
	Size        int64
	SHA256      string // 64 hexadecimal digits
	ContentType string // by its bytes, not by its name
}

// FilesByID returns the organization's files with the ids; ids of other
// organizations and unknown ones are left out.
func (s *Store) FilesByID(ctx context.Context, orgID int64, ids []uuid.UUID) ([]File, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, org_id, object_key, name, size, sha256, content_type FROM files
		WHERE id = ANY($2) AND org_id = $1 ORDER BY id`, orgID, ids)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[File])
	return out, translate(err)
}

// insertFiles notes the files of an upload. The same entry of an archive has
// the same id whenever it is stored, so a repeat changes nothing.
func insertFiles(ctx context.Context, tx pgx.Tx, u Upload, files []File) error {
	ids, keys, names := make([]uuid.UUID, len(files)), make([]string, len(files)), make([]string, len(files))
	sizes, sums, types := make([]int64, len(files)), make([]string, len(files)), make([]string, len(files))
	for i, f := range files {
		ids[i], keys[i], names[i], sizes[i], sums[i], types[i] = f.ID, f.Key, f.Name, f.Size, f.SHA256, f.ContentType
	}
	_, err := tx.Exec(ctx, `INSERT INTO files (id, org_id, upload_id, object_key, name, size, sha256, content_type)
		SELECT f.id, $1, $2, f.object_key, f.name, f.size, f.sha256, f.content_type
		FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])
			AS f(id, object_key, name, size, sha256, content_type)
		ON CONFLICT (id) DO NOTHING`, u.OrgID, u.ID, ids, keys, names, sizes, sums, types)
	return err
}
