package activities_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// More than a page of what cannot be deleted, all of it due at one time, keeps nothing
// that is due later, and is tried to the last.
func TestTheSweepGoesOnBehindWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	const locked = 150
	h := newHall(t)
	h.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, finished_at)
		SELECT gen_random_uuid(), $1, $2, 1, 'failed', CASE WHEN i > $3 THEN 'archive' ELSE 'locked archive ' || i END, true,
			now() - CASE WHEN i > $3 THEN interval '25 hours' ELSE interval '26 hours' END, now() FROM generate_series(1, $3 + 1) i`,
		h.OrgID, h.PipelineID, locked)
	h.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, created_at)
		SELECT gen_random_uuid(), $1, 1, 'label', 'scan', $2, CASE WHEN i > $3 THEN 'put' ELSE 'locked put ' || i END, 'a', 1, '',
			now() - CASE WHEN i > $3 THEN interval '26 hours' ELSE interval '27 hours' END FROM generate_series(1, $3 + 1) i`,
		h.OrgID, h.Contributors[0], locked)
	h.held["archive"], h.held["put"] = []byte("x"), []byte("x")
	tried := map[string]int{}
	h.onDelete = func(key string) error {
		tried[key]++
		if strings.HasPrefix(key, "locked") {
			return errAway
		}
		return nil
	}
	_, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
	requireRetryable(t, err)
	require.Empty(t, h.held)
	require.Len(t, tried, 2*(locked+1))
	require.Equal(t, 1, h.count(`SELECT count(*) FROM uploads WHERE swept_at IS NOT NULL`))
	require.Equal(t, locked, h.count(`SELECT count(*) FROM task_files`))
}

// However an upload ended, the sweep deletes its archive; not while it is processed
// again because Postgres lost its end.
func TestTheSweepDeletesTheArchivesOfEndedUploads(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	add := func() store.Upload { return h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...) }
	completed, cancelled, failed, again := add(), add(), add(), add()
	h.run(completed)
	h.finish(cancelled, store.UploadOperator)
	h.finish(failed, store.UploadArchive)
	h.run(again)
	h.loseEnd(again)
	h.exec(`UPDATE uploads SET expires_at = now() - interval '25 hours'`)

	v, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
	require.NoError(t, err)
	var out activities.SweepResult
	require.NoError(t, v.Get(&out))
	require.Equal(t, activities.SweepResult{Swept: 3}, out)
	for _, u := range []store.Upload{completed, cancelled, failed} {
		require.NotContains(t, h.held, u.ObjectKey)
	}
	require.Contains(t, h.held, again.ObjectKey)
}
