package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// answerTimeout is how long a command waits for the database or Temporal to
// answer at all.
const answerTimeout = 5 * time.Second

// openStore connects a command to a database that must be there and migrated.
// Daemons do not use it: they start without and wait.
func openStore(ctx context.Context, c config.Config) (*store.Store, error) {
	st, err := store.Open(ctx, c.DatabaseURL.Reveal(), store.Options{MaxConns: c.DatabaseMaxConns})
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := st.Ping(asking); err != nil {
		st.Close()
		return nil, unreachable(c, err)
	}
	if err := migrated(asking, st); err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

// migrated tells when the schema is older than this binary needs.
func migrated(ctx context.Context, st *store.Store) error {
	have, want, err := st.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if have < want {
		return fault.New(fault.Unavailable,
			"the schema of the database is at version %d, this binary needs %d; run: taskloom migrate", have, want)
	}
	return nil
}

// unreachable says where the database should be and whose setting that is.
func unreachable(c config.Config, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && errors.Unwrap(f) != nil {
		err = errors.Unwrap(f)
	}
	return fault.New(fault.Unavailable, "the database at %s does not answer; check that Postgres runs there and that "+
		"DATABASE_URL has the right host, port, user and password", databasePlace(c)).Because(err)
}

// databasePlace is DATABASE_URL without its secrets.
func databasePlace(c config.Config) string {
	p, err := pgx.ParseConfig(c.DatabaseURL.Reveal())
	if err != nil {
		return "DATABASE_URL"
	}
	return fmt.Sprintf("%s/%s", net.JoinHostPort(p.Host, strconv.Itoa(int(p.Port))), p.Database)
}
