package worker

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// fakeOutbox keeps rows the way Postgres does: leased when taken, of each task
// only the last, which stands for all before it.
type fakeOutbox struct {
	mu     sync.Mutex
	rows   []store.Delivery
	due    map[int64]time.Time
	takes  int
	causes []string
	delays []time.Duration
	down   error
	load   func(int64) (store.LoadedTask, error)
	behind time.Duration
}

func newFakeOutbox(rows ...store.Delivery) *fakeOutbox {
	f := &fakeOutbox{due: map[int64]time.Time{}}
	f.put(rows...)
	return f
}

// put adds rows; ids count from 1.
func (f *fakeOutbox) put(rows ...store.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rows {
		r.ID = int64(len(f.due)) + 1
		f.due[r.ID] = time.Now()
		f.rows = append(f.rows, r)
	}
}

func (f *fakeOutbox) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rows)
}

func (f *fakeOutbox) taken() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takes
}

func (f *fakeOutbox) StepsBehind(context.Context) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.behind, f.down
}

func (f *fakeOutbox) TakeOutbox(_ context.Context, n int, u store.Urgency) ([]store.Delivery, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takes++
	if f.down != nil {
		return nil, f.down
	}
	var out []store.Delivery
	for i := range f.rows {
		r := &f.rows[i]
		if r.Urgency == u && !f.covered(*r) && !f.due[r.ID].After(time.Now()) && len(out) < n {
			r.Attempts++
			f.due[r.ID] = time.Now().Add(store.OutboxLease)
			out = append(out, *r)
		}
	}
	return out, nil
}

func (f *fakeOutbox) covered(r store.Delivery) bool {
	return r.Event.Seq > 0 && slices.ContainsFunc(f.rows, func(o store.Delivery) bool {
		return o.TaskID == r.TaskID && o.Event.Seq > r.Event.Seq && o.Urgency <= r.Urgency
	})
}

func (f *fakeOutbox) DoneOutbox(ctx context.Context, rows []store.Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range rows {
		f.rows = slices.DeleteFunc(f.rows, func(r store.Delivery) bool {
			return r.ID == d.ID || r.TaskID == d.TaskID && 1 <= r.Event.Seq && r.Event.Seq <= d.Event.Seq
		})
	}
	return ctx.Err()
}

func (f *fakeOutbox) RetryOutbox(_ context.Context, id int64, in time.Duration, cause string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due[id] = time.Now().Add(in)
	f.delays, f.causes = append(f.delays, in), append(f.causes, cause)
	return nil
}

func (f *fakeOutbox) GiveBackOutbox(_ context.Context, ids []int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.due[id] = time.Now()
	}
	return nil
}

func (f *fakeOutbox) LoadTask(_ context.Context, id int64) (store.LoadedTask, error) {
	return f.load(id)
}

// call is one call to Temporal.
type call struct {
	signal  string // empty: a start
	event   pipeline.Event
	options client.StartWorkflowOptions
	input   any
}

// fakeRuns is a Temporal that remembers.
type fakeRuns struct {
	mu    sync.Mutex
	calls []call
	// answer decides about the nth call of a task, from 1.
	answer func(call, int) error
	// slow is how long a call takes.
	slow time.Duration
}

func (f *fakeRuns) made() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// reach is whether it answers at all, beside any task.
func (f *fakeRuns) reach(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answer == nil {
		return nil
	}
	return f.answer(call{}, 1)
}

func (f *fakeRuns) call(ctx context.Context, c call) error {
	if f.slow > 0 {
		pause(ctx, f.slow)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 1
	for _, have := range f.calls {
		if have.options.ID == c.options.ID {
			n++
		}
	}
	f.calls = append(f.calls, c)
	if f.answer == nil {
		return nil
	}
	return f.answer(c, n)
}

func (f *fakeRuns) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	return nil, f.call(ctx, call{options: o, input: args[0]})
}

func (f *fakeRuns) SignalWithStartWorkflow(ctx context.Context, _, signal string, arg any, o client.StartWorkflowOptions,
	_ any, args ...any,
) (client.WorkflowRun, error) {
	e, _ := arg.(pipeline.Event)
	return nil, f.call(ctx, call{signal: signal, event: e, options: o, input: args[0]})
}

// value reads a gauge or a counter.
func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var d dto.Metric
	require.NoError(t, m.Write(&d))
	return d.GetGauge().GetValue() + d.GetCounter().GetValue()
}
