package store

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func TestWantsRetry(t *testing.T) {
	t.Parallel()
	require.True(t, wantsRetry(&pgconn.PgError{Code: codeDeadlock}))
	require.True(t, wantsRetry(&pgconn.PgError{Code: codeSerialization}))
	require.False(t, wantsRetry(&pgconn.PgError{Code: codeUniqueViolation}))
	require.False(t, wantsRetry(errors.New("a bug")))
	require.False(t, wantsRetry(nil))
}

// commits is a database whose COMMIT ends in err.
type commits struct {
	pgx.Tx
	begin, err error
}

func (c commits) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return c, c.begin }
func (c commits) Commit(context.Context) error                           { return c.err }
func (commits) Rollback(context.Context) error                           { return pgx.ErrTxClosed }

// Only an error of COMMIT itself leaves open what became of the transaction, and
// none of those by which Postgres says that it does not count.
func TestALostAnswerToCommitIsMarked(t *testing.T) {
	t.Parallel()
	works := func(pgx.Tx) error { return nil }
	for name, lost := range map[string]error{
		"connection ended": io.ErrUnexpectedEOF,
		"too late":         context.DeadlineExceeded,
		"shut down":        &pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"},
	} {
		err := inOneTx(t.Context(), commits{err: lost}, works)
		require.ErrorIs(t, err, ErrUncertain, name)
		require.ErrorIs(t, err, lost, name)
		require.Equal(t, fault.Unavailable, fault.KindOf(translate(err)), name)
		require.ErrorIs(t, translate(err), ErrUncertain, name)
	}
	for name, refused := range map[string]error{
		"deferred constraint": &pgconn.PgError{Code: codeUniqueViolation, SeverityUnlocalized: "ERROR"},
		"serialization":       &pgconn.PgError{Code: codeSerialization, SeverityUnlocalized: "ERROR"},
		"idle for too long":   &pgconn.PgError{Code: codeIdle, SeverityUnlocalized: "FATAL"},
		"rolled back":         pgx.ErrTxCommitRollback,
	} {
		err := inOneTx(t.Context(), commits{err: refused}, works)
		require.ErrorIs(t, err, refused, name)
		require.NotErrorIs(t, err, ErrUncertain, name)
	}
	fails := func(pgx.Tx) error { return io.ErrUnexpectedEOF }
	require.NotErrorIs(t, inOneTx(t.Context(), commits{}, fails), ErrUncertain, "before COMMIT")
	require.NotErrorIs(t, inOneTx(t.Context(), commits{begin: io.ErrUnexpectedEOF}, works), ErrUncertain, "without a connection")
	require.NoError(t, inOneTx(t.Context(), commits{}, works))
}
