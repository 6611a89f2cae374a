package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func TestAnArchiveThatChangedOrWentEndsTheUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"changed": {fault.New(fault.Conflict, "the archive was changed after it was confirmed"), "changed"},
		"gone":    {fault.New(fault.NotFound, "the object is not in the object store"), "no longer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t)
			u := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
			_, err := h.inspect(u)
			require.NoError(t, err)
			h.onRead = func(string) error { return c.err }
			progress, err := h.ingest(u)
			require.NoError(t, err)
			require.True(t, progress.Over)
			got, _ := h.LoadUpload(t, u.ID)
			require.Equal(t, []string{store.UploadFailed, store.UploadArchive}, []string{got.Status, got.Reason})
			require.Contains(t, got.Message, c.want)
		})
	}
}

func TestAnOutageFailsNothing(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("%02d.txt", i))
	}
	u := h.upload(dbtest.Zip(t, texts(names...)...), captioned(names...)...)
	h.onRead = func(string) error { return errAway }
	_, err := h.inspect(u)
	requireRetryable(t, err)
	h.onRead = nil
	_, err = h.inspect(u)
	require.NoError(t, err)

	var mu sync.Mutex
	left := 10
	h.onPut = func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if left--; left >= 0 {
			return nil
		}
		// An error calls off what is being stored beside it: the ten come first.
		assert.Eventually(t, func() bool { return len(h.files()) == 10 }, 10*time.Second, time.Millisecond)
		return errAway
	}
	_, err = h.ingest(u)
	requireRetryable(t, err)
	got, _ := h.LoadUpload(t, u.ID)
	require.Equal(t, store.UploadProcessing, got.Status)
	require.Equal(t, 10, got.SuccessCount, "what was complete is kept")
	require.Zero(t, got.ErrorCount)
	h.onPut = nil
	got, result := h.run(u)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Len(t, result.TaskIDs, 40)
	require.Equal(t, got.BytesTotal, got.BytesDone)
	for key, n := range h.puts {
		require.Equal(t, 1, n, key)
	}
}

func requireRetryable(t *testing.T, err error) {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable(), "%v", err)
}

// lossy is a store whose answers get lost after the fact.
type lossy struct {
	activities.UploadStore
	lose func() bool
}

func (l lossy) FinishRows(ctx context.Context, in store.FinishRows) (store.FinishedRows, error) {
	out, err := l.UploadStore.FinishRows(ctx, in)
	if err == nil && l.lose() {
		return store.FinishedRows{}, fault.New(fault.Unavailable, "the connection broke")
	}
	return out, err
}

func TestAnAnswerThatIsLostMakesNoTaskTwice(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b", "c")...), captioned("a", "b", "c", "nope")...)
	lost := false
	h.uploads = activities.NewUploads(lossy{h.Store, func() bool { defer func() { lost = true }(); return !lost }}, h, h.limits)
	_, err := h.inspect(u)
	require.NoError(t, err)
	_, err = h.ingest(u)
	requireRetryable(t, err)
	got, result := h.run(u)
	require.Equal(t, []int{4, 4, 3, 1}, []int{got.RowsTotal, got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Len(t, result.TaskIDs, 3)
	require.Equal(t, 3, h.count(`SELECT count(*) FROM tasks`))
}

// The step was given up, the upload has ended, and the step does not know.
func TestAStepThatWasGivenUpWritesNothing(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b")...), captioned("a", "b")...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	var once sync.Once
	h.onPut = func(string) error {
		once.Do(func() { h.finish(u, store.UploadStopped) })
		return nil
	}
	progress, err := h.ingest(u)
	require.NoError(t, err)
	require.True(t, progress.Over)
	got, result := h.LoadUpload(t, u.ID)
	require.Equal(t, []string{store.UploadCancelled, store.UploadStopped}, []string{got.Status, got.Reason})
	require.Empty(t, result.TaskIDs)
	require.Zero(t, h.count(`SELECT count(*) FROM tasks`))
	require.Zero(t, h.count(`SELECT count(*) FROM files`))
	require.Empty(t, h.files(), "what it had stored is deleted")
}

func TestTwoStepsAtOnceMakeNoTaskTwice(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b", "c", "d")...), captioned("a", "b", "c", "d", "a", "nope")...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			_, err := h.ingest(u)
			require.NoError(t, err)
		})
	}
	both.Wait()
	h.finish(u, "")
	got, result := h.LoadUpload(t, u.ID)
	require.Equal(t, []int{6, 6, 5, 1}, []int{got.RowsTotal, got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Len(t, result.TaskIDs, 5)
	require.Equal(t, 5, h.count(`SELECT count(*) FROM tasks`))
	require.Len(t, h.files(), 4)
}

func TestAVersionPublishedMeanwhileIsChecked(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a.txt", "b.txt")...), captioned("a.txt", "b.txt")...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	next := dbtest.FileDefinition()
	next.Nodes[1].Fields[1].Accept = []string{".txt"}
	next.Nodes[1].Fields[0].Rules.Pattern = "row 1"
	var once sync.Once
	h.onPut = func(string) error {
		once.Do(func() { h.publish(next) })
		return nil
	}
	got, result := h.run(u)
	require.Equal(t, []int{2, 1, 1}, []int{got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Equal(t, "caption", result.Errors[0].FieldName)
	require.Equal(t, 1, h.count(`SELECT count(*) FROM tasks t JOIN pipelines p ON p.version_id = t.version_id`))
	require.Len(t, h.files(), 1, "the file of the row that failed later is deleted")
}

// publish gives the pipeline another version.
func (h *hall) publish(d any) {
	h.t.Helper()
	raw, err := json.Marshal(d)
	require.NoError(h.t, err)
	h.exec(`WITH v AS (INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) VALUES ($1, $2, 2, $3) RETURNING id)
		UPDATE pipelines SET version_id = v.id FROM v WHERE pipelines.id = $2`, h.OrgID, h.PipelineID, raw)
}

func TestAPipelineThatIsCompletedMeanwhileTakesNoMore(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b")...), captioned("a", "b")...)
	_, err := h.inspect(u)
	require.NoError(t, err)
	var once sync.Once
	h.onPut = func(string) error {
		once.Do(func() { h.exec(`UPDATE pipelines SET status = 'COMPLETED'`) })
		return nil
	}
	got, result := h.run(u)
	require.Equal(t, []string{store.UploadFailed, store.UploadNoTasks}, []string{got.Status, got.Reason})
	require.Len(t, result.Errors, 2)
	require.Contains(t, result.Errors[0].Message, "COMPLETED")
	require.Zero(t, h.count(`SELECT count(*) FROM tasks`))
	require.Empty(t, h.files())
}
