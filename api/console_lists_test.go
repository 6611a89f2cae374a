package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// An upload's page asks every few seconds, and counts tell it what is not listed.
// Programs that ask for the result get all of it, as before.
func TestTheConsoleListsTheFirstOfAnUpload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const created, failed = store.MaxShownTasks + 1, store.MaxShownErrors + 1
	ids := map[string]string{}
	newUpload(t, b, ids)
	id := ids["{upload_id}"]
	b.exec(t, `INSERT INTO upload_rows (upload_id, row_index, status, task_id)
		SELECT $1, i - 1, 'created', 1000 + i FROM generate_series(1, $2::int) i`, id, created)
	b.exec(t, `INSERT INTO upload_rows (upload_id, row_index, status, errors)
		SELECT $1, $2::int + i, 'failed', jsonb_build_array(jsonb_build_object('index', $2::int + i, 'field_name', 'a', 'message', 'x'))
		FROM generate_series(1, $3::int) i`, id, created, failed)
	b.exec(t, `UPDATE uploads SET status = 'processing', confirmed_at = now(), inspected_at = now(), rows_total = $2::int + $3::int,
		rows_done = $2::int + $3::int, success_count = $2::int, error_count = $3::int WHERE id = $1`, id, created, failed)

	p := b.login(t, "manager1")
	shows := func(errors int) {
		t.Helper()
		got := p.ok(t, 200, http.MethodGet, b.pipeline("/uploads/"+id), nil)
		require.Len(t, got["task_ids"], store.MaxShownTasks)
		require.InDelta(t, created, got["success_count"], 0)
		require.Len(t, got["errors"], errors)
		require.InDelta(t, failed, got["error_count"], 0)
	}
	shows(store.MaxShownErrors)
	b.exec(t, `UPDATE uploads SET status = 'completed', finished_at = now() WHERE id = $1`, id)
	shows(failed)

	a := b.v1(t, http.MethodGet, b.workflow("/tasks/upload/%s", id), nil)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.Len(t, a.Body["task_ids"], created)
	require.Len(t, a.Body["errors"], failed)
}

// fewReads is a store that is not to be asked for all that a person may see.
type fewReads struct {
	*store.Store
	t *testing.T
}

func (s fewReads) Me(ctx context.Context, userID int64) (store.Me, error) {
	s.t.Error("all projects and pipelines were read")
	return s.Store.Me(ctx, userID)
}

func TestWhoAmIReadsNoPipelines(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	b := serve(t, w, func(d *api.Deps) { d.Store = fewReads{w.Store, t} })
	me := b.login(t, "admin1").ok(t, 200, http.MethodGet, "/me", nil)
	require.InDelta(t, w.Admin, me["id"], 0)
	require.Equal(t, "admin1", me["name"])
	require.Equal(t, "admin1@acme.test", me["email"])
	require.Equal(t, []any{map[string]any{"id": float64(w.OrgID), "slug": "acme", "name": "acme", "role": "org_admin"}}, me["orgs"])
}

// A key that works is listed, however many there were since that do not.
func TestTheConsoleListsAKeyThatWorks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `INSERT INTO api_keys (org_id, name, hash, last4, created_by, revoked_at)
		SELECT $1, i::text, sha256(convert_to(i::text, 'UTF8')), 'beef', $2, now() FROM generate_series(1, $3::int) i`,
		b.OrgID, b.Admin, store.MaxKeys)
	keys := b.login(t, "admin1").ok(t, 200, http.MethodGet, b.org("/keys"), nil)["keys"].([]any)
	require.Len(t, keys, store.MaxKeys)
	require.Equal(t, "test", keys[0].(map[string]any)["name"])
}
