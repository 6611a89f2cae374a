package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

// patience is how long a test waits for what must happen; it is never how
// long it takes.
const patience = 4 * time.Minute

// floor is a world with a worker on a real Temporal and a real Postgres.
type floor struct {
	*dbtest.World
	t     testing.TB
	c     client.Client
	queue string
	runs  *runs
	stop  func()
	// objects makes the worker serve uploads, on the queue ingest.
	objects activities.Objects
	ingest  string
}

// open starts a worker on a task queue of its own. Task ids begin at a random
// number, because the ids of runs are shared by everybody on that Temporal.
func open(t *testing.T, opts ...dbtest.Option) *floor {
	t.Helper()
	f := prepare(t, opts...)
	f.start()
	t.Cleanup(func() { f.stop() })
	return f
}

// prepare is open before a worker is started.
func prepare(t testing.TB, opts ...dbtest.Option) *floor {
	t.Helper()
	queue := fmt.Sprintf("test-%d", rand.Int64())
	f := &floor{
		World: dbtest.NewWorld(t, opts...), t: t, c: temporalClient(t),
		queue: queue, ingest: queue + "-ingest",
	}
	f.exec(fmt.Sprintf(`ALTER TABLE tasks ALTER COLUMN id RESTART WITH %d`, 1+rand.Int64N(1<<46)))
	f.runs = &runs{Client: f.c, seen: map[string][]int64{}}
	return f
}

func temporalClient(t testing.TB) client.Client {
	t.Helper()
	address := os.Getenv("TEMPORAL_ADDRESS")
	require.NotEmpty(t, address, "this test needs a Temporal: run `make test`, or set TEMPORAL_ADDRESS to host:port")
	c, err := client.NewLazyClient(client.Options{
		HostPort: address, Namespace: os.Getenv("TEMPORAL_NAMESPACE"), Logger: sdklog.NewStructuredLogger(quiet()),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func namespace() string { return os.Getenv("TEMPORAL_NAMESPACE") }

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// start brings a worker up, as a process would; stop ends it.
func (f *floor) start() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, worker.Deps{
			Store: f.Store, Client: f.c, Namespace: namespace(), Runs: f.runs, Logger: quiet(),
			TaskQueue: f.queue, PoolSize: 8, ReconcileEvery: 500 * time.Millisecond,
			Objects: f.objects, IngestQueue: f.ingest, SweepEvery: time.Hour,
		})
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(f.t, err)
		case <-time.After(patience):
			require.Fail(f.t, "the worker does not stop")
		}
	})
}

// runs is the client, seen from the dispatcher, with the tests' eyes on it.
type runs struct {
	client.Client

	mu    sync.Mutex
	seen  map[string][]int64
	twice bool
}

func (r *runs) SignalWithStartWorkflow(ctx context.Context, id, signal string, arg any, o client.StartWorkflowOptions,
	workflow any, args ...any,
) (client.WorkflowRun, error) {
	e, _ := arg.(pipeline.Event)
	r.mu.Lock()
	r.seen[id] = append(r.seen[id], e.Seq)
	twice := r.twice
	r.mu.Unlock()
	if twice {
		if _, err := r.Client.SignalWithStartWorkflow(ctx, id, signal, arg, o, workflow, args...); err != nil {
			return nil, err
		}
	}
	return r.Client.SignalWithStartWorkflow(ctx, id, signal, arg, o, workflow, args...)
}

func (f *floor) exec(sql string, args ...any) {
	f.t.Helper()
	_, err := f.Store.Pool().Exec(f.t.Context(), sql, args...)
	require.NoError(f.t, err)
}

func (f *floor) create(n int) []int64 {
	f.t.Helper()
	p, err := f.Store.Version(f.t.Context(), f.VersionID)
	require.NoError(f.t, err)
	in := store.CreateTasks{OrgID: f.OrgID, PipelineID: f.PipelineID, VersionID: f.VersionID}
	for range n {
		input := values(`{"question":"What is 6 times 7?"}`)
		s, err := pipeline.Start(p.Graph, p.Skipped("start", input, form.NewBudget()))
		require.NoError(f.t, err)
		in.Tasks = append(in.Tasks, store.NewTask{Input: input, State: s})
	}
	out, err := f.Store.CreateTasks(f.t.Context(), in)
	require.NoError(f.t, err)
	return out.IDs
}

func values(doc string) form.Values {
	var v form.Values
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		panic(err)
	}
	return v
}

func (f *floor) member(user int64) store.Member {
	f.t.Helper()
	m, err := f.Store.MemberOfPipeline(f.t.Context(), user, f.PipelineID)
	require.NoError(f.t, err)
	return m
}

// claim takes the next node of a kind, waiting until there is one.
func (f *floor) claim(user int64, kind pipeline.Kind) *store.Claim {
	f.t.Helper()
	m := f.member(user)
	var c *store.Claim
	f.until("a claim", func() bool {
		var err error
		c, err = f.Store.ClaimNext(f.t.Context(), m, kind)
		require.NoError(f.t, err)
		return c != nil
	})
	return c
}

func (f *floor) submit(c *store.Claim) {
	f.t.Helper()
	_, err := f.Store.Submit(f.t.Context(), c.UserID, c.ID, values(`{"answer":"42","sure":true}`))
	require.NoError(f.t, err)
}

func (f *floor) review(c *store.Claim, verdict string) {
	f.t.Helper()
	v := store.Verdict{Verdict: verdict}
	if verdict == store.VerdictReject {
		v.Comments = []store.Comment{{Field: "answer", Text: "off by one"}}
	}
	_, err := f.Store.Review(f.t.Context(), c.UserID, c.ID, v)
	require.NoError(f.t, err)
}

func (f *floor) until(what string, done func() bool) {
	f.t.Helper()
	require.Eventually(f.t, done, patience, 20*time.Millisecond, what)
}

// becomes waits until a task has a status.
func (f *floor) becomes(id int64, want task.Status) {
	f.t.Helper()
	f.until(string(want), func() bool {
		tk, err := f.Store.Task(f.t.Context(), f.OrgID, f.PipelineID, id)
		require.NoError(f.t, err)
		return tk.Status == want
	})
}

// atRest waits until nothing is on the way.
func (f *floor) atRest() {
	f.t.Helper()
	f.until("an empty outbox", func() bool {
		s, err := f.Store.OutboxStats(f.t.Context())
		require.NoError(f.t, err)
		return s.Rows == 0 && s.Lagging == 0
	})
}

// drained waits until nothing is on the way and then checks every promise.
func (f *floor) drained() {
	f.t.Helper()
	f.atRest()
	v, err := f.Store.CheckInvariants(f.t.Context(), true)
	require.NoError(f.t, err)
	require.Empty(f.t, v)
	v, _, err = f.Store.CheckJournal(f.t.Context(), 0, 100_000)
	require.NoError(f.t, err)
	require.Empty(f.t, v)
}

// describe returns the newest run of a task, nil when there is none.
func (f *floor) describe(id int64) *workflowservice.DescribeWorkflowExecutionResponse {
	f.t.Helper()
	d, err := f.c.DescribeWorkflowExecution(f.t.Context(), workflows.TaskID(id), "")
	if err != nil {
		return nil
	}
	return d
}

// history is what has happened in the newest run of a workflow.
func (f *floor) history(workflowID string) (events []*history.HistoryEvent) {
	f.t.Helper()
	all := f.c.GetWorkflowHistory(f.t.Context(), workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(f.t, err)
		events = append(events, e)
	}
	return events
}
