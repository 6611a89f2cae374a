// Package dbtest gives tests a real Postgres: every test its own database, a
// clone of a migrated template, and builders for what nearly every test needs.
package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/schema"
)

// poolSize bounds the connections of one test; many run at a time.
const poolSize = 8

// Store returns a store on an empty, migrated database that lives as long as
// the test.
func Store(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), URL(t), store.Options{MaxConns: poolSize})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

// URL returns the address of an empty, migrated database that lives as long as
// the test.
func URL(t testing.TB) string {
	t.Helper()
	template, err := migratedTemplate()
	require.NoError(t, err)
	return create(t, "TEMPLATE "+template)
}

// EmptyURL returns the address of a database without any schema.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return create(t, "TEMPLATE template0")
}

func create(t testing.TB, clause string) string {
	t.Helper()
	base := baseURL(t)
	name := "taskloom_test_" + randomHex()
	require.NoError(t, admin(t.Context(), base, "CREATE DATABASE "+name+" "+clause))
	t.Cleanup(func() {
		// The test's own context is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, admin(ctx, base, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
	})
	return withDatabase(t, base, name)
}

// template makes the template once a process; across processes an advisory
// lock and its name, which carries a hash of the migrations, see to that.
var migratedTemplate = sync.OnceValues(func() (string, error) {
	base, err := findBaseURL()
	if err != nil {
		return "", err
	}
	// Tests come and go; the template belongs to all of them.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	hash, err := migrationsHash()
	if err != nil {
		return "", err
	}
	name := "taskloom_template_" + hash
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return "", fmt.Errorf("connect to the Postgres of TEST_DATABASE_URL or DATABASE_URL: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('taskloom dbtest'))`); err != nil {
		return "", fmt.Errorf("lock template: %w", err)
	}
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return name, err
	}
	// Made under another name first: a half migrated database is never taken
	// for the template.
	draft := name + "_draft"
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)",
		"CREATE DATABASE " + draft + " TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", fmt.Errorf("make template: %w", err)
		}
	}
	to, err := replaceDatabase(base, draft)
	if err != nil {
		return "", err
	}
	if _, _, err := store.Migrate(ctx, to); err != nil {
		return "", fmt.Errorf("migrate template: %w", err)
	}
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+draft+" RENAME TO "+name); err != nil {
		return "", fmt.Errorf("name template: %w", err)
	}
	return name, nil
})

func admin(ctx context.Context, base, sql string) error {
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return fmt.Errorf("connect to the Postgres of TEST_DATABASE_URL or DATABASE_URL: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

func baseURL(t testing.TB) string {
	t.Helper()
	base, err := findBaseURL()
	require.NoError(t, err)
	return base
}

func findBaseURL() (string, error) {
	for _, name := range []string{"TEST_DATABASE_URL", "DATABASE_URL"} {
		if v := os.Getenv(name); v != "" {
			return v, nil
		}
	}
	return "", errors.New("this test needs a Postgres whose user may create databases: " +
		"run `make test`, or set TEST_DATABASE_URL or DATABASE_URL to a postgres:// URL")
}

func withDatabase(t testing.TB, base, name string) string {
	t.Helper()
	u, err := replaceDatabase(base, name)
	require.NoError(t, err)
	return u
}

// replaceDatabase points the URL at another database. Nothing in a test
// survives a crash, so commits need not wait for the disk.
func replaceDatabase(base, name string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "" {
		return "", errors.New("TEST_DATABASE_URL or DATABASE_URL must be a postgres:// URL")
	}
	u.Path = "/" + name
	q := u.Query()
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func migrationsHash() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(schema.Migrations, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(schema.Migrations, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n%s", path, len(body), body)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read migrations: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func randomHex() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
