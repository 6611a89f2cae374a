package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// fakeRings keeps rung uploads the way Postgres does.
type fakeRings struct {
	mu     sync.Mutex
	rings  map[uuid.UUID]*store.UploadRing
	due    map[uuid.UUID]time.Time
	delays []time.Duration
	takes  int
	down   error
}

func newFakeRings() *fakeRings {
	return &fakeRings{rings: map[uuid.UUID]*store.UploadRing{}, due: map[uuid.UUID]time.Time{}}
}

func (f *fakeRings) ring(id uuid.UUID, cancel bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gen := int64(1)
	if old := f.rings[id]; old != nil {
		gen = old.Gen + 1
	}
	f.rings[id] = &store.UploadRing{ID: id, OrgID: 1, PipelineID: 42, PipelineName: "Math", Cancel: cancel, Gen: gen}
	f.due[id] = time.Now()
}

func (f *fakeRings) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rings)
}

func (f *fakeRings) TakeUploads(_ context.Context, n int) ([]store.UploadRing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takes++
	if f.down != nil {
		return nil, f.down
	}
	var out []store.UploadRing
	for id, r := range f.rings {
		if len(out) < n && !f.due[id].After(time.Now()) {
			r.Attempts++
			f.due[id] = time.Now().Add(30 * time.Second)
			out = append(out, *r)
		}
	}
	return out, nil
}

func (f *fakeRings) DoneUpload(_ context.Context, id uuid.UUID, gen int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rings[id]; r != nil && r.Gen == gen {
		delete(f.rings, id)
	}
	return nil
}

func (f *fakeRings) RetryUpload(_ context.Context, id uuid.UUID, _ int64, in time.Duration, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due[id] = time.Now().Add(in)
	f.delays = append(f.delays, in)
	return nil
}

func (f *fakeRings) GiveBackUpload(_ context.Context, id uuid.UUID, gen int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rings[id]; r != nil && r.Gen == gen {
		r.Attempts--
		f.due[id] = time.Now()
	}
	return nil
}

func newTestLane(t *testing.T, rings *fakeRings, runs *fakeRuns) *uploadLane {
	t.Helper()
	m, err := newMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	return &uploadLane{outbox: rings, runs: runs, queue: "queue", breaker: newBreaker(log, m), log: log, metrics: m}
}

// serve runs the lane for a while of the bubble's clock.
func (l *uploadLane) serve(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	l.run(ctx)
}

func TestUploadsAreStartedAndCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings, runs := newFakeRings(), &fakeRuns{}
		begin, stop := uuid.New(), uuid.New()
		rings.ring(begin, false)
		rings.ring(stop, true)
		newTestLane(t, rings, runs).serve(time.Second)
		require.Zero(t, rings.left())
		byID := map[string]call{}
		for _, c := range runs.made() {
			byID[c.options.ID] = c
		}
		start := byID["upload/"+begin.String()]
		require.Empty(t, start.signal)
		require.Equal(t, workflows.UploadInput{UploadID: begin.String()}, start.input)
		require.Equal(t, "queue", start.options.TaskQueue)
		require.Equal(t, workflows.UploadSummary(begin.String(), 42, "Math"), start.options.StaticSummary)
		require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, start.options.WorkflowIDReusePolicy)
		require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, start.options.WorkflowIDConflictPolicy)
		pipe, _ := start.options.TypedSearchAttributes.GetInt64(workflows.PipelineIDAttribute)
		require.Equal(t, int64(42), pipe)
		require.Equal(t, workflows.CancelSignal, byID["upload/"+stop.String()].signal)
	})
}

func TestWhatIsRungMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings, id := newFakeRings(), uuid.New()
		rings.ring(id, false)
		runs := &fakeRuns{answer: func(_ call, n int) error {
			if n == 1 {
				rings.ring(id, true)
			}
			return nil
		}}
		newTestLane(t, rings, runs).serve(2 * time.Second)
		require.Zero(t, rings.left())
		require.Equal(t, workflows.CancelSignal, runs.made()[len(runs.made())-1].signal)
	})
}

func TestAnUploadThatIsRefusedForItsLabelsHasThemRegistered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings := newFakeRings()
		rings.ring(uuid.New(), false)
		l := newTestLane(t, rings, &fakeRuns{answer: func(_ call, n int) error {
			if n == 1 {
				return serviceerror.NewInvalidArgument("no mapping defined for search attribute")
			}
			return nil
		}})
		missed := make(chan struct{}, 1)
		l.missed = missed
		l.serve(time.Hour)
		require.Len(t, missed, 1)
		require.Zero(t, rings.left())
	})
}

func TestUploadsWaitForTemporal(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]error{
		"that is down":      serviceerror.NewUnavailable("down"),
		"without namespace": serviceerror.NewNamespaceNotFound("taskloom"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rings, start := newFakeRings(), time.Now()
				for range 30 {
					rings.ring(uuid.New(), false)
				}
				runs := &fakeRuns{answer: func(call, int) error {
					if time.Since(start) < time.Minute {
						return away
					}
					return nil
				}}
				l := newTestLane(t, rings, runs)
				l.serve(30 * time.Second)
				require.Less(t, len(runs.made()), 60, "it does not hammer it")
				require.Equal(t, 30, rings.left())
				l.serve(time.Minute + outageLast)
				require.Zero(t, rings.left())
			})
		})
	}
}

// While the breaker lets one call through, and another lane has it, nothing else is
// tried: that is no attempt, and nothing to ask Postgres for without a rest.
func TestUploadsThatAreHeldBackAreNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings := newFakeRings()
		for range 20 {
			rings.ring(uuid.New(), false)
		}
		l := newTestLane(t, rings, &fakeRuns{})
		for range tripAfter {
			_, _ = l.breaker.Execute(func() (outcome, error) { return "", context.DeadlineExceeded })
		}
		pause(t.Context(), openFor+time.Millisecond)
		var probe sync.WaitGroup
		probe.Go(func() {
			_, _ = l.breaker.Execute(func() (outcome, error) { pause(t.Context(), 3*time.Second); return delivered, nil })
		})
		synctest.Wait()
		l.serve(2 * time.Second)
		require.Less(t, rings.takes, 20, "it rests")
		require.Empty(t, rings.delays, "and notes no cause")
		for _, r := range rings.rings {
			require.Zero(t, r.Attempts)
		}
		probe.Wait()
		l.serve(time.Second)
		require.Zero(t, rings.left(), "what was given back is due at once")
	})
}

func TestARefusedUploadIsKeptAndSlowsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings := newFakeRings()
		rings.ring(uuid.New(), false)
		runs := &fakeRuns{answer: func(_ call, n int) error {
			if n < 5 {
				return serviceerror.NewInvalidArgument("no")
			}
			return nil
		}}
		newTestLane(t, rings, runs).serve(time.Hour)
		require.Zero(t, rings.left())
		require.Len(t, rings.delays, 4)
		require.True(t, slices.IsSorted(rings.delays))
	})
}

func TestUploadsWhilePostgresIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings := newFakeRings()
		rings.down = errors.New("away")
		newTestLane(t, rings, &fakeRuns{}).serve(time.Minute)
		require.Less(t, rings.takes, 130)
	})
}
