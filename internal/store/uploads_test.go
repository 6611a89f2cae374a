package store_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// uploads is a world with uploads in it.
type uploads struct {
	*dbtest.World
	t *testing.T
}

func newUploads(t *testing.T) *uploads {
	t.Helper()
	return &uploads{World: dbtest.NewWorld(t, dbtest.WithDefinition(dbtest.Simple())), t: t}
}

func (u *uploads) create(rows ...store.UploadRow) store.Upload {
	u.t.Helper()
	id := uuid.Must(uuid.NewV7())
	up, replay, err := u.Store.CreateUpload(u.t.Context(), store.NewUpload{
		ID: id, OrgID: u.OrgID, PipelineID: u.PipelineID, Actor: u.Admin, ObjectKey: "org/1/uploads/" + id.String(),
		Lives: time.Hour, Rows: rows,
	})
	require.NoError(u.t, err)
	require.Nil(u.t, replay)
	return up
}

func (u *uploads) confirm(id uuid.UUID) (store.Upload, error) {
	up, _, err := u.Store.ConfirmUpload(u.t.Context(), store.ConfirmUpload{
		OrgID: u.OrgID, PipelineID: u.PipelineID, ID: id, ArchiveBytes: 7, ArchiveETag: `"x"`,
	})
	return up, err
}

func (u *uploads) confirmed(rows ...store.UploadRow) store.Upload {
	u.t.Helper()
	up, err := u.confirm(u.create(rows...).ID)
	require.NoError(u.t, err)
	return up
}

func (u *uploads) load(id uuid.UUID) store.Upload {
	u.t.Helper()
	up, err := u.Store.LoadUpload(u.t.Context(), id)
	require.NoError(u.t, err)
	return up
}

// task is row i as a task with one file.
func (u *uploads) task(i int) store.UploadTask {
	u.t.Helper()
	v, err := u.Store.Version(u.t.Context(), u.VersionID)
	require.NoError(u.t, err)
	state, err := pipeline.Start(v.Graph, nil)
	require.NoError(u.t, err)
	return store.UploadTask{
		Index: i, Input: question(i), State: state, Bytes: 3,
		Files: []store.File{{
			ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)), Key: fmt.Sprintf("org/1/files/%d", i), Name: "a.txt", Size: 3,
			SHA256: "00", ContentType: "text/plain",
		}},
	}
}

func question(i int) form.Values {
	return form.Values{"question": json.RawMessage(fmt.Sprintf(`"question %d"`, i))}
}

func rows(n int) []store.UploadRow {
	out := make([]store.UploadRow, n)
	for i := range out {
		out[i] = store.UploadRow{Index: i, Fields: question(i)}
	}
	return out
}

func TestAnUploadIsConfirmedOnce(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	id := u.create(rows(1)...).ID
	const racers = 32
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { _, errs[i] = u.confirm(id) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	}
	require.Equal(t, 1, won)
	got := u.load(id)
	require.Equal(t, store.UploadProcessing, got.Status)
	require.Equal(t, int64(7), got.ArchiveBytes)
}

// Rows that wait would fail for good, also where the pipeline is opened again at once.
func TestAPipelineIsNotClosedWhileRowsWait(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	set := func(v pipeline.Verb) error {
		_, err := u.Store.SetPipelineStatus(t.Context(), u.OrgID, u.PipelineID, u.Admin, v)
		return err
	}
	waiting := u.create(rows(1)...)
	up := u.confirmed(rows(2)...)
	err := set(pipeline.VerbComplete)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.ErrorContains(t, err, "1 upload of tasks under way")
	require.NoError(t, set(pipeline.VerbPause), "that keeps nothing from becoming a task")
	err = set(pipeline.VerbArchive)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	_, err = u.Store.CancelUpload(t.Context(), u.OrgID, u.PipelineID, up.ID, u.Admin)
	require.NoError(t, err)
	require.NoError(t, set(pipeline.VerbComplete), "what is cancelled makes no more tasks anyway")
	_, err = u.confirm(waiting.ID)
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	require.Equal(t, store.UploadPending, u.load(waiting.ID).Status)
	require.NoError(t, set(pipeline.VerbReopen))
	_, err = u.confirm(waiting.ID)
	require.NoError(t, err)
}

func TestAnUploadIsFoundInItsPipelineOnly(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	id := u.create(rows(1)...).ID
	other := dbtest.Org(t, u.Store, dbtest.WithSlug("other"))
	ctx := t.Context()
	_, err := u.Store.FindUpload(ctx, u.OrgID, u.PipelineID, id)
	require.NoError(t, err)
	for _, at := range [][2]int64{{other.OrgID, u.PipelineID}, {u.OrgID, other.PipelineID}, {other.OrgID, other.PipelineID}} {
		_, err = u.Store.FindUpload(ctx, at[0], at[1], id)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		_, _, err = u.Store.ConfirmUpload(ctx, store.ConfirmUpload{OrgID: at[0], PipelineID: at[1], ID: id})
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		_, err = u.Store.CancelUpload(ctx, at[0], at[1], id, other.Admin)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	}
	got, err := u.Store.UploadResult(ctx, other.OrgID, id)
	require.NoError(t, err)
	require.Empty(t, got.TaskIDs)
	require.Equal(t, store.UploadPending, u.load(id).Status)
}

func TestRowsBecomeTasksOnce(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	bad := store.UploadRow{Index: 1, Errors: []seeding.ItemError{{Index: 1, FieldName: "nope", Message: "unknown field"}}}
	all := rows(4)
	all[1] = bad
	id := u.confirmed(all...).ID
	plan := store.UploadPlan{BytesTotal: 9, SkippedCount: 1, Skipped: []store.UploadSkip{{Entry: "x", Reason: "y"}}}
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, plan))
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{}), "the first plan stays")

	waiting, err := u.Store.WaitingRows(ctx, id, 10)
	require.NoError(t, err)
	require.Len(t, waiting, 3)
	require.JSONEq(t, `"question 2"`, string(waiting[1].Fields["question"]))

	in := store.FinishRows{
		UploadID: id, VersionID: u.VersionID, Created: []store.UploadTask{u.task(0), u.task(2)},
		Failed: []store.UploadRow{{Index: 3, Errors: []seeding.ItemError{{Index: 3, FieldName: "doc", Message: "no file"}}}},
	}
	var wg sync.WaitGroup
	for range 8 { // as activities that overlap after a crash would
		wg.Go(func() {
			_, err := u.Store.FinishRows(ctx, in)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	up, err := u.Store.FinishUpload(ctx, id, store.UploadEnd{})
	require.NoError(t, err)
	require.Equal(t, store.UploadCompleted, up.Status)
	require.Equal(t, []int{4, 4, 2, 2, 1}, []int{up.RowsTotal, up.RowsDone, up.SuccessCount, up.ErrorCount, up.SkippedCount})
	require.Equal(t, int64(6), up.BytesDone)
	require.Equal(t, plan.Skipped, up.Skipped)
	result, err := u.Store.UploadResult(ctx, u.OrgID, id)
	require.NoError(t, err)
	require.Len(t, result.TaskIDs, 2)
	require.Equal(t, []seeding.ItemError{bad.Errors[0], in.Failed[0].Errors[0]}, result.Errors)
	var tasks int
	require.NoError(t, u.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM tasks`).Scan(&tasks))
	require.Equal(t, 2, tasks)
	files, err := u.Store.FilesByID(ctx, u.OrgID, []uuid.UUID{in.Created[0].Files[0].ID, uuid.New()})
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, "text/plain", files[0].ContentType)
	files, err = u.Store.FilesByID(ctx, u.OrgID+1, []uuid.UUID{in.Created[0].Files[0].ID})
	require.NoError(t, err)
	require.Empty(t, files)

	_, err = u.Store.FinishRows(ctx, in)
	require.True(t, fault.Is(err, fault.Conflict), "after the end: %v", err)

	broken, err := u.Store.CheckInvariants(ctx, false)
	require.NoError(t, err)
	require.Empty(t, broken)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET success_count = 1, rows_done = 3`)
	require.NoError(t, err)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE upload_rows SET task_id = $1 WHERE task_id = $2`, result.TaskIDs[0], result.TaskIDs[1])
	require.NoError(t, err)
	broken, err = u.Store.CheckInvariants(ctx, false)
	require.NoError(t, err)
	require.Len(t, broken, 2, "%v", broken)
}

func TestRowsOfAChangedPipelineAreNotWritten(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(1)...).ID
	require.NoError(t, u.Store.SaveUploadPlan(ctx, id, store.UploadPlan{}))
	in := store.FinishRows{UploadID: id, VersionID: u.VersionID + 1000, Created: []store.UploadTask{u.task(0)}}
	_, err := u.Store.FinishRows(ctx, in)
	require.ErrorIs(t, err, store.ErrVersionChanged)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE pipelines SET status = 'COMPLETED' WHERE id = $1`, u.PipelineID)
	require.NoError(t, err)
	in.VersionID = u.VersionID
	_, err = u.Store.FinishRows(ctx, in)
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	require.Zero(t, u.load(id).RowsDone)
}

func TestUploadsAreCancelled(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	pending := u.create(rows(1)...)
	up, err := u.Store.CancelUpload(ctx, u.OrgID, u.PipelineID, pending.ID, u.Admin)
	require.NoError(t, err)
	require.Equal(t, []string{store.UploadCancelled, store.UploadWithdrawn}, []string{up.Status, up.Reason})
	_, err = u.confirm(pending.ID)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	running := u.confirmed(rows(2)...)
	rings, err := u.Store.TakeUploads(ctx, 10)
	require.NoError(t, err)
	require.Len(t, rings, 1)
	require.False(t, rings[0].Cancel)
	up, err = u.Store.CancelUpload(ctx, u.OrgID, u.PipelineID, running.ID, u.Admin)
	require.NoError(t, err)
	require.Equal(t, store.UploadProcessing, up.Status)
	require.True(t, up.CancelRequested)
	require.NoError(t, u.Store.DoneUpload(ctx, running.ID, rings[0].Gen), "of the start, which came before")
	rings, err = u.Store.TakeUploads(ctx, 10)
	require.NoError(t, err)
	require.Len(t, rings, 1)
	require.True(t, rings[0].Cancel)
	require.NoError(t, u.Store.RetryUpload(ctx, running.ID, rings[0].Gen, time.Hour, "nul \x00"))
	require.NoError(t, u.Store.DoneUpload(ctx, running.ID, rings[0].Gen))
	up, err = u.Store.FinishUpload(ctx, running.ID, store.UploadEnd{Status: store.UploadCancelled, Reason: store.UploadStopped})
	require.NoError(t, err)
	again, err := u.Store.FinishUpload(ctx, running.ID, store.UploadEnd{})
	require.NoError(t, err)
	require.Equal(t, up, again, "an end is final")
	again, err = u.Store.CancelUpload(ctx, u.OrgID, u.PipelineID, running.ID, u.Admin)
	require.NoError(t, err)
	require.Equal(t, up, again)
}

func TestStuckUploadsAreRungAgain(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(1)...).ID
	rings, err := u.Store.TakeUploads(ctx, 1)
	require.NoError(t, err)
	require.NoError(t, u.Store.DoneUpload(ctx, id, rings[0].Gen))
	n, err := u.Store.RingStuckUploads(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET updated_at = now() - interval '16 minutes'`)
	require.NoError(t, err)
	n, err = u.Store.RingStuckUploads(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	rings, err = u.Store.TakeUploads(ctx, 1)
	require.NoError(t, err)
	require.Len(t, rings, 1)
	require.NoError(t, u.Store.DoneUpload(ctx, id, rings[0].Gen))
	n, err = u.Store.RingStuckUploads(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "once in that time")
	v, err := u.Store.Vitals(ctx, time.Second)
	require.NoError(t, err)
	require.GreaterOrEqual(t, v.UploadStalled, 16*time.Minute, "to be told is no progress")
	for _, at := range []string{"- interval '16 minutes'", "+ interval '16 minutes'"} { // the clock has stepped back
		_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET rung_at = now() `+at)
		require.NoError(t, err)
		n, err = u.Store.RingStuckUploads(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, n, at)
		_, err = u.Store.Pool().Exec(ctx, `UPDATE uploads SET ring_at = NULL`)
		require.NoError(t, err)
	}
	n, err = u.Store.RingStuckUploads(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
}

// What was not tried counts no attempt and keeps the cause of the last one; what
// was rung meanwhile, or told, is not touched.
func TestAnUploadThatIsGivenBackCountsNoAttempt(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(1)...).ID
	take := func() store.UploadRing {
		rings, err := u.Store.TakeUploads(ctx, 1)
		require.NoError(t, err)
		require.Len(t, rings, 1, "it is due")
		return rings[0]
	}
	cause := func() (out string) {
		require.NoError(t, u.Store.Pool().QueryRow(ctx, `SELECT ring_error FROM uploads WHERE id = $1`, id).Scan(&out))
		return out
	}
	first := take()
	require.NoError(t, u.Store.RetryUpload(ctx, id, first.Gen, -time.Second, "Temporal is down"))
	for range 3 {
		r := take()
		require.Equal(t, 2, r.Attempts)
		require.NoError(t, u.Store.GiveBackUpload(ctx, id, r.Gen-1), "of an earlier ring")
		rings, err := u.Store.TakeUploads(ctx, 1)
		require.NoError(t, err)
		require.Empty(t, rings, "that is leased")
		require.NoError(t, u.Store.GiveBackUpload(ctx, id, r.Gen))
		require.Equal(t, "Temporal is down", cause())
	}
	r := take()
	require.NoError(t, u.Store.DoneUpload(ctx, id, r.Gen))
	require.NoError(t, u.Store.GiveBackUpload(ctx, id, r.Gen))
	rings, err := u.Store.TakeUploads(ctx, 1)
	require.NoError(t, err)
	require.Empty(t, rings, "it was told")
}

func TestUploadsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	var ids []uuid.UUID
	for range 5 {
		ids = append(ids, u.create(rows(1)...).ID)
	}
	page, err := u.Store.ListUploads(ctx, u.OrgID, u.PipelineID, 3, uuid.Nil)
	require.NoError(t, err)
	require.Len(t, page, 3)
	require.Equal(t, ids[4], page[0].ID)
	page, err = u.Store.ListUploads(ctx, u.OrgID, u.PipelineID, 3, page[2].ID)
	require.NoError(t, err)
	require.Len(t, page, 2)
	require.Equal(t, ids[0], page[1].ID)
}
