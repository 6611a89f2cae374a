package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// NeedlessRuns are tasks whose runs are open for nothing.
type NeedlessRuns struct {
	// Ended are tasks that ended longer ago than the grace; Missing are ids
	// that no task has.
	Ended, Missing []int64
}

// NeedlessRuns tells which of these tasks, whose runs are open, need none. Patience
// is as CheckOptions.Patience.
func (s *Store) NeedlessRuns(ctx context.Context, patience time.Duration, taskIDs []int64, grace time.Duration) (NeedlessRuns, error) {
	var out NeedlessRuns
	err := s.snapshot(ctx, cmp.Or(patience, checkTimeout), func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT i.id, t.id IS NULL FROM unnest($1::bigint[]) AS i(id) LEFT JOIN tasks t ON t.id = i.id
			WHERE t.id IS NULL OR t.status IN ('finished', 'failed') AND t.applied_seq = t.seq AND t.updated_at <= now() - $2::interval
			ORDER BY 1`, taskIDs, max(grace, 0))
		var id int64
		var missing bool
		_, err := pgx.ForEachRow(rows, []any{&id, &missing}, func() error {
			if missing {
				out.Missing = append(out.Missing, id)
			} else {
				out.Ended = append(out.Ended, id)
			}
			return nil
		})
		return err
	})
	return out, translate(err)
}
