package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// A sweep is as late as what it has left: not by what is not due yet, and by nothing
// once it has been there.
func TestVitalsTellHowLateSweepsAre(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t)
	upload := func(status, expired, finished, swept any) {
		t.Helper()
		b.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, finished_at, swept_at)
			VALUES (gen_random_uuid(), $1, $2, 1, $3, 'k', true, now() - $4::interval, now() - $5::interval, now() - $6::interval)`,
			b.OrgID, b.PipelineID, status, expired, finished, swept)
	}
	file := func(age string, copied any, swept bool) {
		t.Helper()
		b.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, object_key, swept, created_at)
			VALUES (gen_random_uuid(), $1, 1, 'solve', 'scan', $2, 'put', 'a', 1, '', $3, $4, now() - $5::interval)`,
			b.OrgID, b.Contributors[0], copied, swept, age)
	}
	answer := func(age string) {
		t.Helper()
		b.exec(`INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer, created_at)
			VALUES ($1, 'POST /x', $2, '', 201, '{}', now() - $2::text::interval)`, b.KeyID, age)
	}
	late := func(want map[string]time.Duration) {
		t.Helper()
		v, err := b.Store.Vitals(ctx, time.Minute)
		require.NoError(t, err)
		require.Len(t, v.SweepsOverdue, len(want))
		for sweep, by := range want {
			require.InDelta(t, by.Seconds(), v.SweepsOverdue[sweep].Seconds(), 30, sweep)
		}
	}
	onTime := map[string]time.Duration{"uploads": 0, "files": 0, "answers": 0}
	late(onTime)

	upload("completed", "23 hours", "23 hours", nil)
	upload("completed", "5 days", "5 days", "4 days")
	upload("processing", "5 days", nil, nil)
	file("24 hours", nil, false)
	file("40 days", nil, true)
	answer("23 hours")
	late(onTime)

	upload("cancelled", "5 days", "1 hour", nil) // ended late
	file("30 days 1 hour", "copy", false)        // given up after 30 days
	answer("25 hours")
	late(map[string]time.Duration{"uploads": time.Hour, "files": time.Hour, "answers": time.Hour})

	upload("failed", "26 hours", "26 hours", nil)
	file("27 hours", nil, false)
	answer("26 hours")
	late(map[string]time.Duration{"uploads": 2 * time.Hour, "files": 2 * time.Hour, "answers": 2 * time.Hour})

	uploads, err := b.Store.UploadsToSweep(ctx, store.Upload{}, 10)
	require.NoError(t, err)
	require.Len(t, uploads, 2)
	for _, u := range uploads {
		require.NoError(t, b.Store.SweptUpload(ctx, u.ID))
	}
	files, err := b.Store.TaskFilesToSweep(ctx, store.TaskFileLeft{}, 10)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		require.NoError(t, b.Store.SweptTaskFile(ctx, f))
	}
	require.NoError(t, b.Store.Tidy(ctx))
	late(onTime)
}
