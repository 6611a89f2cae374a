package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// touch notes that a key or a session is in use, by a statement that does so at most
// once a minute and passes over what others hold. Callers want something else, mostly
// to read, and it stands in nobody's way: it waits neither for the disk nor for a
// synchronous standby that is away, so a crash may lose what was noted within the last
// second; and where nothing can be written, because the disk is full, they read on.
// What is wrong with the database altogether their own statements tell.
func (s *Store) touch(ctx context.Context, sql string, args ...any) {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
	b.Queue(sql, args...)
	_ = s.pool.SendBatch(ctx, b).Close()
}
