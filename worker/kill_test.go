package worker_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

// takenOver is how long the work of a dead worker may lie still while another one runs
// (docs/promises.md).
const takenOver = 30 * time.Second

// victimEnv tells this program to be a worker, for a test that kills it.
const victimEnv = "TASKLOOM_TEST_VICTIM"

type victim struct{ Name, Database, Queue, Ingest string }

// TestVictim is a worker of the tests that kill one; by itself it is no test.
func TestVictim(t *testing.T) {
	doc := os.Getenv(victimEnv)
	if doc == "" {
		t.Skip("a part of the tests that kill a worker")
	}
	var v victim
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	st, err := store.Open(t.Context(), v.Database, store.Options{MaxConns: 8})
	require.NoError(t, err)
	require.NoError(t, worker.Run(t.Context(), worker.Deps{
		Store: st, Client: temporalClient(t), Namespace: namespace(), WorkerID: v.Name, Logger: quiet(), TaskQueue: v.Queue,
		Objects: bucket(t), IngestQueue: v.Ingest, SweepEvery: time.Hour,
	}))
}

// victim starts a worker as a process of its own.
func (f *floor) victim(name string) *exec.Cmd {
	f.t.Helper()
	doc, err := json.Marshal(victim{Name: name, Database: f.Store.Pool().Config().ConnString(), Queue: f.queue, Ingest: f.ingest})
	require.NoError(f.t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env, cmd.Stderr = append(os.Environ(), victimEnv+"="+string(doc)), os.Stderr
	require.NoError(f.t, cmd.Start())
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// twoWorkers starts two, each as a process of its own, and waits until both are heard.
func twoWorkers(t *testing.T, opts ...dbtest.Option) (*floor, map[string]*exec.Cmd) {
	t.Helper()
	f := prepareIngest(t, bucket(t), opts...)
	workers := map[string]*exec.Cmd{"first": f.victim("first"), "second": f.victim("second")}
	f.until("the heartbeats", func() bool { return f.alive() == 2 })
	return f, workers
}

// kill ends a worker with SIGKILL, and returns the time just before. It is dead then.
func kill(t *testing.T, w *exec.Cmd) time.Time {
	t.Helper()
	at := time.Now()
	require.NoError(t, w.Process.Kill())
	_ = w.Wait()
	return at
}

// keeper names the worker that did the last workflow task of a task's run, and so has
// the run in its memory; "" while one is under way. Who began it does not tell: the
// first may come with the answer to the start, and is the client's then.
func (f *floor) keeper(id int64) (name string) {
	f.t.Helper()
	for _, e := range f.history(workflows.TaskID(id)) {
		if e.GetWorkflowTaskScheduledEventAttributes() != nil {
			name = ""
		}
		if a := e.GetWorkflowTaskCompletedEventAttributes(); a != nil {
			name = a.GetIdentity()
		}
	}
	return name
}

// keepers sorts claims by the keepers of their tasks' runs.
func (f *floor) keepers(claims []*store.Claim) map[string][]*store.Claim {
	f.t.Helper()
	kept := map[string][]*store.Claim{}
	for _, c := range claims {
		var name string
		f.until("a run that waits", func() bool {
			name = f.keeper(c.TaskID)
			return name != ""
		})
		kept[name] = append(kept[name], c)
	}
	return kept
}

func (f *floor) submitAll(claims []*store.Claim) {
	f.t.Helper()
	for _, c := range claims {
		f.submit(c)
	}
}

// holder names the worker that a step of an upload's run is with.
func (f *floor) holder(id uuid.UUID) string {
	f.t.Helper()
	if steps := f.describeUpload(id).GetPendingActivities(); len(steps) > 0 {
		return steps[0].GetLastWorkerIdentity()
	}
	return ""
}

// Of two workers the one that unpacks an archive is killed: it is missed at once, and the
// other one has its work within 30 s.
func TestAKilledWorkerIsMissedAtOnceAndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	f, workers := twoWorkers(t)
	alive := func(queue string) int {
		n, err := f.Store.WorkersAlive(t.Context(), queue, 6*time.Second)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 2, alive(f.ingest))

	raw, rows := manyFiles(t, 3000)
	rows = append(rows, uploadRow(len(rows), "missing.txt"))
	u := f.upload(raw, rows...)
	var busy *exec.Cmd
	f.until("progress", func() bool {
		got, _ := f.LoadUpload(t, u.ID)
		busy = workers[f.holder(u.ID)]
		return got.SuccessCount > 0 && busy != nil
	})
	killed := kill(t, busy)
	require.Eventually(t, func() bool { return alive(f.ingest) == 1 }, 4*time.Second, 10*time.Millisecond, "long before its heartbeat is old")
	require.Equal(t, 1, alive(f.queue))
	left, _ := f.LoadUpload(t, u.ID) // with what it had sent to be committed
	require.Eventually(t, func() bool {
		got, _ := f.LoadUpload(t, u.ID)
		return got.RowsDone > left.RowsDone || got.Ended()
	}, takenOver-time.Since(killed), 20*time.Millisecond, "the other one leaves it")

	got, result := f.ends(u)
	require.Equal(t, []int{3001, 3000, 1}, []int{got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Equal(t, got.BytesTotal, got.BytesDone)
	require.Equal(t, 3000, result.Errors[0].Index)
	var files, tasks int
	require.NoError(t, f.Store.Pool().QueryRow(t.Context(), `SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM tasks)`).Scan(&files, &tasks))
	require.Equal(t, []int{3000, 3000}, []int{files, tasks}, "each row became one task, not one that is told and another")
}

// Of two workers with runs of tasks in their memories one is killed while people hand in:
// what follows from each submission, before the kill and after it, is there within 30 s.
func TestStepsOfAKilledWorkerGoOnAtAnother(t *testing.T) {
	t.Parallel()
	const tasks = 40
	f, workers := twoWorkers(t, dbtest.WithDefinition(dbtest.Definition()))
	ids := f.create(tasks)
	f.told() // by both: a dispatcher takes some ten starts at a time, and its process has those runs
	var claims []*store.Claim
	for range ids {
		claims = append(claims, f.claim(f.Contributors[0], pipeline.KindSubtask))
	}
	f.atRest()
	kept := f.keepers(claims)
	its, others := kept["first"], kept["second"]
	require.GreaterOrEqual(t, min(len(its), len(others)), 4, "both have runs in their memories")

	opened := func() (n int) {
		require.NoError(t, f.Store.Pool().QueryRow(t.Context(),
			`SELECT count(*) FROM task_nodes WHERE key = 'check' AND status = 'available'`).Scan(&n))
		return n
	}
	// Runs of both before the kill, its own last, so that it dies with some in its hands.
	// And of both after, where Temporal keeps its own for the dead.
	before, late := slices.Concat(others[:len(others)/2], its[:len(its)/2]), its[len(its)/2:]
	f.submitAll(before)
	killed := kill(t, workers["first"])
	waiting := len(before) - opened()
	f.submitAll(slices.Concat(late, others[len(others)/2:]))
	require.Eventually(t, func() bool { return opened() == tasks }, takenOver-time.Since(killed), 20*time.Millisecond,
		"counted from the kill, also for what was handed in after it")
	t.Logf("the killed worker had %d of %d runs; %d of %d submissions before the kill waited then; all went on within %s",
		len(its), tasks, waiting, len(before), time.Since(killed).Round(time.Millisecond))
	for _, c := range late {
		f.until("the other one to have its run", func() bool { return f.keeper(c.TaskID) == "second" })
	}

	for range ids {
		f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	}
	for _, id := range ids {
		f.becomes(id, task.Finished)
	}
	f.drained()
}
