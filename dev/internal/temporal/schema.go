package temporal

import (
	"context"
	"errors"
	"fmt"

	"github.com/blang/semver/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.temporal.io/server/common/log"
	postgresschema "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
)

// database is one of the server's two databases.
type database struct {
	name    string
	schema  string // the path of its embedded schema
	version string // the version that this server needs
	holds   string // a table that is empty until a server has used the database
}

func databases() []database {
	return []database{
		{mainDB, "postgresql/v12/temporal", postgresschema.Version, "namespaces"},
		{visibility, "postgresql/v12/visibility", postgresschema.VisibilityVersion, "executions_visibility"},
	}
}

// prepare brings a database to the version that this server needs. Temporal's
// own migrations are neither transactional nor repeatable on Postgres, so they
// run on a copy beside the database, which takes its place at the end in one
// transaction: a database under its own name is always whole.
func (c Config) prepare(ctx context.Context, db database, logger log.Logger) error {
	admin, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer admin.Close(ctx)

	have, err := c.version(ctx, admin, db)
	if err != nil {
		return err
	}
	switch newer, err := compare(have, db.version); {
	case err != nil:
		return fmt.Errorf("schema version of %s: %w", db.name, err)
	case newer > 0:
		return fmt.Errorf(`the database %q has schema %s, made by a newer Temporal server; this one knows %s
  go back to the version of this repository that made it, or start empty: FRESH=1 make dev`,
			db.name, have, db.version)
	case newer == 0:
		return nil
	}
	next := db.name + "_next"
	if err := drop(ctx, admin, next); err != nil {
		return err
	}
	if err := c.build(ctx, admin, db, have, next, logger); err != nil {
		return fmt.Errorf("schema of %s: %w", db.name, err)
	}
	return replace(ctx, admin, db.name, next)
}

// build makes the copy and migrates it.
func (c Config) build(ctx context.Context, admin *pgx.Conn, db database, have, next string, logger log.Logger) error {
	create := "CREATE DATABASE " + next
	if have != "" {
		create += " TEMPLATE " + db.name
	}
	if _, err := admin.Exec(ctx, create); err != nil {
		return err
	}
	// No wait for the disk after each of the hundreds of statements: the commit
	// that gives the copy its name waits for all of them.
	conf := c.sql(next, 1)
	conf.ConnectAttributes = map[string]string{"synchronous_commit": "off"}
	conn, err := sql.NewConnection(conf, logger)
	if err != nil {
		return err
	}
	defer conn.Close()
	if have == "" {
		setup := &schema.SetupConfig{InitialVersion: "0.0"}
		if err := schema.NewSetupSchemaTask(conn, setup, logger).Run(); err != nil {
			return err
		}
	} else if err := conn.Exec(`UPDATE schema_version SET db_name = $1`, next); err != nil {
		return err
	}
	update := &schema.UpdateConfig{DBName: next, SchemaName: db.schema}
	if err := schema.NewUpdateSchemaTask(conn, update, logger).Run(); err != nil {
		return err
	}
	// The version is filed under the name that the database will have.
	return conn.Exec(`UPDATE schema_version SET db_name = $1`, db.name)
}

// replace gives the finished copy its name. A database without a version,
// left by a set-up that was cut short, goes the same way as an outdated one.
func replace(ctx context.Context, admin *pgx.Conn, name, next string) error {
	old := name + "_old"
	if err := drop(ctx, admin, old); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, admin, func(tx pgx.Tx) error {
		exists, err := has(ctx, tx, name)
		if err != nil {
			return err
		}
		if exists {
			if _, err := tx.Exec(ctx, "ALTER DATABASE "+name+" RENAME TO "+old); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, "ALTER DATABASE "+next+" RENAME TO "+name)
		return err
	})
	if err != nil {
		return fmt.Errorf("put the new %s in place: %w", name, err)
	}
	return drop(ctx, admin, old)
}

// has tells whether a database exists.
func has(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, name string,
) (exists bool, err error) {
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil {
		return false, fmt.Errorf("look for the database %s: %w", name, err)
	}
	return exists, nil
}

func drop(ctx context.Context, admin *pgx.Conn, name string) error {
	if _, err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop the leftover database %s: %w", name, err)
	}
	return nil
}

// version reads a database's schema version; "" when there is no database or
// no version in it, as after a set-up that was cut short.
func (c Config) version(ctx context.Context, admin *pgx.Conn, db database) (string, error) {
	exists, err := has(ctx, admin, db.name)
	if err != nil || !exists {
		return "", err
	}
	conn, err := pgx.Connect(ctx, c.url(db.name))
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w", db.name, err)
	}
	defer conn.Close(ctx)
	var version string
	err = conn.QueryRow(ctx, `SELECT curr_version FROM schema_version WHERE version_partition = 0 AND db_name = $1`,
		db.name).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) || isCode(err, undefinedTable) {
		return "", unused(ctx, conn, db)
	}
	if err != nil {
		return "", fmt.Errorf("read the schema version of %s: %w", db.name, err)
	}
	return version, nil
}

const undefinedTable = "42P01"

// unused returns nil when a database without a version holds nothing of value.
func unused(ctx context.Context, conn *pgx.Conn, db database) error {
	var used bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+db.holds+`)`).Scan(&used)
	switch {
	case isCode(err, undefinedTable):
		return nil
	case err != nil:
		return fmt.Errorf("look into %s: %w", db.name, err)
	case used:
		return fmt.Errorf(`the database %q holds data but no schema version, so it cannot be migrated
  restore its table schema_version, or start empty: FRESH=1 make dev`, db.name)
	}
	return nil
}

func isCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// compare is negative when the version have is older than want, or missing.
func compare(have, want string) (int, error) {
	if have == "" {
		return -1, nil
	}
	h, err := semver.ParseTolerant(have)
	if err != nil {
		return 0, err
	}
	w, err := semver.ParseTolerant(want)
	if err != nil {
		return 0, err
	}
	return h.Compare(w), nil
}

func (c Config) url(database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", c.PostgresUser, c.PostgresPassword, c.PostgresAddr, database)
}
