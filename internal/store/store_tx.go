package store

import (
	"context"
	"errors"
	"fmt"

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

// ErrUncertain marks an error of COMMIT after which nobody knows whether the
// transaction counts: its answer was lost on the way. It is Unavailable like
// others, and what may be done twice can be tried again.
var ErrUncertain = errors.New("the answer to COMMIT did not come")

// inTx runs fn in one READ COMMITTED transaction and commits it. An error or a
// panic rolls back. When Postgres ends the transaction because of a deadlock
// or a serialization conflict, fn runs again, so it must only act on tx and
// set its results anew each time. The error is translated.
func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	var err error
	for range txAttempts {
		err = inOneTx(ctx, s.pool, fn)
		if !wantsRetry(err) {
			break
		}
	}
	return translate(err)
}

// beginner is the pool, as far as a transaction needs it.
type beginner interface {
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
}

// inOneTx tries once, and marks what came of COMMIT.
func inOneTx(ctx context.Context, db beginner, fn func(tx pgx.Tx) error) error {
	committing := false
	err := pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		err := fn(tx)
		committing = err == nil
		return err
	})
	if err != nil && committing && uncertain(err) {
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	return err
}

// uncertain reports whether the transaction may count although COMMIT failed. It
// does not when COMMIT was never sent, and when Postgres said that it failed: by
// an error that leaves the connection as it is, or by ending one that idled. One
// that Postgres ended otherwise may have been ended just after the commit.
func uncertain(err error) bool {
	if pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, pgx.ErrTxClosed) {
		return false
	}
	pg, answered := errors.AsType[*pgconn.PgError](err)
	return !answered || pg.SeverityUnlocalized != "ERROR" && pg.Code != codeIdle
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
