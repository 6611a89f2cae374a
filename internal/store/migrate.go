package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/tern/v2/migrate"

	"github.com/taskloom/taskloom/schema"
)

// versionTable holds the number of the last migration.
const versionTable = "public.schema_version"

// Migrate brings the schema to the version of this binary and returns the
// versions before and after. Concurrent calls wait for each other (an advisory
// lock). A schema that is already newer is left alone: migrations expand
// before they contract, so this binary works on it.
func Migrate(ctx context.Context, databaseURL string) (from, to int32, err error) {
	files, err := migrations()
	if err != nil {
		return 0, 0, err
	}
	return MigrateFiles(ctx, databaseURL, files)
}

// MigrateFiles is Migrate with other files than the product's: with those of a
// version to come, say.
func MigrateFiles(ctx context.Context, databaseURL string, files fs.FS) (from, to int32, err error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return 0, 0, fmt.Errorf("read the address of the database: %w", err)
	}
	// For the whole connection: tern resets all settings after each migration.
	config.RuntimeParams["lock_timeout"] = milliseconds(migrateLockTimeout)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, 0, translate(fmt.Errorf("connect: %w", err))
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// Two first migrations would race for the version table itself, which tern
	// makes before it takes its lock.
	if err := lockMigrations(ctx, conn); err != nil {
		return 0, 0, fmt.Errorf("lock migrations: %w", err)
	}
	m, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return 0, 0, fmt.Errorf("prepare migrations: %w", err)
	}
	if err := m.LoadMigrations(files); err != nil {
		return 0, 0, fmt.Errorf("load migrations: %w", err)
	}
	if from, err = m.GetCurrentVersion(ctx); err != nil {
		return 0, 0, fmt.Errorf("read schema version: %w", err)
	}
	to = int32(len(m.Migrations)) //nolint:gosec // a handful of files
	if from >= to {
		return from, from, nil
	}
	if err := migratePatiently(ctx, conn, m); err != nil {
		return from, from, fmt.Errorf("migrate: %w", err)
	}
	return from, to, nil
}

// lockMigrations waits for whoever is before us, for as long as it takes, and
// between its looks holds nothing: an index that is made concurrently waits for
// every statement that is under way, and one that waits here would wait for it.
func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	for {
		var ours bool
		err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext('taskloom migrate'))`).Scan(&ours)
		if err != nil || ours {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrateLook):
		}
	}
}

const (
	// migrateLook is how often is looked whether another migration has ended.
	migrateLook = 100 * time.Millisecond
	// migrateLockTimeout is how long a migration stands in the way of everybody
	// who comes after it, while it waits for a lock that somebody holds: less than
	// requests wait in line for when there is more to do than gets done, so that
	// nobody is turned away, and less than Postgres' deadlock_timeout, 1 s: when
	// it and a request wait for each other, it is the migration that gives up.
	migrateLockTimeout = 200 * time.Millisecond
	// migrateVacuumTimeout is how long it waits for a vacuum to end. Postgres
	// ends an autovacuum that is in somebody's way for who has waited as long as
	// deadlock_timeout.
	migrateVacuumTimeout = 2 * time.Second
	// migratePause lets those through, and migrateTries bounds the attempts:
	// five minutes.
	migratePause = time.Second
	migrateTries = 250
)

// migratePatiently does not block a running product behind a lock that a long
// transaction holds: it gives up its place in the queue and tries again, as it
// does when it and the product wait for each other. Each migration is a
// transaction, so one that gave up left nothing, save those that make an index
// concurrently: they begin with removing it.
func migratePatiently(ctx context.Context, conn *pgx.Conn, m *migrate.Migrator) error {
	for try := 1; ; try++ {
		err := m.Migrate(ctx)
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pg.Code != codeLockTimeout && pg.Code != codeDeadlock || try == migrateTries {
			return err
		}
		if err := endVacuums(ctx, conn); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migratePause):
		}
	}
}

// endVacuums waits for vacuums, in a mode in which nobody who reads or writes has
// to wait behind it: a migration gives up before Postgres would end an
// autovacuum for it, and that of a large table would keep it out for as long as
// it takes.
func endVacuums(ctx context.Context, conn *pgx.Conn) error {
	rows, _ := conn.Query(ctx, `SELECT DISTINCT c.oid::regclass::text FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
		WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND c.relkind = 'r'
			AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for vacuums: %w", err)
	}
	for _, table := range tables {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = `+milliseconds(migrateVacuumTimeout)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `LOCK TABLE `+table+` IN SHARE UPDATE EXCLUSIVE MODE`) // regclass quotes
			return err
		})
		// What is not ended is no autovacuum, or one that must not be; what is
		// missing or not ours is in nobody's way.
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused {
			return fmt.Errorf("wait for the vacuum of %s: %w", table, err)
		}
	}
	return nil
}

// SchemaVersion returns the schema's version in the database, 0 before the
// first migration, and the one that this binary is made for. More than wanted
// is fine.
func (s *Store) SchemaVersion(ctx context.Context) (have, want int32, err error) {
	files, err := migrations()
	if err != nil {
		return 0, 0, err
	}
	names, err := migrate.FindMigrations(files)
	if err != nil {
		return 0, 0, fmt.Errorf("list migrations: %w", err)
	}
	want = int32(len(names)) //nolint:gosec // a handful of files
	err = s.pool.QueryRow(ctx, `SELECT version FROM `+versionTable).Scan(&have)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == codeUndefinedTable {
		return 0, want, nil
	}
	if err != nil {
		return 0, want, translate(fmt.Errorf("read schema version: %w", err))
	}
	return have, want, nil
}

func migrations() (fs.FS, error) {
	files, err := fs.Sub(schema.Migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	return files, nil
}
