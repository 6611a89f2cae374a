package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a check does unless it is told otherwise.
const (
	// CheckGrace is how long a task must be untouched before the check takes it
	// for being at rest.
	CheckGrace = 60 * time.Second
	// CheckChunk is how many tasks one snapshot covers.
	CheckChunk = 10_000
	// NoGrace takes every task for being at rest.
	NoGrace = -1 * time.Second

	uploadsAtOnce = 20
	// journalsAtOnce bounds the journals that are in memory at a time.
	journalsAtOnce = 1000
	// maxViolations bounds how many are told of one invariant; all are counted.
	maxViolations = 20
	// checkTimeout bounds a statement on a chunk, wholeTimeout one on what
	// cannot be divided, unless CheckOptions.Patience does.
	checkTimeout = 30 * time.Second
	wholeTimeout = 5 * time.Minute
)

// CheckOptions tune a check. The zero value checks everything that can be
// checked while people work.
type CheckOptions struct {
	// Drained adds what holds only when nothing is under way.
	Drained bool
	// Grace is how long a task must be untouched before what holds at rest is
	// asked of it; CheckGrace when 0, NoGrace for none.
	Grace time.Duration
	// Chunk is how many tasks one snapshot covers, CheckChunk when 0; Pause is
	// the rest between two, and between two pages of journals or of uploads.
	Chunk int
	Pause time.Duration
	// NoPeople leaves out what is about people and their rights, NoJournal the
	// folding of journals, which takes most of the time.
	NoPeople, NoJournal bool
	// Patience bounds every statement; 0 bounds one on a chunk of tasks by 30 s,
	// any other by 5 min.
	Patience time.Duration
	// SkipLate goes on without an invariant that ran out of its time, and says so
	// in its finding. Without it that ends the check with an error: a test must not
	// take what nobody looked at for sound.
	SkipLate bool
	// Progress, when set, is told how many of the tasks have been looked at.
	Progress func(done, of int64)
}

// Finding is what a check found out about one invariant.
type Finding struct {
	Invariant

	// Violations are the first ones, Total is how many there are.
	Violations []Violation
	Total      int64
	// Late says that it ran out of its time, so that not everything was looked at.
	Late bool
}

// Check looks for broken promises. It blocks nobody: it locks no rows, and reads
// a chunk of tasks at a time, each in a short read-only snapshot of its own, so
// that it neither holds vacuum up nor needs memory that grows with the database.
// What is a sum over all tasks takes one longer snapshot. With an error come the
// findings until then. Only a change of the
// schema waits for a snapshot's end, as for that of any statement.
func (s *Store) Check(ctx context.Context, o CheckOptions) ([]Finding, error) {
	c := check{store: s, CheckOptions: o, at: map[string]*Finding{}}
	if c.Chunk <= 0 {
		c.Chunk = CheckChunk
	}
	switch {
	case c.Grace == 0:
		c.Grace = CheckGrace
	case c.Grace < 0:
		c.Grace = 0
	}
	var names []string
	for _, inv := range invariants {
		if inv.Drained && !o.Drained || inv.scope == ofPeople && o.NoPeople || inv.scope == ofJournal && o.NoJournal {
			continue
		}
		names = append(names, inv.Name)
		c.at[inv.Name] = &Finding{Invariant: inv}
	}
	for _, step := range []func(context.Context) error{c.whole, c.uploads, c.tasks} {
		if err := step(ctx); err != nil {
			return c.findings(names), translate(err)
		}
	}
	return c.findings(names), nil
}

func (c *check) findings(names []string) []Finding {
	out := make([]Finding, len(names))
	for i, name := range names {
		out[i] = *c.at[name]
	}
	return out
}

// check is one under way.
type check struct {
	CheckOptions

	store *Store
	at    map[string]*Finding
}

// asked returns what is to be asked in a scope, in a fixed order. What ran out of
// its time once is not asked again: it would be late in every chunk.
func (c *check) asked(in ...scope) []Invariant {
	var out []Invariant
	for _, inv := range invariants {
		if f := c.at[inv.Name]; f != nil && !f.Late && slices.Contains(in, inv.scope) {
			out = append(out, inv)
		}
	}
	return out
}

// add notes violations of an invariant that is checked.
func (c *check) add(found ...Violation) {
	for _, v := range found {
		if f := c.at[v.Invariant]; f != nil {
			if f.Total++; len(f.Violations) < maxViolations {
				f.Violations = append(f.Violations, v)
			}
		}
	}
}

func (c *check) whole(ctx context.Context) error {
	for _, inv := range c.asked(ofWhole, ofPeople) {
		if err := c.ask(ctx, wholeTimeout, []Invariant{inv}, int64(0), int64(math.MaxInt64)); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) uploads(ctx context.Context) error {
	for after := uuid.Nil; ; {
		asked := c.asked(ofUploads)
		if len(asked) == 0 {
			return nil
		}
		last := uuid.Max
		err := c.row(ctx, wholeTimeout, `SELECT id FROM uploads WHERE id > $1 ORDER BY id OFFSET $2 LIMIT 1`, []any{after, uploadsAtOnce - 1}, &last)
		if c.late(err, ofUploads) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.ask(ctx, wholeTimeout, asked, after, last); err != nil || last == uuid.Max {
			return err
		}
		if err := pause(ctx, c.Pause); err != nil {
			return err
		}
		after = last
	}
}

// tasks walks all of them by their ids. The last chunk is open at its end, so
// that what belongs to no task is seen too.
func (c *check) tasks(ctx context.Context) error {
	var all int64
	if c.Progress != nil {
		err := c.row(ctx, checkTimeout, `SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'tasks'::regclass`, nil, &all)
		if err != nil {
			return err
		}
	}
	for after, done := int64(0), int64(0); ; {
		last, n := int64(math.MaxInt64), int64(0)
		err := c.row(ctx, checkTimeout, `SELECT max(id), count(*) FROM (SELECT id FROM tasks WHERE id > $1 ORDER BY id LIMIT $2) t
			HAVING count(*) = $2`, []any{after, c.Chunk}, &last, &n)
		if c.late(err, ofTasks) {
			c.late(err, ofJournal)
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.ask(ctx, checkTimeout, c.asked(ofTasks), after, last); err != nil {
			return err
		}
		if err := c.fold(ctx, after, last); err != nil {
			return err
		}
		done += n
		if c.Progress != nil {
			c.Progress(done, max(all, done))
		}
		if last == math.MaxInt64 {
			return nil
		}
		if err := pause(ctx, c.Pause); err != nil {
			return err
		}
		after = last
	}
}

// row reads the bound of a chunk; without one the values stay as they are.
func (c *check) row(ctx context.Context, limit time.Duration, sql string, args []any, into ...any) error {
	return c.store.snapshot(ctx, cmp.Or(c.Patience, limit), func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sql, args...).Scan(into...); !noRows(err) {
			return err
		}
		return nil
	})
}

// ask puts the questions of some invariants about a range to one snapshot. When
// one of them runs out of its time, the server answers none after it: each that is
// left is then asked by itself, and so it shows which one it was.
func (c *check) ask(ctx context.Context, limit time.Duration, asked []Invariant, after, last any) error {
	answered, err := c.askAtOnce(ctx, limit, asked, after, last)
	if !c.SkipLate || !ranOut(err) {
		return err
	}
	left := asked[answered:]
	if len(left) == 1 {
		c.at[left[0].Name].Late = true
		return nil
	}
	for _, inv := range left {
		if err := c.ask(ctx, limit, []Invariant{inv}, after, last); err != nil {
			return err
		}
	}
	return nil
}

// askAtOnce returns how many of the questions, from the first, were answered.
func (c *check) askAtOnce(ctx context.Context, limit time.Duration, asked []Invariant, after, last any) (answered int, err error) {
	if len(asked) == 0 {
		return 0, nil
	}
	err = c.store.snapshot(ctx, cmp.Or(c.Patience, limit), func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		for _, inv := range asked {
			b.Queue(inv.question(), after, last, c.Grace).Query(func(rows pgx.Rows) error {
				v := Violation{Invariant: inv.Name}
				var found []Violation
				var n int64
				_, err := pgx.ForEachRow(rows, []any{&v.TaskID, &v.Where, &n}, func() error {
					found = append(found, v)
					return nil
				})
				if err != nil {
					return fmt.Errorf("check %s (%s) after %v: %w", inv.Name, inv.Says, after, err)
				}
				f := c.at[inv.Name]
				f.Violations = append(f.Violations, found[:min(len(found), maxViolations-len(f.Violations))]...)
				f.Total += n
				answered++
				return nil
			})
		}
		return tx.SendBatch(ctx, b).Close()
	})
	return answered, err
}

// late notes what is asked in a scope as late when its walk ran out of its time,
// and reports whether that may be so.
func (c *check) late(err error, in scope) bool {
	if !c.SkipLate || !ranOut(err) {
		return false
	}
	for _, inv := range c.asked(in) {
		c.at[inv.Name].Late = true
	}
	return true
}

// RanOut reports whether a question of a check, or about files and runs, ended
// because its time was over.
func RanOut(err error) bool { return ranOut(err) }

// ranOut reports whether Postgres ended a statement because its time was over, with
// which it names also what somebody ended by pg_cancel_backend, or because what it
// reads was locked for too long.
func ranOut(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == codeQueryCanceled || pg.Code == codeLockTimeout)
}

// question counts what the invariant's SQL finds and returns the first rows. The SQL is
// planned by itself: nearly always nothing is found, and beside the limit the planner would
// take what finds a first row soonest, for which each row of a table is held against each
// of another. A row whose words have a hole, for a value is missing that nothing is without,
// is counted and told like every other: one such row must not end the check.
func (inv Invariant) question() string {
	bound := "bigint"
	if inv.scope == ofUploads {
		bound = "uuid"
	}
	return fmt.Sprintf(`WITH v(task, words) AS MATERIALIZED (%s)
		SELECT coalesce(v.task, 0)::bigint, coalesce(v.words, 'task ' || coalesce(v.task::text, '-') || ': something is missing there that nothing is without'),
			count(*) OVER () FROM v
		CROSS JOIN (SELECT $1::%s, $2::%s, $3::interval) AS p LIMIT %d`, inv.sql, bound, bound, maxViolations)
}

// snapshot runs fn in one read-only view of the database.
func (s *Store) snapshot(ctx context.Context, limit time.Duration, fn func(tx pgx.Tx) error) error {
	o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, o, func(tx pgx.Tx) error {
		// The pool's own limit for locks is shorter than what a check may take.
		if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '0', true)`,
			milliseconds(limit)); err != nil {
			return err
		}
		return fn(tx)
	})
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
