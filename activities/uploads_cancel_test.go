package activities_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// stuck is an object store that takes some files, and then none until it is told
// to let go.
type stuck struct {
	*shelf

	takes atomic.Int32
	full  func()
}

func (s *stuck) Put(ctx context.Context, key, contentType string, size int64, body io.Reader) (string, error) {
	if s.takes.Add(-1) >= 0 {
		return s.shelf.Put(ctx, key, contentType, size, body)
	}
	s.full()
	<-ctx.Done()
	return "", ctx.Err()
}

// A step hears from Postgres that its upload was cancelled, however rarely its
// heartbeats go to Temporal. What is complete is kept, and no attempt after it
// works on until the run has heard of it, too.
func TestACancelledUploadIsLeftAtOnce(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	names := []string{"a", "b", "c", "d", "e"}
	u := h.upload(dbtest.Zip(t, texts(names...)...), captioned(names...)...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	s := &stuck{shelf: h.shelf, full: func() {
		_, _ = h.Store.CancelUpload(t.Context(), h.OrgID, h.PipelineID, u.ID, h.Admin) // once is enough
	}}
	s.takes.Store(2)
	h.uploads = activities.NewUploads(h.Store, s, h.limits)
	_, err = h.ingest(u)
	requireCalledOff(t, err)
	got, _ := h.LoadUpload(t, u.ID)
	require.Equal(t, 2, got.SuccessCount, "what was complete is kept")

	s.takes.Store(10)
	_, err = h.ingest(u)
	requireCalledOff(t, err)
	got, _ = h.LoadUpload(t, u.ID)
	require.Equal(t, 2, got.SuccessCount)
	h.finish(u, store.UploadStopped)
	got, _ = h.LoadUpload(t, u.ID)
	require.Equal(t, store.UploadCancelled, got.Status)
}

func TestACancelledUploadIsNotLookedInto(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
	_, err := h.Store.CancelUpload(t.Context(), h.OrgID, h.PipelineID, u.ID, h.Admin)
	require.NoError(t, err)
	_, err = h.inspect(u)
	requireCalledOff(t, err)
	got, _ := h.LoadUpload(t, u.ID)
	require.False(t, got.Inspected)
}

// requireCalledOff asserts that a step waits for its run to call it off.
func requireCalledOff(t *testing.T, err error) {
	t.Helper()
	requireRetryable(t, err)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, "cancelled", app.Type())
	require.Positive(t, app.NextRetryDelay(), "a run that has not heard of it yet is not asked in haste")
}
