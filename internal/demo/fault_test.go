package demo

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/internal/task"
)

// The load and the faults of TestNothingIsLostWhenPartsAreKilled.
const (
	faultBatches   = 10
	faultBatchSize = 50
	faults         = 20
	// betweenFaults is how many calls must be acknowledged between two
	// faults: a fault into silence proves nothing.
	betweenFaults = 40
	// healDeadline is how long everything may take to come to rest after the
	// last fault.
	healDeadline = 4 * time.Minute
)

// TestNothingIsLostWhenPartsAreKilled kills the worker, the API, Temporal and
// Postgres at random moments, and terminates runs, while 500 tasks go through
// a subtask and a review and every outbox row is delivered twice. Afterwards
// every task is finished, what clients saw acknowledged is there once, what
// they saw refused left nothing, and the promises about the data hold.
// TASKLOOM_FAULT_SEED repeats a run.
func TestNothingIsLostWhenPartsAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a whole stack for some minutes")
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TASKLOOM_FAULT_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TASKLOOM_FAULT_SEED=%d", seed)

	s := &stack{Stack: stacktest.Start(t, stacktest.Options{Document: Document, ServeEnv: []string{"RATE_LIMIT_KEY=off"}}), t: t}
	ctx := t.Context()
	pipelineID := s.prepare()
	key := s.NewKey("demo", "fault", "admin@demo.test")

	h := newHistory()
	work, stopWork := context.WithCancel(ctx)
	defer stopWork()
	people, pctx := errgroup.WithContext(work)
	for i, email := range append(append([]string{}, Contributors...), Reviewers...) {
		w := &worker{
			h: h, role: "contributor", api: newAPI(s.URL, "", pipelineID).session(),
			rand: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		if i >= len(Contributors) {
			w.role = "reviewer"
		}
		people.Go(func() error { return w.live(pctx, email) })
	}
	people.Go(func() error {
		return h.create(pctx, newAPI(s.URL, key, pipelineID), faultBatches, faultBatchSize)
	})

	s.faults(pctx, seed, h)
	s.finished(pctx, h, newAPI(s.URL, key, pipelineID))
	stopWork()
	require.NoError(t, people.Wait())
	t.Logf("%d calls acknowledged, %d unknown and repeated, %d faults", h.ops.Load(), h.unknown.Load(), faults)
	s.check(h, pipelineID)
}

// stack is the product with what this test does to it.
type stack struct {
	*stacktest.Stack
	t *testing.T
}

// prepare returns the pipeline, shortens its leases so that abandoned claims
// come back soon, and makes the database deliver every outbox row twice: the
// first delete of a row only makes it due again.
func (s *stack) prepare() (pipelineID int64) {
	s.t.Helper()
	_, err := s.Store().Pool().Exec(s.t.Context(), `
		CREATE FUNCTION short_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.lease_seconds := 3; RETURN NEW; END $$;
		CREATE TRIGGER short_lease BEFORE INSERT ON task_nodes FOR EACH ROW EXECUTE FUNCTION short_lease();
		CREATE FUNCTION deliver_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF OLD.priority >= 100 THEN RETURN OLD; END IF;
			UPDATE outbox SET priority = priority + 100, next_attempt_at = now() WHERE id = OLD.id;
			RETURN NULL;
		END $$;
		CREATE TRIGGER deliver_twice BEFORE DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION deliver_twice();`)
	require.NoError(s.t, err)
	return s.Applied.Pipeline(Pipeline)
}

// faults injects them one after the other, each after some calls got through.
func (s *stack) faults(ctx context.Context, seed uint64, h *history) {
	s.t.Helper()
	r := rand.New(rand.NewPCG(seed, 1<<32))
	kinds := []struct {
		name string
		do   func()
	}{
		{"kill -9 worker", s.Worker.Kill},
		{"kill -9 serve", s.Serve.Kill},
		{"kill -9 temporal", func() { s.Signal("temporal", syscall.SIGKILL) }},
		{"immediate stop of postgres", func() { s.Signal("postgres", syscall.SIGQUIT) }},
		{"terminate runs", func() { s.terminate(ctx, r, h) }},
	}
	for n := range faults {
		target := h.ops.Load() + betweenFaults
		require.Eventually(s.t, func() bool {
			return h.ops.Load() >= target || s.allFinished(ctx, h)
		}, healDeadline, 10*time.Millisecond, "no progress before fault %d", n)
		// Every kind once, the rest by chance.
		k := kinds[n%len(kinds)]
		if n >= len(kinds) {
			k = kinds[r.IntN(len(kinds))]
		}
		s.t.Logf("fault %d after %d calls: %s", n+1, h.ops.Load(), k.name)
		k.do()
	}
}

// terminate ends the runs of some of the tasks; what Temporal does not accept
// while it is down is not terminated.
func (s *stack) terminate(ctx context.Context, r *rand.Rand, h *history) {
	ids := h.ids()
	for range min(10, len(ids)) {
		tctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		_ = s.Temporal().TerminateWorkflow(tctx, "task/"+strconv.FormatInt(ids[r.IntN(len(ids))], 10), "", "fault test")
		cancel()
	}
}

func (s *stack) allFinished(ctx context.Context, h *history) bool {
	h.mu.Lock()
	all := len(h.tasks) == faultBatches*faultBatchSize
	h.mu.Unlock()
	if !all {
		return false
	}
	var open int
	err := s.Store().Pool().QueryRow(ctx, `SELECT count(*) FROM tasks WHERE status <> $1`, task.Finished).Scan(&open)
	return err == nil && open == 0
}

// finished waits until all tasks are finished, in the rows and as polled.
func (s *stack) finished(ctx context.Context, h *history, a *api) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.allFinished(ctx, h) }, healDeadline, 100*time.Millisecond,
		"tasks are not finished long after the last fault")
	ids := h.ids()
	var n int
	require.NoError(s.t, h.insist(ctx, func() (err error) {
		n, err = a.finished(ctx, ids)
		return err
	}))
	require.Equal(s.t, len(ids), n)
	require.Eventually(s.t, func() bool {
		st, err := s.Store().OutboxStats(ctx)
		return err == nil && st.Rows == 0 && st.Lagging == 0
	}, healDeadline, 100*time.Millisecond, "the outbox does not drain")
}

// check compares what the clients saw with what is there.
func (s *stack) check(h *history, pipelineID int64) {
	s.t.Helper()
	ctx := s.t.Context()
	found, err := s.Store().CheckInvariants(ctx, true)
	require.NoError(s.t, err)
	require.Empty(s.t, found)
	found, _, err = s.Store().CheckJournal(ctx, 0, 100_000)
	require.NoError(s.t, err)
	require.Empty(s.t, found)

	var tasks int
	require.NoError(s.t, s.Store().Pool().QueryRow(ctx, `SELECT count(*) FROM tasks WHERE pipeline_id = $1`, pipelineID).Scan(&tasks))
	require.Equal(s.t, faultBatches*faultBatchSize, tasks, "every batch once, however often it was sent")
	require.Len(s.t, h.tasks, tasks, "every acknowledged task is there")
	for claim := range h.handed {
		require.Equal(s.t, 1, s.submissions(claim), "acknowledged claim %s", claim)
	}
	for claim := range h.refused {
		require.Zero(s.t, s.submissions(claim), "refused claim %s", claim)
	}
}

func (s *stack) submissions(claim string) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.Store().Pool().QueryRow(s.t.Context(), `SELECT count(*) FROM submissions WHERE claim_id = $1`, claim).Scan(&n))
	return n
}
