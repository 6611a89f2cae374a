package chaos

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// How long the work of a dead worker may lie still while another one lives.
const (
	// stepsWithin is for steps, and for what its dispatcher had not taken: Temporal
	// gives a workflow task to another worker after 5 s.
	stepsWithin = 10 * time.Second
	// inHandWithin is for the few rows of the outbox that some dispatcher had in its
	// hands: the dead one's come back after store.OutboxLease, 8 s, and Temporal may
	// wait for the dead once more.
	inHandWithin = 15 * time.Second
	// lookUnderWay is how long a look at the outbox may take.
	lookUnderWay = 250 * time.Millisecond
	// archiveWithin is for an archive: its step is missed by its heartbeat.
	archiveWithin = 30 * time.Second
)

// TestRow02WorkerKilled kills one worker of two, then both, and both before and
// after the commits of what they do: with outbox rows in hand, once Temporal was
// told, in a step, with files stored whose rows are not there, and at the end of
// an upload. While the other one lives, whatever waited when the one died goes on
// within 10 s, what it had taken from the outbox within 15 s, an archive that it was
// unpacking within 30 s; every upload makes each of its tasks once, and every file of
// theirs is in the store with its bytes.
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
		f.During = func(ctx context.Context, r *Run) error { return r.othersTakeOver(ctx, stepsWithin, inHandWithin) }
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

// othersTakeOver waits until nothing is left of what waited for a worker just now:
// so long for what no dispatcher has in its hands, and so long for what one has.
func (r *Run) othersTakeOver(ctx context.Context, within, inHand time.Duration) error {
	died := time.Now()
	// A look at the outbox may have been on its way when the worker died.
	if err := r.pause(ctx, lookUnderWay); err != nil {
		return err
	}
	rows, _ := r.Store().Pool().Query(ctx, `SELECT DISTINCT task_id FROM outbox WHERE leased_until > now()`)
	taken, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if !r.wentOn(ctx, died, within, taken) {
		return nil
	}
	steps := time.Since(died)
	if r.wentOn(ctx, died, inHand, []int64{}) {
		r.Logf("what waited when the worker died went on within %s, and what was in the hands of a dispatcher, rows of %d tasks, within %s",
			steps.Round(time.Millisecond), len(taken), time.Since(died).Round(time.Millisecond))
	}
	return nil
}

// wentOn waits until nothing waits any more that did when a worker died, but of these
// tasks, and tells whether that came in time.
func (r *Run) wentOn(ctx context.Context, died time.Time, within time.Duration, but []int64) bool {
	ctx, cancel := context.WithDeadline(ctx, died.Add(within))
	defer cancel()
	var rows, tasks int
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		err := r.Store().Pool().QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox WHERE created_at < $1 AND task_id <> ALL($2)),
			(SELECT count(*) FROM tasks t WHERE id <> ALL($2) AND applied_seq < seq AND applied_seq < (SELECT coalesce(max(e.seq), 0)
				FROM task_events e WHERE e.task_id = t.id AND e.created_at < $1))`, died, but).Scan(&rows, &tasks)
		return err == nil && rows+tasks == 0, err
	})
	if err != nil {
		r.Violate("liveness: %s after a worker died, with another one alive: %d rows of the outbox and %d tasks wait as they did, beside %d in hand (%v)",
			within, rows, tasks, len(but), r.waiting(err, died))
	}
	return err == nil
}
