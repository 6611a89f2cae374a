package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/schema"
)

const (
	// migratedTasks lie in the database beside those of the load, unless
	// CHAOS_TASKS names another number.
	migratedTasks = 50_000
	// answeredWithin is how long a call may take while the schema changes.
	answeredWithin = 2 * time.Second
	// inTheWay is how long a reader holds the tables that a migration wants.
	inTheWay = 5 * time.Second
)

// TestRow20MigrationUnderLoad starts with the old version on its schema, with
// many tasks and under load. The present version migrates; the processes are
// replaced by it, put back to the old ones, and replaced again: the schema only
// ever goes forward, so going down is the old program on the new schema. Then
// what a next version may do to the schema is done, taken away and done again,
// each time with somebody reading the tables for a while. No call takes longer
// than two seconds meanwhile, and none fails; while a process is replaced, none
// fails on both servers.
func TestRow20MigrationUnderLoad(t *testing.T) {
	row := Row{Number: 20}
	row.skip(t)
	mustNotSkip(t)
	old, present := oldVersion(t, newFile, "schema/migrations"), presentVersion(t)
	m := &migrations{t: t}
	RunRow(t, Row{
		Number: 20, Name: "migration under load",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			s.Binary = old.Path
		},
		Prepare: func(ctx context.Context, r *Run) error {
			return r.fill(ctx, tasksAsked(t))
		},
		Faults: []Fault{
			m.fault("taskloom migrate under "+old.Name, func(ctx context.Context, r *Run) error { return r.migrateWith(ctx, present) }),
			m.rolling("up: "+present.Name+" replaces "+old.Name, present),
			m.rolling("down: "+old.Name+" on the new schema", old),
			m.rolling("up again", present),
			m.fault("a next migration, with a reader in its way", m.next(nextUp, nextIndex)),
			m.fault("what it made is dropped, with a reader in its way", m.next(nextDown)),
			m.fault("the next migration again", m.next(nextUp, nextIndex)),
		},
		Hold:  holdFor(3 * time.Second),
		After: m.check,
	})
}

// migrations remembers when the schema, or the program, was being changed.
type migrations struct {
	t       testing.TB
	windows []changing
	done    []string // files after the product's own
}

type changing struct {
	name         string
	began, ended time.Time
	replaces     bool // processes: what one of them did not do, the other does
}

// met tells whether a call was under way in it.
func (w changing) met(op Op) bool {
	return op.Return >= w.began.UnixNano() && op.Call <= w.ended.UnixNano()
}

// rolling replaces every process by another version, and the calls that meet it are
// looked at.
func (m *migrations) rolling(name string, v version) Fault {
	f := m.fault(name, v.replaces)
	inject := f.Inject
	f.Inject = func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		heal, err := inject(ctx, r)
		m.windows[len(m.windows)-1].replaces = true
		return heal, err
	}
	return f
}

// fault is a migration, and the calls that begin during it are looked at.
func (m *migrations) fault(name string, migrate func(ctx context.Context, r *Run) error) Fault {
	return Fault{Name: name, Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		w := changing{name: name, began: time.Now()}
		err := migrate(ctx, r)
		w.ended = time.Now()
		m.windows = append(m.windows, w)
		r.Logf("%s took %s", name, w.ended.Sub(w.began).Round(time.Millisecond))
		return nil, err
	}}
}

// migrateWith runs `taskloom migrate` of a version, which must change the schema.
func (r *Run) migrateWith(ctx context.Context, v version) error {
	before, _, err := r.Store().SchemaVersion(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, v.Path, "migrate")
	cmd.Env = r.Env()
	out, err := cmd.CombinedOutput()
	r.Logf("%s", short(string(out)))
	if err != nil {
		return fmt.Errorf("taskloom migrate: %w: %s", err, out)
	}
	after, _, err := r.Store().SchemaVersion(ctx)
	if err == nil && after == before {
		err = fmt.Errorf("the schema is version %d as before: this proves nothing", after)
	}
	return err
}

// What a next version may do, by the rules of docs/operations.md.
const (
	nextUp = `CREATE TABLE chaos_next (task_id bigint PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE, note text NOT NULL DEFAULT '');
		ALTER TABLE tasks ADD COLUMN chaos_next int NOT NULL DEFAULT 0;
		ALTER TABLE task_nodes ADD COLUMN chaos_next text;`
	nextIndex = noTransaction + "\n" + `DROP INDEX CONCURRENTLY IF EXISTS chaos_next_index;
		CREATE INDEX CONCURRENTLY chaos_next_index ON tasks (pipeline_id, chaos_next);`
	nextDown = `DROP INDEX chaos_next_index;
		ALTER TABLE task_nodes DROP COLUMN chaos_next;
		ALTER TABLE tasks DROP COLUMN chaos_next;
		DROP TABLE chaos_next;`
)

// next migrates on with these files after all that were before, while somebody
// reads the tables that they change.
func (m *migrations) next(files ...string) func(ctx context.Context, r *Run) error {
	return func(ctx context.Context, r *Run) error {
		m.done = append(m.done, files...)
		all := fstest.MapFS{}
		own, err := fs.Glob(schema.Migrations, "migrations/*.sql")
		if err != nil {
			return err
		}
		for _, name := range own {
			text, err := fs.ReadFile(schema.Migrations, name)
			if err != nil {
				return err
			}
			all[name[len("migrations/"):]] = &fstest.MapFile{Data: text}
		}
		for i, text := range m.done {
			all[fmt.Sprintf("%04d_next.sql", len(own)+1+i)] = &fstest.MapFile{Data: []byte(text)}
		}
		read, err := pgx.Connect(ctx, r.Value("DATABASE_URL"))
		if err != nil {
			return err
		}
		defer func() { _ = read.Close(context.WithoutCancel(ctx)) }()
		if _, err := read.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM tasks; SELECT count(*) FROM task_nodes`); err != nil {
			return err
		}
		gone := make(chan error, 1)
		go func() {
			_ = wait(ctx, inTheWay)
			_, err := read.Exec(ctx, `COMMIT`)
			gone <- err
		}()
		from, to, err := store.MigrateFiles(ctx, r.Value("DATABASE_URL"), all)
		if err != nil {
			return err
		}
		r.Logf("schema: version %d, was %d", to, from)
		return <-gone
	}
}

// check looks at the calls that were under way while the schema changed.
func (m *migrations) check(ctx context.Context, r *Run) error {
	ops := r.History.Ops()
	for _, w := range m.windows {
		calls, failed := 0, 0
		told, tries := map[string]int{}, chains{}
		var slowest time.Duration
		for _, op := range ops {
			on := tries.count(op, w.met(op))
			if !w.met(op) {
				continue
			}
			calls++
			took := time.Duration(op.Return - op.Call)
			slowest = max(slowest, took)
			if op.Outcome == Unknown {
				failed++
				told[op.told()]++
				if !w.replaces || on > 1 {
					r.Violate("%s of %s failed during %s after %s, on %d servers: %s", op.Kind, op.Who, w.name, took.Round(time.Millisecond), on, op.told())
				}
			}
			if took > answeredWithin {
				r.Violate("I10: %s of %s took %s during %s", op.Kind, op.Who, took, w.name)
			}
		}
		r.Logf("%s: %d calls, %d failed, the slowest took %s", w.name, calls, failed, slowest.Round(time.Millisecond))
		for _, p := range r.Serves {
			causesOf503(p.Log(), w.began, w.ended, told)
		}
		for _, text := range slices.Sorted(maps.Keys(told)) {
			r.Logf("  %d x %s", told[text], text)
		}
	}
	var invalid int
	err := r.Store().Pool().QueryRow(ctx, `SELECT count(*) FROM pg_index WHERE NOT indisvalid`).Scan(&invalid)
	if err == nil && invalid > 0 {
		r.Violate("%d indexes were left half built", invalid)
	}
	return err
}

func tasksAsked(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CHAOS_TASKS")
	if text == "" {
		return migratedTasks
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "CHAOS_TASKS is a whole number, such as 1000000")
	return n
}

// fill puts n tasks that nobody works on beside those of the load, in an
// organization of their own.
func (r *Run) fill(ctx context.Context, n int) error {
	const slug = "qmany"
	doc, err := json.Marshal(object{"organizations": []object{{
		"slug": slug, "name": slug, "users": []object{{"email": "admin@qmany.test", "name": "Admin qmany", "password": password, "role": "org_admin"}},
		"projects": []object{{"name": slug, "members": []object{}, "pipelines": []object{{"status": "ACTIVE", "definition": mathcheck.Definition()}}}},
		"api_keys": []object{},
	}}})
	if err != nil {
		return err
	}
	a := r.Apply(doc)
	at := mathcheck.Place{Org: a.Organizations[0].ID, Pipeline: a.Organizations[0].Pipelines[0].ID}
	if err := r.Store().Pool().QueryRow(ctx, `SELECT v.id, u.id FROM pipeline_versions v, users u WHERE v.pipeline_id = $1 AND u.email = 'admin@qmany.test'`,
		at.Pipeline).Scan(&at.Version, &at.Actor); err != nil {
		return err
	}
	began := time.Now()
	if err := mathcheck.FillNew(ctx, r.Store().Pool(), at, n); err != nil {
		return err
	}
	// Creations count what they make.
	if _, err := r.Store().Pool().Exec(ctx, `INSERT INTO pipeline_counts VALUES ($1, $2, 'open', $3), ($1, 0, 'subtask:queued', $3)`,
		at.Pipeline, at.Version, n); err != nil {
		return err
	}
	r.t.Logf("%d tasks were put there in %s", n, time.Since(began).Round(time.Millisecond))
	return nil
}
