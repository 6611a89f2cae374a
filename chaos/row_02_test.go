package chaos

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// deadWorkerWithin is how long the work of a dead worker may lie still while
// another one lives.
const deadWorkerWithin = 30 * time.Second

// TestRow02WorkerKilled kills one worker of two, then both, and both before and
// after the commits of what they do: with outbox rows in hand, once Temporal was
// told, in a step, with files stored whose rows are not there, and at the end of
// an upload. While the other one lives, whatever waited when the one died goes on
// within 30 s, an archive that it was unpacking too; every upload makes each of its tasks once, and every file of theirs
// is in the store with its bytes.
func TestRow02WorkerKilled(t *testing.T) {
	const rows = 60
	var files *uploads
	var sent []upload
	archive := &unpacker{rows: rows}
	uploading := func(ctx context.Context, r *Run) error {
		up, err := files.put(ctx, zipOf(r.t, rows, 5000))
		if err != nil {
			return err
		}
		sent = append(sent, up)
		status, answer, err := files.confirm(ctx, up)
		if err == nil && status != http.StatusAccepted {
			err = fmt.Errorf("confirm was answered %d: %.200s", status, answer)
		}
		return err
	}
	alone := func(target string) Fault {
		f := WorkerKilled(target)
		f.During = othersTakeOver
		return f
	}
	RunRow(t, Row{
		Number: 2, Name: "worker killed",
		Faults: []Fault{
			alone(targetA), alone(targetB), archive.fault(), WorkerKilled(targetBoth),
			KilledAtCommit(ofWorker, pgproxy.After, atTaken, nil), KilledAtCommit(ofWorker, pgproxy.Before, atTold, nil),
			KilledAtCommit(ofWorker, pgproxy.Before, atStep, nil), KilledAtCommit(ofWorker, pgproxy.After, atStep, nil),
			KilledAtCommit(ofWorker, pgproxy.Before, atFile, uploading), KilledAtCommit(ofWorker, pgproxy.After, atFile, uploading),
			KilledAtCommit(ofWorker, pgproxy.Before, atFinalise, uploading), KilledAtCommit(ofWorker, pgproxy.After, atFinalise, uploading),
		},
		Prepare: func(_ context.Context, r *Run) error {
			files = r.newUploads()
			archive.files = files
			return nil
		},
		After: func(ctx context.Context, r *Run) error {
			archive.made(ctx)
			for _, up := range sent {
				files.made(ctx, files.ended(ctx, up.ID, recoverWithin), rows)
			}
			return r.filesAreWhole(ctx, bucketOf(r.Stack))
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
