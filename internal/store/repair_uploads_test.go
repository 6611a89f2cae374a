package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// processed makes an upload of three rows that has ended: two became tasks, one
// failed.
func (u *uploads) processed() uuid.UUID {
	u.t.Helper()
	ctx := u.t.Context()
	id := u.confirmed(rows(3)...).ID
	require.NoError(u.t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{}))
	_, err := u.Store.FinishRows(ctx, store.FinishRows{
		UploadID: id, VersionID: u.VersionID, Created: []store.UploadTask{u.task(0), u.task(1)}, Failed: []store.UploadRow{{Index: 2}},
	})
	require.NoError(u.t, err)
	_, err = u.Store.FinishUpload(ctx, id, store.UploadEnd{})
	require.NoError(u.t, err)
	return id
}

// Wrong counts are counted again. Where rows are missing, wait, or came from
// nowhere, the repair changes nothing: nobody knows what is right.
func TestUploadsAreCountedWhereTheirRowsAreAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken string
		by     []string // the invariants that say so
		mended bool
	}{
		"sound":            {`SELECT 1`, nil, false},
		"wrong counts":     {`UPDATE uploads SET success_count = 1, error_count = 2`, []string{"upload-counts"}, true},
		"too few done":     {`UPDATE uploads SET success_count = 1, rows_done = 2`, []string{"upload-counts"}, true},
		"a created row":    {`DELETE FROM upload_rows WHERE row_index = 0`, []string{"upload-rows"}, false},
		"all rows":         {`DELETE FROM upload_rows`, []string{"upload-rows"}, false},
		"one that waits":   {`INSERT INTO upload_rows (upload_id, row_index) SELECT id, 3 FROM uploads`, []string{"upload-rows"}, false},
		"a failed one not": {`UPDATE upload_rows SET status = 'waiting' WHERE row_index = 2`, []string{"upload-rows", "upload-counts"}, true},
		"not yet ended": {
			`UPDATE uploads SET status = 'processing', finished_at = NULL, rows_total = 4`, []string{"upload-rows"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUploads(t)
			ctx := t.Context()
			id := u.processed()
			_, err := u.Store.Pool().Exec(ctx, c.broken)
			require.NoError(t, err)
			before := u.load(id)
			require.ElementsMatch(t, c.by, u.broken())

			done, err := u.Store.RepairUploads(ctx, true)
			require.NoError(t, err)
			left := u.load(id)
			if !c.mended {
				require.Empty(t, done)
				require.Equal(t, before, left)
				require.ElementsMatch(t, c.by, u.broken())
				return
			}
			require.Len(t, done, 1)
			require.Equal(t, before.RowsTotal, left.RowsTotal)
			require.Equal(t, left.RowsDone, left.SuccessCount+left.ErrorCount)
			require.NotContains(t, u.broken(), "upload-counts")
		})
	}
}

// broken names the invariants that are.
func (u *uploads) broken() []string {
	u.t.Helper()
	found, err := u.Store.CheckInvariants(u.t.Context(), false)
	require.NoError(u.t, err)
	var names []string
	for _, v := range found {
		names = append(names, v.Invariant)
	}
	return names
}

// Rows that are written while the repair waits for their upload are counted, too.
func TestUploadsAreCountedAsTheyAreThen(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.processed()
	for _, sql := range []string{
		`UPDATE upload_rows SET status = 'waiting' WHERE row_index = 2`,
		`UPDATE uploads SET status = 'processing', finished_at = NULL, success_count = 0, error_count = 2, rows_done = 2`, // wrong by two
	} {
		_, err := u.Store.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	batch, err := u.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = batch.Rollback(ctx) }()
	for _, sql := range []string{
		`UPDATE uploads SET error_count = error_count + 1, rows_done = rows_done + 1`,
		`UPDATE upload_rows SET status = 'failed' WHERE row_index = 2`,
	} {
		_, err := batch.Exec(ctx, sql)
		require.NoError(t, err)
	}
	repaired := make(chan error)
	go func() {
		_, err := u.Store.RepairUploads(ctx, true)
		repaired <- err
	}()
	(&bench{World: u.World, t: t}).waiting(1)
	require.NoError(t, batch.Commit(ctx))
	require.NoError(t, <-repaired)
	left := u.load(id)
	require.Equal(t, []int{2, 1, 3}, []int{left.SuccessCount, left.ErrorCount, left.RowsDone})
}
