package worker_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
)

// victimEnv tells this program to be a worker, for a test that kills it.
const victimEnv = "TASKLOOM_TEST_VICTIM"

type victim struct{ Name, Database, Queue, Ingest string }

// TestVictim is a worker of TestAKilledWorkerIsMissedAtOnceAndAnotherGoesOn; by itself
// it is no test.
func TestVictim(t *testing.T) {
	doc := os.Getenv(victimEnv)
	if doc == "" {
		t.Skip("a part of TestAKilledWorkerIsMissedAtOnceAndAnotherGoesOn")
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
	f := prepareIngest(t, bucket(t))
	workers := map[string]*exec.Cmd{"first": f.victim("first"), "second": f.victim("second")}
	alive := func(queue string) int {
		n, err := f.Store.WorkersAlive(t.Context(), queue, 6*time.Second)
		require.NoError(t, err)
		return n
	}
	f.until("the heartbeats", func() bool { return alive(f.ingest) == 2 })

	raw, rows := manyFiles(t, 3000)
	rows = append(rows, uploadRow(len(rows), "missing.txt"))
	u := f.upload(raw, rows...)
	var busy *exec.Cmd
	f.until("progress", func() bool {
		got, _ := f.LoadUpload(t, u.ID)
		busy = workers[f.holder(u.ID)]
		return got.SuccessCount > 0 && busy != nil
	})
	killed := time.Now()
	require.NoError(t, busy.Process.Kill())
	_ = busy.Wait()
	require.Eventually(t, func() bool { return alive(f.ingest) == 1 }, 4*time.Second, 10*time.Millisecond, "long before its heartbeat is old")
	require.Equal(t, 1, alive(f.queue))
	left, _ := f.LoadUpload(t, u.ID) // with what it had sent to be committed
	require.Eventually(t, func() bool {
		got, _ := f.LoadUpload(t, u.ID)
		return got.RowsDone > left.RowsDone || got.Ended()
	}, 30*time.Second-time.Since(killed), 20*time.Millisecond, "the other one leaves it")

	got, result := f.ends(u)
	require.Equal(t, []int{3001, 3000, 1}, []int{got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Equal(t, got.BytesTotal, got.BytesDone)
	require.Equal(t, 3000, result.Errors[0].Index)
	var files, tasks int
	require.NoError(t, f.Store.Pool().QueryRow(t.Context(), `SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM tasks)`).Scan(&files, &tasks))
	require.Equal(t, []int{3000, 3000}, []int{files, tasks}, "each row became one task, not one that is told and another")
}
