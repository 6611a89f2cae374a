package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
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
	require.NotContains(t, h.held, u.ObjectKey)
}
