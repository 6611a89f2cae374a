package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// look begins a look into an archive.
func (u *uploads) look(id uuid.UUID) int64 {
	u.t.Helper()
	n, err := u.Store.BeginUploadLook(u.t.Context(), id)
	require.NoError(u.t, err)
	return n
}

func TestDerivedRowsAreStoredOnce(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed().ID
	require.True(t, u.load(id).Derived)
	look := u.look(id)
	require.NoError(t, u.Store.SaveUploadRows(ctx, id, look, rows(3)))
	require.NoError(t, u.Store.SaveUploadRows(ctx, id, look, rows(5)))
	waiting, err := u.Store.WaitingRows(ctx, id, 10)
	require.NoError(t, err)
	require.Len(t, waiting, 5)
}

func TestASecondLookIntoAnArchiveReplacesTheFirst(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed().ID
	require.NoError(t, u.Store.SaveUploadRows(ctx, id, u.look(id), rows(5)), "of a worker that died before it was done")
	look := u.look(id)
	require.NoError(t, u.Store.SaveUploadRows(ctx, id, look, rows(3)))
	plan := store.UploadPlan{Look: look, Derived: 3}
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, plan))
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, plan), "the answer was lost")
	_, err := u.Store.BeginUploadLook(ctx, id)
	require.ErrorIs(t, err, store.ErrNewerLook, "too late")
	waiting, err := u.Store.WaitingRows(ctx, id, 10)
	require.NoError(t, err)
	require.Len(t, waiting, 3)
	require.Equal(t, 3, u.load(id).RowsTotal)
}

// A worker that stands still is given up for dead, another begins a look of its
// own, and the first goes on: where it stood, and how far the other was by then,
// loses no row.
func TestALookThatWasGivenUpWritesNothing(t *testing.T) {
	t.Parallel()
	all := rows(12)
	for name, c := range map[string]struct {
		before int // rows that the first look had stored when it stood still
		meant  int // rows that the second has stored when the first goes on
	}{
		"before its plan":      {12, 5},
		"before its last rows": {5, 5},
		"before its rows":      {0, 7},
		"and another of none":  {12, 0},
		"and another of all":   {5, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUploads(t)
			ctx := t.Context()
			id := u.confirmed().ID
			first := u.look(id)
			require.NoError(t, u.Store.SaveUploadRows(ctx, id, first, all[:c.before]))

			second := u.look(id)
			require.NoError(t, u.Store.SaveUploadRows(ctx, id, second, all[:c.meant]))

			require.ErrorIs(t, u.Store.SaveUploadRows(ctx, id, first, all[c.before:]), store.ErrNewerLook)
			require.ErrorIs(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{Look: first, Derived: 12}), store.ErrNewerLook)
			require.False(t, u.load(id).Inspected)

			require.NoError(t, u.Store.SaveUploadRows(ctx, id, second, all[c.meant:]))
			require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{Look: second, Derived: 12}))
			require.ErrorIs(t, u.Store.SaveUploadRows(ctx, id, first, all), store.ErrNewerLook, "after the plan, too")
			require.ErrorIs(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{Look: first, Derived: 12}), store.ErrNewerLook)
			require.Equal(t, 12, u.load(id).RowsTotal)
			waiting, err := u.Store.WaitingRows(ctx, id, 100)
			require.NoError(t, err)
			require.Len(t, waiting, 12)
		})
	}
}

// A plan is of the rows that its look derived, or it is none.
func TestAPlanOfOtherRowsIsRefused(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	for _, derived := range []int{4, 6} {
		id := u.confirmed().ID
		look := u.look(id)
		require.NoError(t, u.Store.SaveUploadRows(ctx, id, look, rows(5)))
		err := u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{Look: look, Derived: derived})
		require.ErrorContains(t, err, "5 rows are stored")
		require.False(t, u.load(id).Inspected)
	}
}

// A worker of a release that knows no numbers makes its plan of what another has
// stored by then. Nobody can undo it, and nobody must go on as if all were well.
func TestAPlanOfAnOlderReleaseIsNoticed(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	old := func(id uuid.UUID) {
		_, err := u.Store.Pool().Exec(ctx, `UPDATE uploads SET inspected_at = now(), rows_total =
			(SELECT count(*) FROM upload_rows WHERE upload_id = $1) WHERE id = $1`, id)
		require.NoError(t, err)
	}
	part := u.confirmed().ID
	look := u.look(part)
	require.NoError(t, u.Store.SaveUploadRows(ctx, part, look, rows(5)))
	old(part)
	require.ErrorIs(t, u.Store.SaveUploadRows(ctx, part, look, rows(12)[5:]), store.ErrForeignPlan)
	require.ErrorIs(t, u.Store.SaveUploadPlan(ctx, part, store.UploadPlan{Look: look, Derived: 12}), store.ErrForeignPlan)

	whole := u.confirmed().ID
	look = u.look(whole)
	require.NoError(t, u.Store.SaveUploadRows(ctx, whole, look, rows(12)))
	old(whole)
	require.NoError(t, u.Store.SaveUploadPlan(ctx, whole, store.UploadPlan{Look: look, Derived: 12}), "it is the same one")
}

// A batch may be under way while a standby takes over that had not heard of the look:
// what it makes would be in no plan.
func TestNoRowIsDoneBeforeTheLook(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(1)...).ID
	in := store.FinishRows{UploadID: id, VersionID: u.VersionID, Created: []store.UploadTask{u.task(0)}}
	_, err := u.Store.FinishRows(ctx, in)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorContains(t, err, "has not been looked at")
	require.Zero(t, u.load(id).RowsDone)

	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{}))
	out, err := u.Store.FinishRows(ctx, in)
	require.NoError(t, err)
	require.Equal(t, store.FinishedRows{Created: 1}, out)
}

// Earlier releases let a batch write its rows all the same. A plan that comes after
// them counts them, too.
func TestAPlanCountsTheRowsThatAreTasksAlready(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	all := rows(3)
	all[2].Errors = []seeding.ItemError{{Index: 2, FieldName: "question", Message: "is wrong"}}
	id := u.confirmed(all...).ID
	finish := func(row int) {
		_, err := u.Store.FinishRows(ctx, store.FinishRows{UploadID: id, VersionID: u.VersionID, Created: []store.UploadTask{u.task(row)}})
		require.NoError(t, err)
	}
	counts := func(up store.Upload) []int { return []int{up.RowsTotal, up.RowsDone, up.SuccessCount, up.ErrorCount} }
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{BytesTotal: 6}))
	finish(0)
	_, err := u.Store.Pool().Exec(ctx, `UPDATE uploads SET inspected_at = NULL, bytes_total = 0 WHERE id = $1`, id)
	require.NoError(t, err)

	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{BytesTotal: 3}), "of the row that waits")
	require.Equal(t, []int{3, 2, 1, 1}, counts(u.load(id)))
	finish(1)
	end, err := u.Store.FinishUpload(ctx, id, store.UploadEnd{})
	require.NoError(t, err)
	require.Equal(t, store.UploadCompleted, end.Status)
	require.Equal(t, []int{3, 3, 2, 1}, counts(end))
	require.Equal(t, []int64{6, 6}, []int64{end.BytesTotal, end.BytesDone})
	require.Empty(t, u.broken())
}
