package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// querier is what a query needs: the pool or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// txAttempts is how often a transaction is tried when Postgres asks for it.
const txAttempts = 3

// inTx runs fn in one READ COMMITTED transaction and commits it. An error or a
// panic rolls back. When Postgres ends the transaction because of a deadlock
// or a serialization conflict, fn runs again, so it must only act on tx and
// set its results anew each time. The error is translated.
func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	var err error
	for range txAttempts {
		err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, fn)
		if !wantsRetry(err) {
			break
		}
	}
	return translate(err)
}

// wantsRetry reports whether Postgres undid the transaction for reasons that
// another try may not meet.
func wantsRetry(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	return pg.Code == codeSerialization || pg.Code == codeDeadlock
}
