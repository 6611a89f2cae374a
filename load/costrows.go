package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/measure/freshdb"
	"github.com/taskloom/taskloom/load/internal/wal"
)

// The databases of a Temporal server that shares our Postgres.
const (
	temporalDatabase   = "temporal"
	visibilityDatabase = "temporal_visibility"
	ours               = "taskloom"
)

// rowCount is what was done to the rows of a table.
type rowCount struct {
	Inserted float64 `json:"inserted"`
	Updated  float64 `json:"updated"`
	// Hot are the updates that changed no index.
	Hot     float64 `json:"hot_updated"`
	Deleted float64 `json:"deleted"`
}

func (c rowCount) minus(d rowCount) rowCount {
	return rowCount{c.Inserted - d.Inserted, c.Updated - d.Updated, c.Hot - d.Hot, c.Deleted - d.Deleted}
}

func (c rowCount) per(n float64) rowCount {
	return rowCount{c.Inserted / n, c.Updated / n, c.Hot / n, c.Deleted / n}
}

func (c rowCount) any() bool { return c.Inserted+c.Updated+c.Deleted > 0 }

// tableName is a table of one of the databases.
type tableName struct{ database, table string }

// ledger looks at all databases of the Postgres that have to do with a task.
type ledger struct {
	conns map[string]*pgx.Conn // by the names that are told
}

// openLedger connects to our database and, when Temporal keeps its own in the
// same Postgres, to those; missing says why it could not.
func openLedger(ctx context.Context, server string, own *freshdb.Database) (l *ledger, missing error, err error) {
	l = &ledger{conns: map[string]*pgx.Conn{}}
	if l.conns[ours], err = pgx.Connect(ctx, own.URL); err != nil {
		return nil, nil, fmt.Errorf("connect to our database: %w", err)
	}
	for _, name := range []string{temporalDatabase, visibilityDatabase} {
		url, err := freshdb.Sibling(server, name)
		if err != nil {
			return l, nil, err
		}
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			missing = fmt.Errorf("Temporal's database %s is not in this Postgres, so its rows are not counted: %w", name, err)
			continue
		}
		l.conns[name] = conn
	}
	_, err = l.conns[ours].Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_walinspect`)
	if err != nil {
		err = fmt.Errorf("make pg_walinspect, which tells what the log was written for: %w", err)
	}
	return l, missing, err
}

func (l *ledger) close(ctx context.Context) {
	for _, c := range l.conns {
		_ = c.Close(ctx)
	}
}

// rows reads the counters of all tables.
func (l *ledger) rows(ctx context.Context) (map[tableName]rowCount, error) {
	out := map[tableName]rowCount{}
	for database, conn := range l.conns {
		rows, _ := conn.Query(ctx, `SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del FROM pg_stat_user_tables`)
		var name string
		var c rowCount
		if _, err := pgx.ForEachRow(rows, []any{&name, &c.Inserted, &c.Updated, &c.Hot, &c.Deleted}, func() error {
			out[tableName{database, name}] = c
			return nil
		}); err != nil {
			return nil, fmt.Errorf("count rows of %s: %w", database, err)
		}
	}
	return out, nil
}

// position is how far the log is.
func (l *ledger) position(ctx context.Context) (lsn string, err error) {
	err = l.conns[ours].QueryRow(ctx, `SELECT pg_current_wal_flush_lsn()::text`).Scan(&lsn)
	return lsn, err
}

// log tells what the log between two positions was written for.
func (l *ledger) log(ctx context.Context, from, to string) ([]wal.Share, error) {
	databases, files := map[int64]string{}, map[wal.File]wal.Relation{}
	for name, conn := range l.conns {
		rows, _ := conn.Query(ctx, `SELECT (SELECT oid::bigint FROM pg_database WHERE datname = current_database()), pg_relation_filenode(c.oid)::bigint,
			c.relname, coalesce(owner.relname, toasted.relname, c.relname), c.relkind = 'i' FROM pg_class c
			LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class owner ON owner.oid = i.indrelid
			LEFT JOIN pg_class toasted ON toasted.reltoastrelid = c.oid WHERE pg_relation_filenode(c.oid) IS NOT NULL`)
		var database, node int64
		var rel wal.Relation
		if _, err := pgx.ForEachRow(rows, []any{&database, &node, &rel.Name, &rel.Table, &rel.Index}, func() error {
			rel.Database = name
			databases[database] = name
			files[wal.File{Database: database, Node: node}] = rel
			return nil
		}); err != nil {
			return nil, fmt.Errorf("list relations of %s: %w", name, err)
		}
	}
	rows, _ := l.conns[ours].Query(ctx, `SELECT xid::text::bigint, resource_manager, record_length::bigint, fpi_length::bigint, coalesce(block_ref, '')
		FROM pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn)`, from, to)
	records, err := pgx.CollectRows(rows, pgx.RowToStructByPos[wal.Record])
	if err != nil {
		return nil, fmt.Errorf("read Postgres's log: %w", err)
	}
	return wal.Attribute(records, databases, files), nil
}
