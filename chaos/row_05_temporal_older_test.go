package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/internal/store"
)

// TestRow05TemporalPutBackToAnOlderState copies Temporal's databases, lets people work
// on, and puts the copies back: runs know less than their tasks, runs of tasks that have
// ended since are open again, and tasks that were created since have none. Claims,
// submissions, creations and polls go on, also while Temporal is frozen, put back and
// starts anew, and every open task goes on to its end. The
// runs that are open for nothing are ended as docs/operations.md has it, by the command
// that the doctor names.
func TestRow05TemporalPutBackToAnOlderState(t *testing.T) {
	w := &temporalRebuilt{}
	RunRow(t, Row{
		Number: 5, Name: "Temporal put back to an older state",
		Prepare: w.prepare,
		Faults: []Fault{
			{Name: "Temporal's databases copied", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
				return nil, r.copyTemporal(ctx)
			}, Hold: holdFor(20 * time.Second)},
			w.fault("Temporal's databases put back to an older state", func(ctx context.Context, r *Run) error { return r.putTemporalBack(ctx) }),
		},
		After: func(ctx context.Context, _ *Run) error { return w.knocking.finished(ctx) },
	})
}

// copyTemporal copies both databases as they are at one moment, for which Temporal goes
// away.
func (r *Run) copyTemporal(ctx context.Context) error {
	return r.underTemporal(ctx,
		`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '%[1]s'`,
		`CREATE DATABASE kept_%[1]s TEMPLATE %[1]s`)
}

// putTemporalBack puts the copies back, and ends what they have of tasks that are over.
func (r *Run) putTemporalBack(ctx context.Context) error {
	ended := r.number(ctx, `SELECT count(*) FROM tasks WHERE status IN ('finished', 'failed')`)
	if err := r.underTemporal(ctx, `DROP DATABASE %[1]s WITH (FORCE)`, `ALTER DATABASE kept_%[1]s RENAME TO %[1]s`); err != nil {
		return err
	}
	var needless store.NeedlessRuns
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		open, err := r.openRuns(ctx)
		if err == nil {
			needless, err = r.Store().NeedlessRuns(ctx, 0, open, store.NoGrace)
		}
		return err == nil, nil // Temporal starts; asked again
	})
	if err != nil {
		return err
	}
	if len(needless.Ended) == 0 {
		return fmt.Errorf("%w: %d tasks are over, and no run of them came back", errMissed, ended)
	}
	r.Logf("%d runs of tasks that are over came back", len(needless.Ended))
	ids := make([]string, len(needless.Ended))
	for i, id := range needless.Ended {
		ids[i] = strconv.FormatInt(id, 10)
	}
	cmd := exec.CommandContext(ctx, stacktest.Binary(r.t, "taskloom"), "repair", "run", "--task", strings.Join(ids, ","), "--apply")
	cmd.Env = r.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("taskloom repair run: %w: %.500s", err, out)
	}
	return nil
}
