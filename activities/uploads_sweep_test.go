package activities_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
