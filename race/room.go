package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// poolSize is how many connections every contender may use: the product's
// default.
const poolSize = 16

// room is where contenders meet: one Postgres, a directory for files, and what
// they leave to be cleaned up.
type room struct {
	options
	databaseURL string
	dir         string
	progress    io.Writer
	began       time.Time
	cleanups    []func()
	results     *results
}

func newRoom(o options, progress io.Writer) (*room, error) {
	r := &room{options: o, databaseURL: os.Getenv("DATABASE_URL"), progress: progress, began: time.Now()}
	if r.databaseURL == "" {
		return nil, errors.New("DATABASE_URL names no Postgres: run `make race`, or set it to one whose user may create databases")
	}
	dir, err := os.MkdirTemp("", "taskloom-race-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	r.dir = dir
	if o.keep {
		r.say("logs of the contenders stay in %s", dir)
	} else {
		r.later(func() { _ = os.RemoveAll(dir) })
	}
	return r, nil
}

func (r *room) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%7.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// later is called when the run is over, last first.
func (r *room) later(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *room) close() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	r.cleanups = nil
}

// database is one of the room's, by its name and URL.
type database struct{ name, url string }

// newDatabase makes a database, empty or a copy of another one that nobody is
// connected to.
func (r *room) newDatabase(ctx context.Context, from *database) (*database, error) {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	d := &database{name: "taskloom_race_" + hex.EncodeToString(random[:])}
	template := "template0"
	if from != nil {
		// The copy goes around the WAL: a large one takes seconds, not minutes.
		template = from.name + " STRATEGY file_copy"
	}
	if err := r.admin(ctx, "CREATE DATABASE "+d.name+" TEMPLATE "+template); err != nil {
		return nil, err
	}
	u, err := url.Parse(r.databaseURL)
	if err != nil {
		return nil, errors.New("DATABASE_URL must be a postgres:// URL")
	}
	u.Path = "/" + d.name
	d.url = u.String()
	r.later(func() { r.drop(d) })
	return d, nil
}

// drop removes a database; twice is fine.
func (r *room) drop(d *database) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.admin(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)"); err != nil {
		r.say("database %s is left behind: %v", d.name, err)
	}
}

// admin runs a statement in the database that DATABASE_URL names.
func (r *room) admin(ctx context.Context, sql string) error { return execURL(ctx, r.databaseURL, sql) }

// execURL runs statements on a connection of their own.
func execURL(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("run %q: %w", sql, err)
		}
	}
	return nil
}

// countURL returns the number that a query finds.
func countURL(ctx context.Context, url, sql string, args ...any) (n int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("run %q: %w", sql, err)
	}
	return n, nil
}

// settle is what every sample begins with: statistics and visibility maps are
// up to date and dirty pages are written.
func settle(ctx context.Context, url string) error {
	return execURL(ctx, url, "VACUUM (ANALYZE)", "CHECKPOINT")
}

// newPool opens so many connections as every contender has.
func newPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = poolSize
	return pgxpool.NewWithConfig(ctx, config)
}
