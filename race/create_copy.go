package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// copied are the tables that a creation writes, each with the column that names
// the task.
var copied = []struct{ table, id string }{
	{"tasks", "id"}, {"task_nodes", "task_id"}, {"task_events", "task_id"}, {"outbox", "task_id"},
}

// tableRows is what a creation left in a table, in COPY's binary format; the
// first column names the task.
type tableRows struct {
	table, columns string
	binary         []byte
	ids            []int // where the names of tasks stand, eight bytes each
}

// Sizes in COPY's binary format.
const (
	copyHeader  = 19 // signature, flags and no extension
	copyColumns = 2  // number of columns of a row
	copyLength  = 4  // of a column's value
)

// copyCreator writes the rows of a creation and nothing else: bytes that lie
// ready go through COPY into every table, in one transaction, on one
// connection.
type copyCreator struct {
	conn *pgx.Conn
	rows []tableRows
	next int64
}

func copyContender(bases *taskloomBases, name string) *createContender {
	var rows []tableRows
	return &createContender{
		in:   info{Name: name, Version: "pgx " + moduleVersion("github.com/jackc/pgx/v5"), Contract: "copy", Uses: []string{partPostgres}},
		base: bases.make,
		open: func(ctx context.Context, r *room, db *database) (creator, error) {
			if rows == nil {
				var err error
				if rows, err = rowsOfCreation(ctx, r, bases.world); err != nil {
					return nil, fmt.Errorf("read what a creation writes: %w", err)
				}
			}
			conn, err := pgx.Connect(ctx, db.url)
			return &copyCreator{conn: conn, rows: rows, next: 1 << 50}, err
		},
	}
}

// rowsOfCreation lets the product create once and reads what it wrote.
func rowsOfCreation(ctx context.Context, r *room, w *taskloomWorld) ([]tableRows, error) {
	t, err := w.begin(ctx, r)
	defer t.end(r)
	if err != nil {
		return nil, err
	}
	c := newHTTPClient(t.base, 1, "Authorization", "Bearer "+t.key)
	defer c.closeIdle()
	if _, _, err := c.call(ctx, http.MethodPost, t.createPath(), createBody(mostPerRequest, r.payload)); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, t.db.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	var out []tableRows
	for _, c := range copied {
		rows, err := readTable(ctx, conn, c.table, c.id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.table, err)
		}
		out = append(out, rows)
	}
	return out, nil
}

// readTable reads all columns but those that Postgres makes by itself.
func readTable(ctx context.Context, conn *pgx.Conn, table, id string) (tableRows, error) {
	out := tableRows{table: table}
	err := conn.QueryRow(ctx, `SELECT string_agg(quote_ident(column_name), ', ' ORDER BY column_name <> $2, ordinal_position)
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'
		AND (column_name = $2 OR is_identity = 'NO')`, table, id).Scan(&out.columns)
	if err != nil {
		return out, err
	}
	var text bytes.Buffer
	sql := fmt.Sprintf(`COPY (SELECT %s FROM %s ORDER BY %s) TO STDOUT (FORMAT binary)`, out.columns, table, id)
	if _, err := conn.PgConn().CopyTo(ctx, &text, sql); err != nil {
		return out, err
	}
	out.binary = text.Bytes()
	out.ids, err = idsInCopy(out.binary)
	return out, err
}

// idsInCopy finds the first column of every row, which is a bigint.
func idsInCopy(b []byte) (ids []int, err error) {
	for at := copyHeader; ; {
		if at+copyColumns > len(b) {
			return nil, errors.New("the rows break off")
		}
		columns := int16(binary.BigEndian.Uint16(b[at:])) //nolint:gosec // -1 is the end
		if at += copyColumns; columns < 0 {
			return ids, nil
		}
		ids = append(ids, at+copyLength)
		for range columns {
			if at+copyLength > len(b) {
				return nil, errors.New("the rows break off")
			}
			length := int(int32(binary.BigEndian.Uint32(b[at:]))) //nolint:gosec // -1 is NULL
			at += copyLength + max(0, length)
		}
	}
}

func (c *copyCreator) create(ctx context.Context) (time.Duration, error) {
	for _, t := range c.rows {
		for i, at := range t.ids {
			// The rows of a task stand one after the other, and tasks in their order.
			task := int64(i * mostPerRequest / len(t.ids))
			binary.BigEndian.PutUint64(t.binary[at:], uint64(c.next+task)) //nolint:gosec // positive
		}
	}
	c.next += mostPerRequest
	began := time.Now()
	err := pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		for _, t := range c.rows {
			sql := fmt.Sprintf(`COPY %s (%s) FROM STDIN (FORMAT binary)`, t.table, t.columns)
			if _, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(t.binary), sql); err != nil {
				return fmt.Errorf("copy %s: %w", t.table, err)
			}
		}
		return nil
	})
	return time.Since(began), err
}

func (c *copyCreator) children() []*child { return nil }

func (c *copyCreator) end(*room) {
	if c.conn != nil {
		_ = c.conn.Close(context.Background()) // what was measured is committed
	}
}
