package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// deadWorkerWithin is how long the work of a dead worker may lie still while
// another one lives.
const deadWorkerWithin = 30 * time.Second

// TestRow02WorkerKilled kills one worker of two, then both. While the other one
// lives, whatever waited when the one died goes on within 30 s.
func TestRow02WorkerKilled(t *testing.T) {
	alone := func(target string) Fault {
		f := WorkerKilled(target)
		f.During = othersTakeOver
		return f
	}
	RunRow(t, Row{
		Number: 2, Name: "worker killed",
		Faults: []Fault{
			alone(targetA), alone(targetB), WorkerKilled(targetBoth),
			KilledAtCommit(ofWorker, pgproxy.Before), KilledAtCommit(ofWorker, pgproxy.After),
		},
	})
}

// othersTakeOver waits until nothing is left of what waited for a worker just
// now.
func othersTakeOver(ctx context.Context, r *Run) error {
	died := time.Now()
	ctx, cancel := context.WithDeadline(ctx, died.Add(deadWorkerWithin))
	defer cancel()
	var rows, tasks int
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		err := r.Store().Pool().QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox WHERE created_at < $1),
			(SELECT count(*) FROM tasks t WHERE applied_seq < seq AND applied_seq < (SELECT coalesce(max(e.seq), 0)
				FROM task_events e WHERE e.task_id = t.id AND e.created_at < $1))`, died).Scan(&rows, &tasks)
		return err == nil && rows+tasks == 0, err
	})
	if err != nil {
		r.Violate("liveness: %s after a worker died, with another one alive: %d rows of the outbox and %d tasks wait as they did (%v)",
			deadWorkerWithin, rows, tasks, r.waiting(err, died))
		return nil
	}
	r.Logf("%s", fmt.Sprintf("what waited when the worker died went on within %s", time.Since(died).Round(time.Millisecond)))
	return nil
}
