package activities_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// leave adds an ended upload with its archive and what a browser put, each due later
// than so many others whose keys begin with "locked".
func (h *hall) leave(uploads, files int) {
	h.t.Helper()
	h.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, finished_at)
		SELECT gen_random_uuid(), $1, $2, 1, 'failed', CASE WHEN i > $3 THEN 'archive' ELSE 'locked archive ' || i END, true,
			now() - CASE WHEN i > $3 THEN interval '25 hours' ELSE interval '26 hours' END, now() FROM generate_series(1, $3 + 1) i`,
		h.OrgID, h.PipelineID, uploads)
	h.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, created_at)
		SELECT gen_random_uuid(), $1, 1, 'label', 'scan', $2, CASE WHEN i > $3 THEN 'put' ELSE 'locked put ' || i END, 'a', 1, '',
			now() - CASE WHEN i > $3 THEN interval '26 hours' ELSE interval '27 hours' END FROM generate_series(1, $3 + 1) i`,
		h.OrgID, h.Contributors[0], files)
	h.held["archive"], h.held["put"] = []byte("x"), []byte("x")
}

// refuseLocked has the object store delete nothing that is locked, and returns how
// often it was asked for each key.
func (h *hall) refuseLocked() map[string]int {
	var mu sync.Mutex
	tried := map[string]int{}
	h.onDelete = func(key string) error {
		mu.Lock()
		defer mu.Unlock()
		tried[key]++
		if strings.HasPrefix(key, "locked") {
			return errAway
		}
		return nil
	}
	return tried
}

// hurried is an attempt at a sweep that goes on from there, and which has time for one
// thing of each kind only. It returns how far the sweep is then.
func (h *hall) hurried(from activities.SweepProgress) (far activities.SweepProgress, err error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute) // less than a step leaves before its deadline
	defer cancel()
	env := h.env()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	env.SetHeartbeatDetails(from)
	var mu sync.Mutex
	var undecoded error
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		mu.Lock()
		defer mu.Unlock()
		var beat activities.SweepProgress // a new one: what is zero is left out
		if undecoded = details.Get(&beat); undecoded == nil {
			far = beat
		}
	})
	_, err = env.ExecuteActivity(h.uploads.SweepUploads)
	mu.Lock()
	defer mu.Unlock()
	require.NoError(h.t, undecoded)
	return far, err
}

// requireUnswept expects the end of a sweep that is through, and could not delete some
// of what is left: no attempt follows, but the next sweep. It returns what was done.
func requireUnswept(t *testing.T, err error) (done activities.SweepResult) {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, "unswept", app.Type(), "%v", err)
	require.True(t, app.NonRetryable())
	require.NoError(t, app.Details(&done))
	require.Positive(t, done.Failed)
	return done
}

// More than a page of what cannot be deleted, all of it due at one time, keeps nothing
// that is due later, is tried to the last, and is told.
func TestTheSweepGoesOnBehindWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	const locked = 150
	h := newHall(t)
	h.leave(locked, locked)
	tried := h.refuseLocked()
	_, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
	require.Equal(t, activities.SweepResult{Swept: 2, Failed: 2 * locked}, requireUnswept(t, err))
	require.Empty(t, h.held)
	require.Len(t, tried, 2*(locked+1))
	require.Equal(t, 1, h.count(`SELECT count(*) FROM uploads WHERE swept_at IS NOT NULL`))
	require.Equal(t, locked, h.count(`SELECT count(*) FROM task_files`))
}

// An attempt whose time is up goes on in the next, behind what was tried: else an object
// store that is slow to refuse would never be asked for what lies behind. What each of
// them could not delete is told when the sweep is through.
func TestASweepGoesOnWhereItsTimeWasUp(t *testing.T) {
	t.Parallel()
	const locked = 3
	h := newHall(t)
	h.leave(locked, locked)
	tried := h.refuseLocked()
	var far activities.SweepProgress
	var err error
	for i := range locked + 1 {
		far, err = h.hurried(far)
		requireRetryable(t, err)
		require.Len(t, tried, 2*(i+1), "one more of each kind")
	}
	for key, n := range tried {
		require.Equal(t, 1, n, key)
	}
	require.Empty(t, h.held)
	_, err = h.hurried(far)
	require.Equal(t, activities.SweepResult{Swept: 2, Failed: 2 * locked}, requireUnswept(t, err))
}

// Files of people that become due while archives cost one attempt after the other are
// not kept waiting until the sweep is through with those.
func TestASweepBeginsAnewWithTheKindThatItIsThroughWith(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.leave(4, 0)
	h.refuseLocked()
	far, err := h.hurried(activities.SweepProgress{})
	requireRetryable(t, err)
	require.NotContains(t, h.held, "put")
	far, err = h.hurried(far)
	requireRetryable(t, err)
	require.True(t, far.Files.Through)
	require.False(t, far.Uploads.Through)

	h.held["another"] = []byte("x")
	h.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, created_at)
		VALUES (gen_random_uuid(), $1, 1, 'label', 'scan', $2, 'another', 'a', 1, '', now() - interval '30 hours')`, h.OrgID, h.Contributors[0])
	_, err = h.hurried(far)
	requireRetryable(t, err)
	require.NotContains(t, h.held, "another")
	require.Contains(t, h.held, "archive")
}

// slow is an object store that answers for what is locked no sooner than it was asked
// to delete something else.
type slow struct {
	*shelf

	asked chan struct{}
	once  sync.Once
}

func (s *slow) Delete(ctx context.Context, key string) error {
	if !strings.HasPrefix(key, "locked") {
		s.once.Do(func() { close(s.asked) })
		return s.shelf.Delete(ctx, key)
	}
	select {
	case <-s.asked:
		return errAway
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestPeoplesFilesGoWhileAnArchiveIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.leave(1, 0)
	h.uploads = activities.NewUploads(h.Store, &slow{shelf: h.shelf, asked: make(chan struct{})}, h.limits)
	_, err := h.hurried(activities.SweepProgress{})
	requireRetryable(t, err)
	require.NotContains(t, h.held, "put")
	require.Contains(t, h.held, "archive")
}

func TestAPanicOfTheSweepKeepsNothingElse(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.leave(1, 1)
	h.onDelete = func(key string) error {
		if strings.HasPrefix(key, "locked") {
			panic("the driver's secret")
		}
		return nil
	}
	_, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
	require.Equal(t, activities.SweepResult{Swept: 2, Failed: 2}, requireUnswept(t, err))
	require.NotContains(t, err.Error(), "secret")
	require.Empty(t, h.held)
}

// However an upload ended, the sweep deletes its archive; not while it is processed
// again because Postgres lost its end.
func TestTheSweepDeletesTheArchivesOfEndedUploads(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	add := func() store.Upload { return h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...) }
	completed, cancelled, failed, again := add(), add(), add(), add()
	h.run(completed)
	h.finish(cancelled, store.UploadOperator)
	h.finish(failed, store.UploadArchive)
	h.run(again)
	h.loseEnd(again)
	h.exec(`UPDATE uploads SET expires_at = now() - interval '25 hours'`)

	v, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
	require.NoError(t, err)
	var out activities.SweepResult
	require.NoError(t, v.Get(&out))
	require.Equal(t, activities.SweepResult{Swept: 3}, out)
	for _, u := range []store.Upload{completed, cancelled, failed} {
		require.NotContains(t, h.held, u.ObjectKey)
	}
	require.Contains(t, h.held, again.ObjectKey)
}
