package main

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// codeNoRight is Postgres' word for a role that may not do what it asked for.
const codeNoRight = "42501"

// untold is what a check comes to whose question the database did not answer. Where
// its schema is not what it should be, another line says so.
func (d *doctor) untold(err error) finding {
	if !d.schemaFits {
		return finding{verdict: skipped, text: "the database does not tell: " + oneLine(err)}
	}
	return refusal(err)
}

// refusal is of a database that answers, and not this: serve and worker hear the same.
func refusal(err error) finding {
	f := finding{
		failure, "the database answers, but not this: " + oneLine(err),
		"see the log of Postgres, and who holds a lock for long: SELECT * FROM pg_stat_activity WHERE state <> 'idle' ORDER BY xact_start",
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == codeNoRight {
		f.wayOut = "as the owner, GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES and USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public " +
			"to the role of DATABASE_URL; deploy/postgres/init.sh shows how it has them of what migrate makes later, too"
	}
	return f
}
