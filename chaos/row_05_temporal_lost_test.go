package chaos

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestRow05TemporalLosesRuns terminates and resets runs, and then drops
// Temporal's databases under its feet, so that it comes back empty: not even
// the search attributes of our runs are there. Clients are served on, every open
// task gets a run again without anybody's help, and nothing that was accepted is
// lost.
func TestRow05TemporalLosesRuns(t *testing.T) {
	w := &temporalRebuilt{}
	RunRow(t, Row{
		Number: 5, Name: "Temporal's data lost",
		Prepare: w.prepare,
		Faults: []Fault{
			RunsTerminated(20, 10, 1), RunsReset(20, 10, 2),
			w.fault("Temporal's databases dropped", func(ctx context.Context, r *Run) error { return r.dropTemporal(ctx) }),
		},
		Hold: time.Second,
		After: func(ctx context.Context, r *Run) error {
			n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE status NOT IN ('finished', 'failed', 'escalated') AND id <> ALL($1)`, w.knocking.tasks)
			if n > 0 {
				r.Violate("%d tasks are still open", n)
			}
			return errors.Join(err, w.knocking.finished(ctx))
		},
	})
}

// temporalRebuilt is Temporal on other data, with people who go on all the while as in
// row 4: no step opens a review until it is back, and the load runs out of work.
type temporalRebuilt struct {
	files    *uploads
	knocking *knocking
}

func (w *temporalRebuilt) prepare(_ context.Context, r *Run) error {
	w.files = r.newUploads()
	return nil
}

// fault breaks Temporal, which comes back by itself, with its schema made anew where
// that is gone: all must be made up for within the deadline after the injection.
func (w *temporalRebuilt) fault(name string, breaks func(ctx context.Context, r *Run) error) Fault {
	return Fault{
		Name: name, Serves: true, Starves: true, Hold: servedFor, Deadline: recoverWithin - servedFor,
		Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			var err error
			if w.knocking, err = newKnocking(ctx, w.files); err != nil {
				return nil, err
			}
			stop := w.knocking.start(name)
			if err := breaks(ctx, r); err != nil {
				return nil, errors.Join(err, stop())
			}
			return func(context.Context) error { return stop() }, nil
		},
	}
}

// dropTemporal drops both databases and kills the server, which makes them anew
// as it starts.
func (r *Run) dropTemporal(ctx context.Context) error {
	return r.underTemporal(ctx, "DROP DATABASE %[1]s WITH (FORCE)")
}

// underTemporal runs commands about each of Temporal's two databases, whose name is
// their argument, while the server is frozen, so that it does not tidy up. Then it is
// away in one blow, and starts anew on what is there.
func (r *Run) underTemporal(ctx context.Context, commands ...string) error {
	c, err := pgx.ParseConfig(r.Value("DATABASE_URL"))
	if err != nil {
		return err
	}
	c.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname LIKE 'temporal%'`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) != 2 {
		return fmt.Errorf("Temporal's databases are %v: %w", names, err)
	}
	pid := r.Pid(partTemporal)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, command := range commands {
		for _, name := range names {
			if _, err := conn.Exec(ctx, fmt.Sprintf(command, name)); err != nil {
				return fmt.Errorf("%s: %w", fmt.Sprintf(command, name), err)
			}
		}
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
