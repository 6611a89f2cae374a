package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	code := func(c string) error {
		return fmt.Errorf("insert: %w", &pgconn.PgError{Code: c, Message: "driver text"})
	}
	for _, err := range []error{
		code("08006"), code("25006"), code("25P03"), code("40001"), code("40P01"), code("53300"), code("55P03"), code("57014"),
		code("57P01"), code("57P03"), &pgconn.ConnectError{}, io.ErrUnexpectedEOF, context.DeadlineExceeded,
	} {
		got := translate(err)
		var f *fault.Error
		require.ErrorAs(t, got, &f, "%v", err)
		require.Equal(t, fault.Unavailable, f.Kind)
		require.Equal(t, time.Second, f.RetryAfter)
		require.NotContains(t, f.Message, "driver text")
		require.ErrorIs(t, got, err)
	}
	for _, err := range []error{code("22021"), code("22P05"), code("22003")} {
		got := translate(err)
		require.Equal(t, fault.Validation, fault.KindOf(got), "%v", err)
		require.ErrorIs(t, got, err)
	}
	conflict := fault.New(fault.Conflict, "taken")
	for _, err := range []error{
		nil, code("23505"), code("42601"), code("22P02"), pgx.ErrNoRows, context.Canceled, errors.New("a bug"),
		conflict.Because(code("57P01")),
	} {
		require.Equal(t, err, translate(err))
	}
}
