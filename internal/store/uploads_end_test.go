package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

func TestAbandonedUploadsExpire(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	old, fresh := u.create(rows(1)...), u.create(rows(1)...)
	_, err := u.Store.Pool().Exec(ctx, `UPDATE uploads SET expires_at = now() - interval '6 minutes' WHERE id = $1`, old.ID)
	require.NoError(t, err)
	ended, err := u.Store.ExpireUploads(ctx, 10)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Equal(t, []string{store.UploadCancelled, store.UploadExpired}, []string{ended[0].Status, ended[0].Reason})
	require.Equal(t, store.UploadPending, u.load(fresh.ID).Status)
	sweep, err := u.Store.UploadsToSweep(ctx, store.Upload{}, 10)
	require.NoError(t, err)
	require.Empty(t, sweep, "the archive may be on its way")
	_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET expires_at = now() - interval '25 hours' WHERE id = $1`, old.ID)
	require.NoError(t, err)
	sweep, err = u.Store.UploadsToSweep(ctx, store.Upload{}, 10)
	require.NoError(t, err)
	require.Len(t, sweep, 1)
	require.NoError(t, u.Store.SweptUpload(ctx, old.ID))
	sweep, err = u.Store.UploadsToSweep(ctx, store.Upload{}, 10)
	require.NoError(t, err)
	require.Empty(t, sweep)
}

// Nobody keeps an upload but who may confirm it.
func TestAStrangerKeepsNoUpload(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.create(rows(1)...).ID
	_, err := u.Store.Pool().Exec(ctx, `UPDATE uploads SET expires_at = now() - interval '6 minutes'`)
	require.NoError(t, err)
	require.NoError(t, u.Store.AskedUpload(ctx, u.OrgID, u.PipelineID, id))
	ended, err := u.Store.ExpireUploads(ctx, 10)
	require.NoError(t, err)
	require.Empty(t, ended)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET asked_at = NULL`)
	require.NoError(t, err)
	require.NoError(t, u.Store.AskedUpload(ctx, u.OrgID+1, u.PipelineID, id))
	require.NoError(t, u.Store.AskedUpload(ctx, u.OrgID, u.PipelineID+1, id))
	ended, err = u.Store.ExpireUploads(ctx, 10)
	require.NoError(t, err)
	require.Len(t, ended, 1)
}

// Where no sweep comes, the reconciler cancels what nobody confirmed.
func TestTheReconcilerCancelsWhatTheSweepDoesNot(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	left, late := u.create(rows(1)...), u.create(rows(1)...)
	for id, ago := range map[uuid.UUID]string{left.ID: "21 minutes", late.ID: "6 minutes"} {
		_, err := u.Store.Pool().Exec(ctx, `UPDATE uploads SET expires_at = now() - $2::interval WHERE id = $1`, id, ago)
		require.NoError(t, err)
	}
	_, err := u.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	got := u.load(left.ID)
	require.Equal(t, []string{store.UploadCancelled, store.UploadExpired}, []string{got.Status, got.Reason})
	require.Equal(t, store.UploadPending, u.load(late.ID).Status, "the sweep deletes its archive at once")
}

// What was wrong at the init is counted, whenever the upload ends.
func TestRowsThatFailedAtTheInitAreCountedAtOnce(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	batch := rows(3)
	batch[1].Errors = []seeding.ItemError{{Index: 1, FieldName: "question", Message: "is wrong"}, {Index: 1, FieldName: "x", Message: "is unknown"}}
	counts := func(up store.Upload) []int { return []int{up.RowsTotal, up.RowsDone, up.SuccessCount, up.ErrorCount} }
	pending := u.create(batch...)
	require.Equal(t, []int{3, 1, 0, 1}, counts(pending))
	ended, err := u.Store.CancelUpload(ctx, u.OrgID, u.PipelineID, pending.ID, u.Admin)
	require.NoError(t, err)
	require.Equal(t, []int{3, 1, 0, 1}, counts(ended))
	result, err := u.Store.UploadResult(ctx, u.OrgID, pending.ID)
	require.NoError(t, err)
	require.Equal(t, batch[1].Errors, result.Errors)

	looked := u.confirmed(batch...)
	require.NoError(t, u.Store.SaveUploadPlan(ctx, looked.ID, store.UploadPlan{}))
	require.Equal(t, []int{3, 1, 0, 1}, counts(u.load(looked.ID)), "the look counts no row twice")
}

// A look that was not complete leaves rows that nothing counts: they are not told.
func TestRowsOfAHalfDoneLookAreNotTold(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	up := u.confirmed()
	look, err := u.Store.BeginUploadLook(ctx, up.ID)
	require.NoError(t, err)
	bad := []store.UploadRow{{Index: 0, Errors: []seeding.ItemError{{Message: "the folder holds nothing"}}}}
	require.NoError(t, u.Store.SaveUploadRows(ctx, up.ID, look, bad))
	ended, err := u.Store.FinishUpload(ctx, up.ID, store.UploadEnd{Status: store.UploadFailed, Reason: store.UploadArchive})
	require.NoError(t, err)
	require.Zero(t, ended.ErrorCount)
	result, err := u.Store.UploadResult(ctx, u.OrgID, up.ID)
	require.NoError(t, err)
	require.Empty(t, result.Errors)
}

// The end of an upload writes one row, however many it has: what they hold is
// emptied in pages, later.
func TestRowsOfAnEndedUploadAreEmptiedInPages(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(5)...).ID
	full := func() (n int) {
		require.NoError(t, u.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM upload_rows WHERE upload_id = $1 AND fields <> '{}'`, id).Scan(&n))
		return n
	}
	_, more, err := u.Store.EmptyRows(ctx, id, -1, 10)
	require.NoError(t, err)
	require.False(t, more, "it is at work")
	_, err = u.Store.FinishUpload(ctx, id, store.UploadEnd{Status: store.UploadCancelled, Reason: store.UploadStopped})
	require.NoError(t, err)
	require.Equal(t, 5, full())
	_, err = u.Store.Pool().Exec(ctx, `UPDATE upload_rows SET status = 'failed' WHERE upload_id = $1 AND row_index = 1`, id)
	require.NoError(t, err)
	last := -1
	for _, want := range []struct{ last, full int }{{2, 3}, {4, 1}} {
		last, more, err = u.Store.EmptyRows(ctx, id, last, 2)
		require.NoError(t, err)
		require.True(t, more)
		require.Equal(t, want.last, last)
		require.Equal(t, want.full, full(), "a row that had its turn is not touched")
	}
	_, more, err = u.Store.EmptyRows(ctx, id, last, 2)
	require.NoError(t, err)
	require.False(t, more)
}

// As when a standby takes over that had not heard of the last rows, or of the look.
func TestCountsEndOnlyAnUploadThatIsDone(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	stays := func(id uuid.UUID, status string) {
		t.Helper()
		up, err := u.Store.FinishUpload(ctx, id, store.UploadEnd{})
		require.NoError(t, err)
		require.Equal(t, status, up.Status)
		require.Equal(t, u.load(id), up)
	}
	stays(u.create(rows(1)...).ID, store.UploadPending)
	stays(u.confirmed().ID, store.UploadProcessing)

	id := u.confirmed(rows(3)...).ID
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{}))
	for i := range 3 {
		stays(id, store.UploadProcessing)
		_, err := u.Store.FinishRows(ctx, store.FinishRows{UploadID: id, VersionID: u.VersionID, Created: []store.UploadTask{u.task(i)}})
		require.NoError(t, err)
	}
	up, err := u.Store.FinishUpload(ctx, id, store.UploadEnd{})
	require.NoError(t, err)
	require.Equal(t, store.UploadCompleted, up.Status)
}
