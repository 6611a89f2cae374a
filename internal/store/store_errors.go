package store

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/taskloom/taskloom/internal/fault"
)

// SQLSTATE codes that mean something to the product. The rest is internal.
const (
	codeUniqueViolation = "23505"
	codeUndefinedTable  = "42P01"
	codeNoCharacter     = "22021" // not UTF-8, or NUL in a text
	codeNoEscape        = "22P05" // \u0000 in jsonb
	codeNumberRange     = "22003"
	codeReadOnly        = "25006" // the primary became a standby
	codeIdle            = "25P03" // idle in a transaction for too long, or a clock that jumped
	codeSerialization   = "40001"
	codeDeadlock        = "40P01"
	codeLockTimeout     = "55P03"
	codeQueryCanceled   = "57014" // statement_timeout
	classConnection     = "08"
	classResources      = "53" // out of connections, disk or memory
	classShutdown       = "57P"
)

// translate turns a passing failure of the database into fault.Unavailable,
// which callers may retry, and leaves every other error as it is. A missing
// row is no failure: the method that looked for it knows what to say. What a
// column cannot hold should have been refused earlier; here it is still the
// caller's fault, not the server's.
func translate(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if unfit(err) {
		return fault.New(fault.Validation, "something holds a character or a number that cannot be stored: "+
			"NUL (\\u0000), half of a surrogate pair, or a number of too many digits").Because(err)
	}
	if !passing(err) {
		return err
	}
	return fault.New(fault.Unavailable, "the database is not available right now; try again").
		After(time.Second).Because(err)
}

// unfit reports whether a value does not fit into its column's type.
func unfit(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{codeNoCharacter, codeNoEscape, codeNumberRange}, pg.Code)
}

// passing reports whether the same call may succeed a moment later.
func passing(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case codeReadOnly, codeIdle, codeSerialization, codeDeadlock, codeLockTimeout, codeQueryCanceled:
			return true
		}
		return strings.HasPrefix(pg.Code, classConnection) ||
			strings.HasPrefix(pg.Code, classResources) ||
			strings.HasPrefix(pg.Code, classShutdown)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.Timeout(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err)
}

// violates reports whether err is a unique violation of the named constraint
// or index.
func violates(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == codeUniqueViolation && pg.ConstraintName == constraint
}
