package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

func TestAnUploadBecomesTasks(t *testing.T) {
	t.Parallel()
	f := openIngest(t, bucket(t))
	raw := dbtest.Zip(t, dbtest.ZipEntry{Name: "secret name.txt", Body: []byte("secret body")}, dbtest.ZipEntry{Name: "b.txt", Body: []byte("b")},
		dbtest.ZipEntry{Name: "__MACOSX/._b.txt", Body: []byte("x")}, dbtest.ZipEntry{Name: "../secret.txt", Body: []byte("x")})
	u := f.upload(raw, uploadRow(0, "secret name.txt"), uploadRow(1, "secret missing.txt"), uploadRow(2, "b.txt"), uploadRow(3, "../secret.txt"))
	got, result := f.ends(u)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, []int{4, 2, 2, 2}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount, got.SkippedCount})
	require.Len(t, result.Errors, 2)

	var out workflows.UploadResult
	require.NoError(t, f.c.GetWorkflow(t.Context(), workflows.UploadRunID(u.ID.String()), "").Get(t.Context(), &out))
	require.Equal(t, workflows.UploadResult{Status: store.UploadCompleted, Created: 2, Failed: 2}, out)
	_, err := bucket(t).Head(t.Context(), u.ObjectKey)
	require.NoError(t, err, "the archive is needed again where Postgres loses this end")
	d := f.describeUpload(u.ID)
	attributes := d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	var org, pipe int64
	var summary string
	read := converter.GetDefaultDataConverter()
	require.NoError(t, read.FromPayload(attributes["OrgId"], &org))
	require.NoError(t, read.FromPayload(attributes["PipelineId"], &pipe))
	require.NoError(t, read.FromPayload(d.GetExecutionConfig().GetUserMetadata().GetSummary(), &summary))
	require.Equal(t, []int64{f.OrgID, f.PipelineID}, []int64{org, pipe})
	require.Equal(t, workflows.UploadSummary(u.ID.String(), f.PipelineID, "Label files"), summary)

	events := f.history(workflows.UploadRunID(u.ID.String()))
	for _, e := range events {
		require.NotContains(t, e.String(), "secret", "histories carry ids and counts only")
	}
	require.LessOrEqual(t, len(events), 25)
	f.drained()
}

func TestRowsComeFromTheArchive(t *testing.T) {
	t.Parallel()
	f := openIngest(t, bucket(t), dbtest.WithDefinition(lazily(dbtest.FileDefinition(dbtest.FileField("doc")))))
	var entries []dbtest.ZipEntry
	for i := range 1100 {
		entries = append(entries, dbtest.ZipEntry{Name: fmt.Sprintf("%04d.txt", i), Body: fmt.Appendf(nil, "file %d", i)})
	}
	large := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(large[1:]) // never fails
	entries = append(entries, dbtest.ZipEntry{Name: "large.bin", Body: large})
	u := f.upload(dbtest.Zip(t, entries...))
	got, _ := f.ends(u)
	require.Equal(t, []int{1101, 1101, 0}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount})
	require.Equal(t, got.BytesTotal, got.BytesDone)

	files, err := f.Store.FilesByID(t.Context(), f.OrgID, []uuid.UUID{uuid.NewSHA1(u.ID, []byte("large.bin"))})
	require.NoError(t, err)
	sum := sha256.Sum256(large)
	require.Equal(t, hex.EncodeToString(sum[:]), files[0].SHA256)
	o, err := bucket(t).Head(t.Context(), files[0].Key)
	require.NoError(t, err)
	stored := make([]byte, o.Size)
	_, err = bucket(t).Reader(t.Context(), files[0].Key, o).ReadAt(stored, 0)
	require.NoError(t, err)
	require.True(t, bytes.Equal(large, stored))
}

func TestAnArchiveThatIsNoneFailsTheUpload(t *testing.T) {
	t.Parallel()
	f := openIngest(t, bucket(t))
	got, _ := f.ends(f.upload([]byte("this is no archive at all, only text")))
	require.Equal(t, []string{store.UploadFailed, store.UploadArchive}, []string{got.Status, got.Reason})
	require.Contains(t, got.Message, "not a ZIP")
}

func TestAWorkerThatStopsHandsAnUploadOver(t *testing.T) {
	t.Parallel()
	g := &gate{Objects: bucket(t)}
	f := openIngest(t, g)
	reached := make(chan struct{})
	g.pass = func(ctx context.Context, n int) error {
		if n == 700 { // in the second batch
			close(reached)
		}
		if n < 700 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	raw, rows := manyFiles(t, 1500)
	u := f.upload(raw, rows...)
	select {
	case <-reached:
	case <-time.After(patience):
		require.Fail(t, "the worker does not come that far")
	}
	f.stop()
	got, _ := f.LoadUpload(t, u.ID)
	require.Equal(t, store.UploadProcessing, got.Status)
	require.Greater(t, got.SuccessCount, 600, "what was complete is kept")
	g.mu.Lock()
	g.pass = nil
	g.mu.Unlock()
	f.start()
	got, _ = f.ends(u)
	require.Equal(t, []int{1500, 0}, []int{got.SuccessCount, got.ErrorCount})
	require.Equal(t, got.BytesTotal, got.BytesDone)
	f.drained()
}

func TestAnUploadIsCancelledWhileItIsProcessed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cancel func(*floor, store.Upload)
		reason string
		ends   enums.WorkflowExecutionStatus
	}{
		"in the console": {func(f *floor, u store.Upload) {
			_, err := f.Store.CancelUpload(f.t.Context(), f.OrgID, f.PipelineID, u.ID, f.Admin)
			require.NoError(f.t, err)
		}, store.UploadStopped, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED},
		"by an operator": {func(f *floor, u store.Upload) {
			require.NoError(f.t, f.c.CancelWorkflow(f.t.Context(), workflows.UploadRunID(u.ID.String()), ""))
		}, store.UploadOperator, enums.WORKFLOW_EXECUTION_STATUS_CANCELED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &gate{Objects: bucket(t)}
			g.pass = func(ctx context.Context, n int) error {
				if n <= 620 {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			f := openIngest(t, g)
			raw, rows := manyFiles(t, 900)
			u := f.upload(raw, rows...)
			f.until("the first batch", func() bool { got, _ := f.LoadUpload(t, u.ID); return got.SuccessCount >= 500 })
			c.cancel(f, u)
			got, _ := f.ends(u)
			require.Equal(t, []string{store.UploadCancelled, c.reason}, []string{got.Status, got.Reason})
			require.GreaterOrEqual(t, got.SuccessCount, 500, "what was made stays")
			require.Less(t, got.SuccessCount, 900)
			f.until("the end of the run", func() bool {
				return f.describeUpload(u.ID).GetWorkflowExecutionInfo().GetStatus() == c.ends
			})
			f.drained()
		})
	}
}

func TestAnObjectStoreThatIsAwayFailsNothing(t *testing.T) {
	t.Parallel()
	p := newProxy(t)
	g := &gate{Objects: bucket(t, p.url())}
	f := openIngest(t, g)
	g.pass = func(_ context.Context, n int) error {
		if n == 600 {
			p.set(true)
		}
		return nil
	}
	raw, rows := manyFiles(t, 800)
	u := f.upload(raw, rows...)
	f.until("the outage to be noticed", func() bool {
		for _, a := range f.describeUpload(u.ID).GetPendingActivities() {
			if a.GetAttempt() > 1 {
				return true
			}
		}
		return false
	})
	got, _ := f.LoadUpload(t, u.ID)
	require.Equal(t, store.UploadProcessing, got.Status)
	require.Zero(t, got.ErrorCount)
	p.set(false)
	got, _ = f.ends(u)
	require.Equal(t, []int{800, 0}, []int{got.SuccessCount, got.ErrorCount})
	f.drained()
}

func TestTheSweepIsScheduled(t *testing.T) {
	t.Parallel()
	f := openIngest(t, bucket(t))
	u := f.upload([]byte("put, but never confirmed"))
	f.exec(`UPDATE uploads SET status = 'pending', confirmed_at = NULL, ring_at = NULL, expires_at = now() - interval '6 minutes'`)
	h := f.c.ScheduleClient().GetHandle(t.Context(), f.schedule())
	f.until("the schedule", func() bool { _, err := h.Describe(t.Context()); return err == nil })
	d, err := h.Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Hour, d.Schedule.Spec.Intervals[0].Every)
	require.Equal(t, enums.SCHEDULE_OVERLAP_POLICY_SKIP, d.Schedule.Policy.Overlap)
	require.NoError(t, h.Trigger(t.Context(), client.ScheduleTriggerOptions{}))
	f.until("the sweep", func() bool { got, _ := f.LoadUpload(t, u.ID); return got.Status == store.UploadCancelled })
	got, _ := f.LoadUpload(t, u.ID)
	require.Equal(t, store.UploadExpired, got.Reason)
	f.until("the archive to be gone", func() bool {
		_, err := bucket(t).Head(t.Context(), u.ObjectKey)
		return fault.Is(err, fault.NotFound)
	})
}

func TestWorkersAgreeOnTheSchedule(t *testing.T) {
	t.Parallel()
	f := prepareIngest(t, bucket(t))
	every := func(d time.Duration, workers int) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, workers)
		for range workers {
			go func() {
				done <- worker.Run(ctx, worker.Deps{
					Store: f.Store, Client: f.c, Namespace: namespace(), Logger: quiet(), TaskQueue: f.queue,
					Objects: f.objects, IngestQueue: f.ingest, SweepEvery: d,
				})
			}()
		}
		f.until("the schedule", func() bool {
			is, err := f.c.ScheduleClient().GetHandle(t.Context(), f.schedule()).Describe(t.Context())
			return err == nil && is.Schedule.Spec.Intervals[0].Every == d
		})
		stop()
		for range workers {
			require.NoError(t, <-done)
		}
	}
	every(2*time.Hour, 4)
	require.NoError(t, f.c.ScheduleClient().GetHandle(t.Context(), f.schedule()).Pause(t.Context(), client.SchedulePauseOptions{}))
	every(3*time.Hour, 2) // of a later release
	d, err := f.c.ScheduleClient().GetHandle(t.Context(), f.schedule()).Describe(t.Context())
	require.NoError(t, err)
	require.True(t, d.Schedule.State.Paused, "what operators decided stays")
}

func TestAWorkerWithoutAnObjectStoreLeavesUploadsToOthers(t *testing.T) {
	t.Parallel()
	f := prepareIngest(t, nil)
	f.start()
	t.Cleanup(func() { f.stop() })
	f.until("a heartbeat", func() bool { return f.alive() == 1 })
	alive := func() int {
		n, err := f.Store.WorkersAlive(t.Context(), f.ingest, 6*time.Second)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, alive())
	raw, rows := manyFiles(t, 3)
	u := f.upload(raw, rows...)
	f.until("the run", func() bool { return f.describeUpload(u.ID) != nil })
	f.stop()
	f.objects = bucket(t)
	f.start()
	got, _ := f.ends(u)
	require.Equal(t, 3, got.SuccessCount)
	f.until("a heartbeat for uploads", func() bool { return alive() == 1 })
}

func TestATerminatedRunOfAnUploadIsRungAgain(t *testing.T) {
	t.Parallel()
	g := &gate{Objects: bucket(t)}
	hold := make(chan struct{})
	g.pass = func(ctx context.Context, n int) error {
		if n != 2 {
			return nil
		}
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f := openIngest(t, g)
	raw, rows := manyFiles(t, 5)
	u := f.upload(raw, rows...)
	f.until("the run at work", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.puts >= 2 })
	require.NoError(t, f.c.TerminateWorkflow(t.Context(), workflows.UploadRunID(u.ID.String()), "", "test"))
	f.exec(`UPDATE uploads SET updated_at = now() - interval '1 hour'`)
	_, err := f.Store.RingStuckUploads(t.Context()) // unless the reconciler was faster
	require.NoError(t, err)
	close(hold)
	got, _ := f.ends(u)
	require.Equal(t, []int{5, 0}, []int{got.SuccessCount, got.ErrorCount})
}
