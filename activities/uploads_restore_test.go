package activities_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// A run outlives a restore of Postgres, and a failover to a standby that had not
// heard of everything. What it knows to be done may be to be done again.
func TestAnUploadIsLookedAtAgainWhenPostgresLostTheLook(t *testing.T) {
	t.Parallel()
	all := dbtest.Zip(t, texts("a.txt", "b.txt")...)
	for name, lost := range map[string]func(*hall) store.Upload{
		"all of it": func(h *hall) store.Upload { return h.upload(all) },
		"a part of the rows, and the plan": func(h *hall) store.Upload {
			u := h.upload(all)
			look, err := h.Store.BeginUploadLook(h.t.Context(), u.ID)
			require.NoError(h.t, err)
			require.NoError(h.t, h.Store.SaveUploadRows(h.t.Context(), u.ID, look, []store.UploadRow{{Index: 0}}))
			return u
		},
		"the plan of rows that came with the request": func(h *hall) store.Upload {
			return h.upload(all, store.UploadRow{Index: 0, Fields: form.Values{"doc": quote("a.txt")}},
				store.UploadRow{Index: 1, Fields: form.Values{"doc": quote("b.txt")}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc"))))
			u := lost(h)

			got, err := h.ingest(u) // the run is past its look
			require.NoError(t, err)
			require.False(t, got.Done)
			require.Equal(t, 2, got.RowsTotal)
			for !got.Done {
				got, err = h.ingest(u)
				require.NoError(t, err)
			}
			require.Equal(t, store.UploadCompleted, h.finish(u, "").Status)
			end, result := h.LoadUpload(t, u.ID)
			require.Equal(t, []int{2, 2, 2, 0}, []int{end.RowsTotal, end.RowsDone, end.SuccessCount, end.ErrorCount})
			require.Len(t, result.TaskIDs, 2)
		})
	}
}

// The last step of a run comes after its rows; that they are done, Postgres may not
// know any more.
func TestAnUploadWhoseRowsWaitAgainIsNotEnded(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc"))))
	u := h.upload(dbtest.Zip(t, texts("a.txt", "b.txt")...))

	require.Equal(t, store.UploadProcessing, h.finish(u, "").Status)
	require.Contains(t, h.held, u.ObjectKey, "the archive is needed again")

	end, result := h.run(u) // as the next run does
	require.Equal(t, store.UploadCompleted, end.Status)
	require.Len(t, result.TaskIDs, 2)
	require.Contains(t, h.held, u.ObjectKey, "and may be once more")
}

// loseEnd puts an upload back to before its end.
func (h *hall) loseEnd(u store.Upload) {
	h.t.Helper()
	h.exec(`UPDATE uploads SET status = 'processing', reason = '', message = '', finished_at = NULL WHERE id = $1`, u.ID)
}

// A standby that takes over may not have heard of the end of an upload, nor of its last
// rows: its archive is still there for them.
func TestAnUploadGoesOnWhenPostgresLostItsEnd(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*hall, store.Upload){
		"and its last row": func(h *hall, u store.Upload) {
			h.run(u)
			h.loseEnd(u)
			h.exec(`UPDATE uploads SET rows_done = 1, success_count = 1, bytes_done = bytes_done / 2 WHERE id = $1`, u.ID)
			h.exec(`UPDATE upload_rows SET status = 'waiting', task_id = NULL, fields = '{"caption": "row 1", "doc": "b.txt"}'
				WHERE upload_id = $1 AND row_index = 1`, u.ID)
			h.exec(`DELETE FROM files WHERE upload_id = $1 AND name = 'b.txt'`, u.ID)
		},
		"by somebody's word": func(h *hall, u store.Upload) {
			_, err := h.inspect(u)
			require.NoError(h.t, err)
			require.Equal(h.t, store.UploadCancelled, h.finish(u, store.UploadOperator).Status)
			h.loseEnd(u)
		},
		"for want of time": func(h *hall, u store.Upload) {
			require.Equal(h.t, store.UploadFailed, h.finish(u, store.UploadTimeout).Status)
			h.loseEnd(u)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t)
			u := h.upload(dbtest.Zip(t, texts("a.txt", "b.txt")...), captioned("a.txt", "b.txt")...)
			lose(h, u)

			end, result := h.run(u)
			require.Equal(t, store.UploadCompleted, end.Status, end.Message)
			require.Equal(t, []int{2, 2, 2, 0}, []int{end.RowsTotal, end.RowsDone, end.SuccessCount, end.ErrorCount})
			require.Len(t, result.TaskIDs, 2)
		})
	}
}

// After more than a day the archive is swept. Where all rows are done, nobody needs it.
func TestAnUploadOfWhichNoRowWaitsNeedsNoArchive(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
	h.run(u)
	h.loseEnd(u)
	h.onRead = func(string) error { return fault.New(fault.NotFound, "the object is not in the object store") }

	end, result := h.run(u)
	require.Equal(t, store.UploadCompleted, end.Status, end.Message)
	require.Len(t, result.TaskIDs, 1)
}

// A batch is under way while a standby takes over that had not heard of the look: a
// plan that is made later must count its rows, so none of them is written before.
func TestABatchWaitsForTheLookThatPostgresLost(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b")...), captioned("a", "b", "nope")...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	var once sync.Once
	h.onPut = func(string) error {
		once.Do(func() {
			h.exec(`UPDATE uploads SET inspected_at = NULL, bytes_total = 0, skipped = '[]', skipped_count = 0`)
		})
		return nil
	}
	_, err = h.ingest(u)
	requireRetryable(t, err)
	require.Zero(t, h.count(`SELECT count(*) FROM tasks`))

	end, result := h.run(u)
	require.Equal(t, store.UploadCompleted, end.Status, end.Message)
	require.Equal(t, []int{3, 3, 2, 1}, []int{end.RowsTotal, end.RowsDone, end.SuccessCount, end.ErrorCount})
	require.Len(t, result.TaskIDs, 2)
}
