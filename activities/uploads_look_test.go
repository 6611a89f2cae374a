package activities_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// standing is a store whose worker stands still before it writes its plan.
type standing struct {
	activities.UploadStore

	meanwhile func()
}

func (s standing) SaveUploadPlan(ctx context.Context, id uuid.UUID, plan store.UploadPlan) error {
	s.meanwhile()
	return s.UploadStore.SaveUploadPlan(ctx, id, plan)
}

// A worker that was given up for dead in the middle of its look ends without a
// word about the archive, whatever the one in its place has done by then.
func TestALookThatWasTakenOverLosesNoRow(t *testing.T) {
	t.Parallel()
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("%02d.txt", i)
	}
	for name, complete := range map[string]bool{"by one under way": false, "by one that is complete": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc"))))
			u := h.upload(dbtest.Zip(t, texts(names...)...))
			well := h.uploads
			h.uploads = activities.NewUploads(standing{h.Store, func() {
				if complete {
					other := *h
					other.uploads = well
					_, err := other.inspect(u)
					require.NoError(t, err)
					return
				}
				_, err := h.Store.BeginUploadLook(t.Context(), u.ID)
				require.NoError(t, err)
			}}, h, h.limits)

			got, err := h.inspect(u)
			if complete {
				require.NoError(t, err)
				require.Equal(t, 30, got.RowsTotal)
			} else {
				requireRetryable(t, err)
				var app *temporal.ApplicationError
				require.ErrorAs(t, err, &app)
				require.Positive(t, app.NextRetryDelay(), "the other one gets time to end")
				after, _ := h.LoadUpload(t, u.ID)
				require.False(t, after.Inspected)
			}
			h.uploads = well
			end, result := h.run(u)
			require.Equal(t, store.UploadCompleted, end.Status)
			require.Len(t, result.TaskIDs, 30)
		})
	}
}
