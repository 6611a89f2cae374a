package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// spareSQL lists the indexes that Temporal's visibility keeps for search
// attributes that nobody has registered. The product's three lie in the first
// columns of their types: Int01, Int02 and Keyword01.
const spareSQL = `SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility'
	AND indexname ~ '^by_(bool|datetime|double|int|keyword|keyword_list|text)_[0-9]{2}$'
	AND indexname NOT IN ('by_int_01', 'by_int_02', 'by_keyword_01') ORDER BY 1`

// dropSpare drops them, for -lean to tell what they cost.
func (l *ledger) dropSpare(ctx context.Context) (n int, err error) {
	conn := l.conns[visibilityDatabase]
	if conn == nil {
		return 0, fmt.Errorf("-lean: the database %s is not in this Postgres", visibilityDatabase)
	}
	rows, _ := conn.Query(ctx, spareSQL)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("-lean: list indexes: %w", err)
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, "DROP INDEX "+pgx.Identifier{name}.Sanitize()); err != nil {
			return 0, fmt.Errorf("-lean: %w", err)
		}
	}
	return len(names), nil
}
