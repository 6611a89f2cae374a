package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// guard watches over a pool's connections. It is a tracer because that is where
// pgx lets one see every acquisition and every answer: each way to send
// statements has a tracer of its own, and tells no other.
type guard struct {
	// patience bounds how long a call waits for a connection of the pool: for
	// one that is free, or for a new one to a server that does not answer. After
	// it the call fails as unavailable, so that requests do not pile up behind a
	// database that is away or busy. Zero waits as long as the caller does.
	patience time.Duration
	// pool is what is reset; nil until it is made.
	pool atomic.Pointer[pgxpool.Pool]
}

var (
	_ pgxpool.AcquireTracer = (*guard)(nil)
	_ pgx.QueryTracer       = (*guard)(nil)
	_ pgx.BatchTracer       = (*guard)(nil)
	_ pgx.CopyFromTracer    = (*guard)(nil)
)

type patienceKey struct{}

// TraceAcquireStart implements pgxpool.AcquireTracer: the pool acquires with
// the context that it returns.
func (g *guard) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	if g.patience <= 0 {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	return context.WithValue(ctx, patienceKey{}, cancel)
}

// TraceAcquireEnd implements pgxpool.AcquireTracer.
func (*guard) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	if cancel, ok := ctx.Value(patienceKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (*guard) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (g *guard) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	g.answered(data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (*guard) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer: each statement of a batch that was
// answered.
func (g *guard) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	g.answered(data.Err)
}

// TraceBatchEnd implements pgx.BatchTracer: also what failed before a statement
// was sent.
func (g *guard) TraceBatchEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	g.answered(data.Err)
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (*guard) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return ctx
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (g *guard) TraceCopyFromEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	g.answered(data.Err)
}

// answered looks at what became of a statement. A server that refuses writes was
// the primary when the pool connected to it and is not any more, alive as it
// is: all connections are made anew, and the list of hosts in DATABASE_URL
// leads to the new primary.
func (g *guard) answered(err error) {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if pool := g.pool.Load(); ok && pg.Code == codeReadOnly && pool != nil {
		pool.Reset()
	}
}
