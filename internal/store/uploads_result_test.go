package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

func TestAResultHasABound(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed().ID
	_, err := u.Store.Pool().Exec(ctx, `INSERT INTO upload_rows (upload_id, row_index, status, errors)
		SELECT $1, i, 'failed', jsonb_build_array(jsonb_build_object('index', i, 'field_name', 'a', 'message', 'x'),
			jsonb_build_object('index', i, 'field_name', 'b', 'message', 'x')) FROM generate_series(0, $2) i`, id, store.MaxUploadErrors)
	require.NoError(t, err)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET inspected_at = now() WHERE id = $1`, id)
	require.NoError(t, err)
	got, err := u.Store.UploadResult(ctx, u.OrgID, id)
	require.NoError(t, err)
	require.Len(t, got.Errors, store.MaxUploadErrors)
	require.Equal(t, store.MaxUploadErrors/2-1, got.Errors[store.MaxUploadErrors-1].Index)
}

// fill stores rows of an upload that is processed, and counts them.
func (u *uploads) fill(id uuid.UUID, created, failed int) {
	u.t.Helper()
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO upload_rows (upload_id, row_index, status, task_id)
			SELECT $1, i - 1, 'created', 1000 + i FROM generate_series(1, $2::int) i`, []any{id, created}},
		{`INSERT INTO upload_rows (upload_id, row_index, status, errors)
			SELECT $1, $2::int + i - 1, 'failed', jsonb_build_array(jsonb_build_object('index', $2::int + i - 1, 'field_name', 'a', 'message', 'x'))
			FROM generate_series(1, $3::int) i`, []any{id, created, failed}},
		{`UPDATE uploads SET inspected_at = now(), rows_total = $2::int + $3::int, rows_done = $2::int + $3::int,
			success_count = $2::int, error_count = $3::int WHERE id = $1`, []any{id, created, failed}},
	} {
		_, err := u.Store.Pool().Exec(u.t.Context(), q.sql, q.args...)
		require.NoError(u.t, err)
	}
}

// A page asks for it every few seconds. The result is whole for those who ask once.
func TestWhatIsShownOfAResultHasABound(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	const created, failed = store.MaxShownTasks + 1, store.MaxShownErrors + 1
	id := u.confirmed().ID
	u.fill(id, created, failed)

	up := u.load(id)
	shown, err := u.Store.ShownResult(ctx, up)
	require.NoError(t, err)
	require.Len(t, shown.TaskIDs, store.MaxShownTasks)
	require.EqualValues(t, 1001, shown.TaskIDs[0], "the first")
	require.Len(t, shown.Errors, store.MaxShownErrors)
	require.Equal(t, created, shown.Errors[0].Index)
	require.Equal(t, []int{created, failed}, []int{up.SuccessCount, up.ErrorCount})

	earlier := up
	earlier.SuccessCount, earlier.ErrorCount = 3, 0
	shown, err = u.Store.ShownResult(ctx, earlier)
	require.NoError(t, err)
	require.Len(t, shown.TaskIDs, 3, "no more than its counts tell")
	require.Empty(t, shown.Errors)

	elsewhere := up
	elsewhere.OrgID++
	shown, err = u.Store.ShownResult(ctx, elsewhere)
	require.NoError(t, err)
	require.Equal(t, store.UploadResult{Errors: []seeding.ItemError{}, TaskIDs: []int64{}}, shown)

	up, err = u.Store.FinishUpload(ctx, id, store.UploadEnd{})
	require.NoError(t, err)
	require.True(t, up.Ended())
	shown, err = u.Store.ShownResult(ctx, up)
	require.NoError(t, err)
	require.Len(t, shown.TaskIDs, store.MaxShownTasks)
	require.Len(t, shown.Errors, failed, "nobody asks again and again any more")
	whole, err := u.Store.UploadResult(ctx, u.OrgID, id)
	require.NoError(t, err)
	require.Len(t, whole.TaskIDs, created)
	require.Equal(t, shown.Errors, whole.Errors)
}
