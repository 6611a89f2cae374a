package worker_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
)

// victimEnv tells this program to be a worker, for a test that kills it.
const victimEnv = "TASKLOOM_TEST_VICTIM"

type victim struct{ Database, Queue, Ingest string }

// TestVictim is the worker of TestAKilledWorker; by itself it is no test.
func TestVictim(t *testing.T) {
	doc := os.Getenv(victimEnv)
	if doc == "" {
		t.Skip("a part of TestAKilledWorker")
	}
	var v victim
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	st, err := store.Open(t.Context(), v.Database, store.Options{MaxConns: 8})
	require.NoError(t, err)
	require.NoError(t, worker.Run(t.Context(), worker.Deps{
		Store: st, Client: temporalClient(t), Namespace: namespace(), Logger: quiet(), TaskQueue: v.Queue,
		Objects: bucket(t), IngestQueue: v.Ingest, SweepEvery: time.Hour,
	}))
}

func TestAKilledWorkerIsMissedAtOnceAndTheNextGoesOn(t *testing.T) {
	t.Parallel()
	f := prepareIngest(t, bucket(t))
	doc, err := json.Marshal(victim{Database: f.Store.Pool().Config().ConnString(), Queue: f.queue, Ingest: f.ingest})
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env, cmd.Stderr = append(os.Environ(), victimEnv+"="+string(doc)), os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	alive := func(queue string) int {
		n, err := f.Store.WorkersAlive(t.Context(), queue, 6*time.Second)
		require.NoError(t, err)
		return n
	}
	f.until("the heartbeat", func() bool { return alive(f.ingest) == 1 })

	raw, rows := manyFiles(t, 3000)
	rows = append(rows, uploadRow(len(rows), "missing.txt"))
	u := f.upload(raw, rows...)
	f.until("progress", func() bool { got, _ := f.LoadUpload(t, u.ID); return got.SuccessCount > 0 })
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return alive(f.ingest) == 0 }, 4*time.Second, 10*time.Millisecond, "long before its heartbeat is old")
	require.Zero(t, alive(f.queue))

	f.start()
	t.Cleanup(func() { f.stop() })
	got, result := f.ends(u)
	require.Equal(t, []int{3001, 3000, 1}, []int{got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Equal(t, got.BytesTotal, got.BytesDone)
	require.Equal(t, 3000, result.Errors[0].Index)
	var files, tasks int
	require.NoError(t, f.Store.Pool().QueryRow(t.Context(), `SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM tasks)`).Scan(&files, &tasks))
	require.Equal(t, []int{3000, 3000}, []int{files, tasks}, "each row became one task, not one that is told and another")
}
