package main

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

// poolSize is how many connections each side may use, the product's default.
const poolSize = 16

// newDatabase makes a migrated database that lives as long as the run.
func (b *bench) newDatabase(ctx context.Context) (string, error) {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	name := "taskloom_bench_" + hex.EncodeToString(random[:])
	if err := b.admin(ctx, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", err
	}
	b.later(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := b.admin(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			b.say("database %s is left behind: %v", name, err)
		}
	})
	u, err := url.Parse(b.databaseURL)
	if err != nil {
		return "", errors.New("DATABASE_URL must be a postgres:// URL")
	}
	u.Path = "/" + name
	if _, _, err := store.Migrate(ctx, u.String()); err != nil {
		return "", fmt.Errorf("migrate: %w", err)
	}
	return u.String(), nil
}

// admin runs a statement in the database that DATABASE_URL names.
func (b *bench) admin(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, b.databaseURL)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("run %q: %w", sql, err)
	}
	return nil
}
