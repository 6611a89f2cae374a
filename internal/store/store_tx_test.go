package store

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestWantsRetry(t *testing.T) {
	t.Parallel()
	require.True(t, wantsRetry(&pgconn.PgError{Code: codeDeadlock}))
	require.True(t, wantsRetry(&pgconn.PgError{Code: codeSerialization}))
	require.False(t, wantsRetry(&pgconn.PgError{Code: codeUniqueViolation}))
	require.False(t, wantsRetry(errors.New("a bug")))
	require.False(t, wantsRetry(nil))
}
