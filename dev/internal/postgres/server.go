package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/taskloom/taskloom/dev/internal/child"
)

// startTime is how long the server may take to accept connections; replaying
// the log after a kill takes the longest.
const startTime = 60 * time.Second

// usualConnections is max_connections where nobody asks for another number.
const usualConnections = 200

// How Postgres shuts down: Fast writes everything out in order, Immediate leaves
// it to the log, which is replayed at the next start.
const (
	Fast      = syscall.SIGINT
	Immediate = syscall.SIGQUIT
)

// Spec says how to run the server.
func (c *Cluster) Spec() child.Spec {
	settings := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "password_encryption=scram-sha-256",
		"max_connections=" + strconv.Itoa(cmp.Or(c.MaxConnections, usualConnections)), "shared_buffers=256MB", "fsync=on",
		// Old segments of the log are used again: to make one holds up all who write.
		"max_wal_size=2GB", "min_wal_size=1GB",
		"log_line_prefix=%m [%p] ",
	}
	if c.CountStatements {
		settings = append(settings,
			"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on", "track_io_timing=on")
	}
	args := []string{"-D", c.Data, "-p", strconv.Itoa(c.Port)}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return child.Spec{
		Name: "postgres", Path: filepath.Join(c.Binaries.Dir, "postgres"), Args: args,
		Env: c.env(), Dir: c.Data, As: c.Account.Credential,
		Orphan: Fast,
		Stop: []child.Stop{
			{Signal: Fast, Patience: 15 * time.Second},
			{Signal: Immediate, Patience: 5 * time.Second},
		},
		Log: c.Log, Pid: c.Pid,
	}
}

// URL is the connection string for one of the cluster's databases.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", User, c.Password, c.Addr(), database)
}

// Addr is host:port of the server.
func (c *Cluster) Addr() string { return fmt.Sprintf("127.0.0.1:%d", c.Port) }

// Await returns when the server accepts connections, or says why it does not.
func (c *Cluster) Await(ctx context.Context, server *child.Child) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		if wrongPassword(err) {
			return fmt.Errorf(`the server refuses the password that is kept in settings.json: %w
  put the settings back that belong to %s, or start empty: FRESH=1 make dev`, err, c.Data)
		}
		select {
		case <-poll.C:
		case <-server.Done():
			return nil // its death is reported by who watches it
		case <-ctx.Done():
			return fmt.Errorf("Postgres does not accept connections at %s after %v: %w", c.Addr(), startTime, err)
		}
	}
}

func wrongPassword(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "28P01" // invalid_password
}

// CreateDatabase makes a database if it is not there yet.
func (c *Cluster) CreateDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err == nil && !exists {
		_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	}
	if err != nil {
		return fmt.Errorf("create the database %q: %w", name, err)
	}
	return nil
}
