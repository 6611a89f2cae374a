// Package freshdb makes migrated databases for as long as a measurement takes.
package freshdb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/store"
)

// Database is a migrated database that nobody else uses.
type Database struct {
	Name, URL string

	server string
}

// New makes one in the Postgres that a URL names, whose user may create
// databases. The prefix begins its name.
func New(ctx context.Context, server, prefix string) (*Database, error) {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	d := &Database{Name: prefix + hex.EncodeToString(random[:]), server: server}
	var err error
	if d.URL, err = Sibling(server, d.Name); err != nil {
		return nil, err
	}
	if err := Admin(ctx, server, "CREATE DATABASE "+d.Name+" TEMPLATE template0"); err != nil {
		return nil, err
	}
	if _, _, err := store.Migrate(ctx, d.URL); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), d.Drop())
	}
	return d, nil
}

// Drop removes the database, whoever is connected to it.
func (d *Database) Drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := Admin(ctx, d.server, "DROP DATABASE IF EXISTS "+d.Name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("database %s is left behind: %w", d.Name, err)
	}
	return nil
}

// Sibling is the URL of another database of the same server.
func Sibling(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("DATABASE_URL must be a postgres:// URL")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// Admin runs a statement in the database that a URL names.
func Admin(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("run %q: %w", sql, err)
	}
	return nil
}
