// Package store is Postgres: the truth about accounts, pipelines and tasks,
// the queue, and everything that is read back. One file per aggregate, the SQL
// beside the method that runs it. Callers get fault errors for what they can
// act on; any other error is internal and its text must not leave the process.
package store

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Limits of every connection, so that no session can block the others for
// long. A value in DATABASE_URL wins over these. Transactions wait for nothing
// but Postgres: one that is idle for long belongs to a process that hangs, or
// to a machine that is gone, and what it has locked keeps a worker's successor
// from the task.
const (
	idleInTransaction = 10 * time.Second
	lockTimeout       = 10 * time.Second
	connectTimeout    = 5 * time.Second
)

// Store is a pool of connections to the app database.
type Store struct {
	pool     *pgxpool.Pool
	versions *versionCache
	heads    *heads[queueName, queuePosition]
	walks    *queueWalks
	due      *heads[Urgency, time.Time]
	waits    *lockWaits
	// expired counts the leases that this process took back.
	expired atomic.Int64
}

// Options tune a Store. The zero value is usable.
type Options struct {
	// MaxConns bounds the pool. 0 keeps what the URL's pool_max_conns says, or
	// pgx's default.
	MaxConns int32
	// Warm opens all connections at once and keeps them, each with the plans of what
	// people wait for.
	Warm bool
	// Patience bounds the wait for a connection; 0 waits as long as the caller.
	Patience time.Duration
	// StatementTimeout ends a statement that takes longer, so that one which
	// nobody waits for any more does not keep its connection; 0 ends none.
	StatementTimeout time.Duration
}

// Open makes a Store. It does not connect: the database may still be on its
// way, Ping tells. A malformed URL is an error that does not repeat the URL,
// because URLs carry passwords.
func Open(ctx context.Context, databaseURL string, o Options) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse database URL: %w", err)
	}
	if o.MaxConns > 0 {
		cfg.MaxConns = o.MaxConns
	}
	harden(&cfg.ConnConfig.Config, o.StatementTimeout)
	cfg.MaxConnLifetimeJitter = cfg.MaxConnLifetime / 10
	versions := newVersionCache()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		readTimesAsUTC(conn)
		if err := versions.connected(ctx, conn); err != nil || !o.Warm {
			return err
		}
		return warm(ctx, conn)
	}
	if o.Warm {
		cfg.MinConns = cfg.MaxConns
	}
	g := &guard{patience: o.Patience}
	cfg.ConnConfig.Tracer = g
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("make connection pool: %w", err)
	}
	g.pool.Store(pool)
	return &Store{
		pool: pool, versions: versions, heads: newQueueHeads(), walks: newQueueWalks(), due: newOutboxHeads(), waits: newLockWaits(cfg.MaxConns),
	}, nil
}

// Close ends all connections, waiting for those in use.
func (s *Store) Close() { s.pool.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return translate(s.pool.Ping(ctx)) }

// Pool gives access to the connections for diagnosis, benchmarks and tests;
// everything else goes through methods.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// harden sets what the URL leaves open. target_session_attrs stays as given,
// so that a list of hosts finds the primary after a failover.
func harden(c *pgconn.Config, statementTimeout time.Duration) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.DialFunc = dialer().DialContext
	params := map[string]string{
		"application_name":                    "taskloom",
		"idle_in_transaction_session_timeout": milliseconds(idleInTransaction),
		"lock_timeout":                        milliseconds(lockTimeout),
		// Compiling takes longer than any statement of ours, and is done wherever the
		// estimate is high: for a table that has no index where byIndexSQL is on, too.
		"jit": "off",
	}
	if statementTimeout > 0 {
		params["statement_timeout"] = milliseconds(statementTimeout)
	}
	for name, value := range params {
		if _, given := c.RuntimeParams[name]; !given {
			c.RuntimeParams[name] = value
		}
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// readTimesAsUTC makes scanned times independent of the machine's time zone.
func readTimesAsUTC(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}
