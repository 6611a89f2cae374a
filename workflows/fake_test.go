package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

const (
	taskID    = int64(123)
	leaseTime = 30 * time.Minute
)

// fakeStore keeps one task the way Postgres does: a journal that commands
// append to, and an applied state that only a fenced step moves. It is the
// other side of the contract in activities.TaskStore.
type fakeStore struct {
	mu      sync.Mutex
	now     func() time.Time
	task    store.Identity
	graph   pipeline.Graph
	applied pipeline.State
	journal []pipeline.Event
	// renewed leases and time limits, by node.
	leases map[string]time.Time
	lease  time.Duration
	sla    time.Duration
	limits map[string]time.Time

	calls []string
	// fail, when set, answers a call by its name in place of the store.
	fail func(call string) error
	// wrong are steps that were applied and do not follow from where the rows were.
	wrong []string
}

func newFakeStore(t *testing.T, d pipeline.Definition, skipped ...string) *fakeStore {
	t.Helper()
	f := &fakeStore{now: time.Now, lease: leaseTime, leases: map[string]time.Time{}, limits: map[string]time.Time{}}
	f.create(t, 1, d, skipped...)
	return f
}

// create is a new task, of a version, in the place of what was there.
func (f *fakeStore) create(t *testing.T, version int64, d pipeline.Definition, skipped ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.task = store.Identity{VersionID: version, CreatedAt: time.Date(2026, 11, 20, 9, 0, 0, 123_456_000, time.UTC)}
	f.graph = pipeline.NewGraph(d)
	var err error
	f.applied, err = pipeline.Start(f.graph, skipped)
	require.NoError(t, err)
	f.journal = []pipeline.Event{{Seq: 1, Kind: pipeline.EventCreate}}
}

// add is a command: it commits an event and returns it for delivery.
func (f *fakeStore) add(e pipeline.Event) pipeline.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.append(e)
}

func (f *fakeStore) append(e pipeline.Event) pipeline.Event {
	e.Seq = int64(len(f.journal)) + 1
	f.journal = append(f.journal, e)
	return e
}

func (f *fakeStore) claim(node string, user int64) pipeline.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	ends := f.now().Add(f.lease).UTC()
	f.leases[node] = ends
	claim := fmt.Sprintf("claim-%d", len(f.journal)+1)
	return f.append(pipeline.Event{Kind: pipeline.EventClaim, Node: node, Iteration: 1, Actor: user, Claim: claim, LeaseEnds: ends})
}

func (f *fakeStore) submit(node string, user int64, skipped ...string) pipeline.Event {
	return f.add(pipeline.Event{Kind: pipeline.EventSubmit, Node: node, Actor: user, Skipped: skipped})
}

func (f *fakeStore) review(node string, user int64, outcome string) pipeline.Event {
	return f.add(pipeline.Event{Kind: pipeline.EventReview, Node: node, Actor: user, Outcome: outcome})
}

// undo takes back what was handed in under a claim.
func (f *fakeStore) undo(node string, c pipeline.Event) pipeline.Event {
	return f.add(pipeline.Event{Kind: pipeline.EventUndo, Node: node, Iteration: c.Iteration, Actor: c.Actor, Claim: c.Claim})
}

// renew moves a lease without an event, as a contributor's heartbeat does.
func (f *fakeStore) renew(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leases[node] = f.now().Add(f.lease).UTC()
}

func (f *fakeStore) state() pipeline.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

func (f *fakeStore) called(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

// begin notes a call; the caller holds the lock afterwards when it is nil.
func (f *fakeStore) begin(call string) error {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	if f.fail != nil {
		if err := f.fail(call); err != nil {
			f.mu.Unlock()
			return err
		}
	}
	return nil
}

// LoadTask returns the applied state with the deadlines of the rows.
func (f *fakeStore) LoadTask(_ context.Context, id int64) (store.LoadedTask, error) {
	if err := f.begin("LoadTask"); err != nil {
		return store.LoadedTask{}, err
	}
	defer f.mu.Unlock()
	if id != taskID {
		return store.LoadedTask{}, fault.New(fault.NotFound, "task %d not found", id)
	}
	s := f.applied
	s.Nodes = slices.Clone(s.Nodes)
	var now time.Time
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.LeaseEnds, n.SLAEnds = f.deadline(*n); !n.LeaseEnds.IsZero() || !n.SLAEnds.IsZero() {
			now = f.now()
		}
	}
	var last pipeline.Event
	if s.Seq > 1 {
		last = f.journal[s.Seq-1]
	}
	return store.LoadedTask{
		Last: last, Now: now, TaskID: taskID, PipelineID: 42, PipelineName: "Math check", Identity: f.task, Graph: f.graph, State: s,
		Seq: int64(len(f.journal)), Status: s.Status(),
	}, nil
}

// LoadEvents reads the journal.
func (f *fakeStore) LoadEvents(_ context.Context, _, after int64, limit int) ([]pipeline.Event, error) {
	if err := f.begin("LoadEvents"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	rest := f.journal[min(after, int64(len(f.journal))):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

// ApplyStep refuses what does not begin where the rows are, and checks that
// the run's changes are those that the journal leads to.
func (f *fakeStore) ApplyStep(_ context.Context, in store.StepInput) (store.StepResult, error) {
	if err := f.begin("ApplyStep"); err != nil {
		return store.StepResult{}, err
	}
	defer f.mu.Unlock()
	if in.From != f.applied.Seq {
		return f.result(false), nil
	}
	if in.Identity != (store.Identity{}) && in.Identity != f.task || in.To > int64(len(f.journal)) || !slices.EqualFunc(in.Events, f.journal[in.From:in.To], sameEvent) ||
		in.Last.Seq == in.From && !sameEvent(in.Last, f.journal[in.From-1]) {
		out := f.result(false)
		out.Diverged = true
		return out, nil
	}
	var follows []pipeline.Change
	st := f.applied
	for _, e := range f.journal[in.From:in.To] {
		var changes []pipeline.Change
		st, changes = pipeline.Step(f.graph, st, e)
		follows = append(follows, changes...)
	}
	if !slices.EqualFunc(in.Changes, follows, sameChange) {
		f.wrong = append(f.wrong, fmt.Sprintf("after event %d: %v instead of %v", in.From, in.Changes, follows))
	}
	f.applyUpTo(in.To)
	return f.result(true), nil
}

func sameChange(a, b pipeline.Change) bool {
	return a.Seq == b.Seq && a.Node.Key == b.Node.Key && a.Node.Status == b.Node.Status && a.Node.Iteration == b.Node.Iteration
}

func sameEvent(a, b pipeline.Event) bool {
	return a.Seq == b.Seq && a.Kind == b.Kind && a.Node == b.Node && a.Claim == b.Claim && a.Actor == b.Actor
}

func (f *fakeStore) applyUpTo(seq int64) {
	for _, e := range f.journal[f.applied.Seq:seq] {
		f.applied, _ = pipeline.Step(f.graph, f.applied, e)
	}
	for _, n := range f.applied.Nodes {
		switch {
		case n.Status != task.NodeAvailable && n.Status != task.NodeClaimed:
			delete(f.limits, n.Key)
		case f.sla > 0 && f.limits[n.Key].IsZero():
			f.limits[n.Key] = f.now().Add(f.sla).UTC()
		}
	}
}

// rows is the state with every command's own write, applied or not.
func (f *fakeStore) rows() pipeline.State {
	s := f.applied
	for _, e := range f.journal[s.Seq:] {
		s, _ = pipeline.Step(f.graph, s, e)
	}
	return s
}

func (f *fakeStore) deadline(n pipeline.NodeState) (lease, sla time.Time) {
	if n.Status == task.NodeClaimed {
		lease = f.leases[n.Key]
	}
	return lease, f.limits[n.Key]
}

// CheckDeadlines appends what the clock demands.
func (f *fakeStore) CheckDeadlines(context.Context, int64) (store.StepResult, error) {
	if err := f.begin("CheckDeadlines"); err != nil {
		return store.StepResult{}, err
	}
	defer f.mu.Unlock()
	for _, n := range f.rows().Nodes {
		lease, sla := f.deadline(n)
		switch {
		case !sla.IsZero() && !sla.After(f.now()):
			delete(f.limits, n.Key)
			f.append(pipeline.Event{Kind: pipeline.EventEscalate, Node: n.Key, Reason: pipeline.ReasonSLA})
		case !lease.IsZero() && !lease.After(f.now()):
			f.append(pipeline.Event{Kind: pipeline.EventExpire, Node: n.Key, Claim: n.Claim})
		}
	}
	return f.result(true), nil
}

func (f *fakeStore) result(applied bool) store.StepResult {
	out := store.StepResult{Applied: applied, AppliedSeq: f.applied.Seq, Seq: int64(len(f.journal)), Status: f.applied.Status()}
	for _, n := range f.rows().Nodes {
		if lease, sla := f.deadline(n); !lease.IsZero() || !sla.IsZero() {
			out.Deadlines = append(out.Deadlines, store.Deadline{Node: n.Key, LeaseEnds: lease, SLAEnds: sla})
			out.Now = f.now()
		}
	}
	return out
}

// FailByOperator fails the task unless it is over.
func (f *fakeStore) FailByOperator(context.Context, int64) error {
	if err := f.begin("FailByOperator"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	if !f.applied.Done() {
		f.applyUpTo(f.append(pipeline.Event{Kind: pipeline.EventFail}).Seq)
	}
	return nil
}

// The pipelines of the tests.
func subtask(key string) pipeline.Node {
	return pipeline.Node{Key: key, Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: key + "_answer", Type: form.ShortText, Input: form.Contributor},
	}}
}

func reviewOf(key string, maxRework int, targets ...string) pipeline.Node {
	n := pipeline.Node{Key: key, Kind: pipeline.KindReview, MaxRework: &maxRework}
	for _, t := range targets {
		n.Reviews = append(n.Reviews, pipeline.Target{Node: t})
	}
	return n
}

func define(nodes []pipeline.Node, edges ...[2]string) pipeline.Definition {
	d := pipeline.Definition{Name: "Math check"}
	d.Nodes = append(append([]pipeline.Node{{Key: "start", Kind: pipeline.KindStart}}, nodes...), pipeline.Node{Key: "end", Kind: pipeline.KindEnd})
	for _, e := range edges {
		d.Edges = append(d.Edges, pipeline.Edge{From: e[0], To: e[1]})
	}
	return d
}

// solveAndCheck is one subtask and its review.
func solveAndCheck() pipeline.Definition {
	return define([]pipeline.Node{subtask("solve"), reviewOf("check", 1, "solve")},
		[2]string{"start", "solve"}, [2]string{"solve", "check"}, [2]string{"check", "end"})
}

// sideBySide is two subtasks in parallel with one review after both.
func sideBySide() pipeline.Definition {
	return define([]pipeline.Node{subtask("left"), subtask("right"), reviewOf("check", 3, "left", "right")},
		[2]string{"start", "left"}, [2]string{"start", "right"},
		[2]string{"left", "check"}, [2]string{"right", "check"}, [2]string{"check", "end"})
}

// fork is a subtask whose answer chooses one of two more.
func fork() pipeline.Definition {
	return define([]pipeline.Node{subtask("triage"), subtask("short"), subtask("long")},
		[2]string{"start", "triage"}, [2]string{"triage", "short"}, [2]string{"triage", "long"},
		[2]string{"short", "end"}, [2]string{"long", "end"})
}
