package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// A start may wait for its pace for a quarter of an hour, and longer where a claim
// stands for it or nobody could tell it.
func TestAStartMayWaitForItsPace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(2)
	exec := func(sql string) {
		_, err := b.Store.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	late := func() int64 {
		found, err := b.Store.Check(t.Context(), store.CheckOptions{NoPeople: true, NoJournal: true})
		require.NoError(t, err)
		for _, f := range found {
			if f.Name == "starts-told" {
				return f.Total
			}
		}
		t.Fatal("the check is gone")
		return 0
	}
	exec(`UPDATE outbox SET created_at = now() - interval '16 minutes'`)
	exec(`INSERT INTO worker_heartbeats (worker_id, queues, temporal_ok, at) VALUES ('w', '{tasks}', true, now() - interval '7 seconds')`)
	require.Zero(t, late(), "no worker is alive")
	exec(`UPDATE worker_heartbeats SET at = now() + interval '1 hour'`)
	require.Zero(t, late(), "one of before the clock stepped back is none")
	beat := func() { exec(`UPDATE worker_heartbeats SET at = now() + interval '5 seconds'`) } // good for eleven
	beat()
	require.EqualValues(t, 2, late())
	exec(`UPDATE outbox SET created_at = now() - interval '14 minutes'`)
	beat()
	require.Zero(t, late())
	exec(`UPDATE outbox SET created_at = now() - interval '16 minutes'`)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	beat()
	require.EqualValues(t, 1, late(), "the claim stands for the other's start")
}
