package activities_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/store"
)

// What a browser put goes a day later, a file a month later: unless it was
// submitted, or its person still has a draft that can be handed in.
func TestTheSweepDeletesFilesOfPeopleThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	user := h.Contributors[0]
	add := func(name, age string, completed, submitted bool, taskID int64) {
		object := "final/" + name
		h.held["put/"+name] = []byte("x")
		if completed {
			h.held[object] = []byte("x")
		}
		h.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type,
				object_key, sha256, content_type, completed_at, submitted, created_at)
			VALUES ($1, $2, $3, 'label', 'scan', $4, $5, $6, 1, '', CASE WHEN $7 THEN $8 END, CASE WHEN $7 THEN '' END,
				CASE WHEN $7 THEN '' END, CASE WHEN $7 THEN now() - $9::interval END, $10, now() - $9::interval)`,
			uuid.New(), h.OrgID, taskID, user, "put/"+name, name, completed, object, age, submitted)
	}
	// Each had a completion that died before it noted what it had copied.
	copied := func(name, end string) string {
		var id uuid.UUID
		require.NoError(t, h.Store.Pool().QueryRow(t.Context(), `SELECT id FROM task_files WHERE name = $1`, name).Scan(&id))
		return store.TaskFileCopy(h.OrgID, 1, id, end)
	}
	add("under way", "2 hours", false, false, 1)
	add("given up", "2 days", false, false, 1)
	add("submitted", "2 days", true, true, 1)
	add("submitted long ago", "40 days", true, true, 1)
	add("forgotten", "40 days", true, false, 1)
	add("not yet forgotten", "20 days", true, false, 1)
	add("in a draft", "40 days", true, false, 2)
	add("in a draft of what others finished", "40 days", true, false, 3)
	add("in a draft of what failed", "40 days", true, false, 4)
	for id, status := range map[int]string{2: "in_progress", 3: "in_progress", 4: "failed"} {
		node := map[int]string{2: "available", 3: "finished", 4: "available"}[id]
		h.exec(`INSERT INTO tasks (id, org_id, pipeline_id, version_id, status, n_total, n_pending, input) VALUES ($1, $2, $3, $4, $5, 1, 1, '{}')`,
			id, h.OrgID, h.PipelineID, h.VersionID, status)
		h.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES ($1, 'label', $2, $3, 'subtask', $4)`,
			id, h.OrgID, h.PipelineID, node)
		h.exec(`INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision) VALUES ($1, 'label', $2, $3, '{}', 1)`, id, user, h.OrgID)
	}

	for _, name := range []string{"under way", "given up", "submitted"} {
		for _, end := range []string{"A", "B", "C"} {
			h.held[copied(name, end)] = []byte("x")
		}
	}
	h.exec(`UPDATE task_files SET object_key = $1 WHERE name = 'submitted'`, copied("submitted", "B"))
	want := []string{
		"final/in a draft", "final/not yet forgotten", "final/submitted", "final/submitted long ago", "put/under way",
		copied("under way", "A"), copied("under way", "B"), copied("under way", "C"), copied("submitted", "B"),
	}

	sweep := func() (out activities.SweepResult, err error) {
		v, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
		if err == nil {
			err = v.Get(&out)
		}
		return out, err
	}
	h.onDelete = func(string) error { return errAway }
	_, err := sweep()
	requireUnswept(t, err)
	h.onDelete = nil
	for range 2 { // again changes nothing
		_, err = sweep()
		require.NoError(t, err)
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(h.held)))
		require.Equal(t, 5, h.count(`SELECT count(*) FROM task_files`))
		require.Equal(t, 4, h.count(`SELECT count(*) FROM task_files WHERE completed_at IS NOT NULL`))
	}
}
