package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// stub answers every call with what it holds.
type stub struct {
	task   store.LoadedTask
	events []pipeline.Event
	result store.StepResult
	err    error
	step   store.StepInput
	reads  int
}

func (s *stub) LoadTask(context.Context, int64) (store.LoadedTask, error) { return s.task, s.err }

func (s *stub) LoadEvents(_ context.Context, _, after int64, limit int) ([]pipeline.Event, error) {
	s.reads++
	rest := s.events[min(int(after), len(s.events)):]
	return append([]pipeline.Event(nil), rest[:min(limit, len(rest))]...), s.err
}

func (s *stub) ApplyStep(_ context.Context, in store.StepInput) (store.StepResult, error) {
	s.step = in
	return s.result, s.err
}

func (s *stub) CheckDeadlines(context.Context, int64) (store.StepResult, error) {
	return s.result, s.err
}

func (s *stub) FailByOperator(context.Context, int64) error { return s.err }

func environment(s *stub) (*testsuite.TestActivityEnvironment, *activities.Tasks) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	tasks := &activities.Tasks{Store: s}
	env.RegisterActivity(tasks)
	return env, tasks
}

func TestStepGoesToTheStoreAndBack(t *testing.T) {
	t.Parallel()
	ends := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := &stub{result: store.StepResult{
		Applied: true, AppliedSeq: 3, Seq: 4, Status: task.InProgress,
		Deadlines: []store.Deadline{{Node: "solve", LeaseEnds: ends}},
	}}
	env, tasks := environment(s)
	in := activities.ApplyStepInput{TaskID: 1, From: 2, To: 3, Changes: []pipeline.Change{{Seq: 3, Node: pipeline.NodeState{Key: "solve"}}}}
	v, err := env.ExecuteActivity(tasks.ApplyStep, in)
	require.NoError(t, err)
	var out activities.StepResult
	require.NoError(t, v.Get(&out))
	require.Equal(t, s.result, out)
	require.Equal(t, in, s.step)
}

func TestAStepTellsHowLongPeopleWaited(t *testing.T) {
	t.Parallel()
	s := &stub{result: store.StepResult{Applied: true, Waited: 3 * time.Second}}
	env, tasks := environment(s)
	var heard []time.Duration
	tasks.Waited = func(d time.Duration) { heard = append(heard, d) }
	step := func() error {
		v, err := env.ExecuteActivity(tasks.ApplyStep, activities.ApplyStepInput{TaskID: 1})
		if err != nil {
			return err
		}
		var out activities.StepResult
		require.NoError(t, v.Get(&out))
		require.Zero(t, out.Waited, "it goes into no history")
		return nil
	}
	require.NoError(t, step())
	s.err = fault.New(fault.Unavailable, "nobody knows whether it is written")
	require.Error(t, step())
	s.err, s.result.Waited = nil, 0
	require.NoError(t, step(), "it follows from a claim")
	require.Equal(t, []time.Duration{3 * time.Second}, heard)
}

func TestLoadTaskFindsWhoHoldsWhat(t *testing.T) {
	t.Parallel()
	s := &stub{task: store.LoadedTask{TaskID: 1, Seq: 1201, State: pipeline.State{Seq: 1201, Nodes: []pipeline.NodeState{
		{Key: "left", Status: task.NodeClaimed, Claim: "new"},
		{Key: "right", Status: task.NodeEscalated, Reason: "Ada was rude"},
	}}}}
	for range 600 { // more than a page, with an older claim of the same node
		s.events = append(s.events,
			pipeline.Event{Seq: int64(len(s.events)) + 1, Kind: pipeline.EventClaim, Node: "left", Claim: "old", Actor: 3},
			pipeline.Event{Seq: int64(len(s.events)) + 2, Kind: pipeline.EventRelease, Node: "left", Claim: "old", Actor: 3})
	}
	s.events = append(s.events, pipeline.Event{Seq: 1201, Kind: pipeline.EventClaim, Node: "left", Claim: "new", Actor: 7})
	env, tasks := environment(s)
	v, err := env.ExecuteActivity(tasks.LoadTask, activities.TaskRef{TaskID: 1})
	require.NoError(t, err)
	var out activities.LoadTaskResult
	require.NoError(t, v.Get(&out))
	require.Equal(t, []activities.Holder{{Node: "left", Claim: "new", User: 7}}, out.Holders)
	require.Equal(t, pipeline.ReasonPerson, out.State.Nodes[1].Reason, "what a person wrote stays out of histories")
}

func TestLoadTaskReadsNoJournalForWhatNobodyHolds(t *testing.T) {
	t.Parallel()
	s := &stub{task: store.LoadedTask{TaskID: 1, State: pipeline.State{Nodes: []pipeline.NodeState{{Key: "left", Status: task.NodeAvailable}}}}}
	env, tasks := environment(s)
	_, err := env.ExecuteActivity(tasks.LoadTask, activities.TaskRef{TaskID: 1})
	require.NoError(t, err)
	require.Zero(t, s.reads)
}

func TestEventsLeaveWithoutWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	s := &stub{events: []pipeline.Event{
		{Seq: 1, Kind: pipeline.EventEscalate, Reason: pipeline.ReasonSLA},
		{Seq: 2, Kind: pipeline.EventEscalate, Reason: "Ada was rude"},
		{Seq: 3, Kind: pipeline.EventRelease, Reason: "Ada was rude"},
	}}
	env, tasks := environment(s)
	v, err := env.ExecuteActivity(tasks.LoadEvents, activities.LoadEventsInput{TaskID: 1, Limit: 10})
	require.NoError(t, err)
	var out activities.LoadEventsResult
	require.NoError(t, v.Get(&out))
	var reasons []string
	for _, e := range out.Events {
		reasons = append(reasons, e.Reason)
	}
	require.Equal(t, []string{pipeline.ReasonSLA, pipeline.ReasonPerson, ""}, reasons)
}

func TestWhatAPersonWroteReachesTheRowAllTheSame(t *testing.T) {
	t.Parallel()
	s := &stub{events: []pipeline.Event{
		{Seq: 1, Kind: pipeline.EventCreate},
		{Seq: 2, Kind: pipeline.EventQuarantine, Node: "solve", Reason: "Ada was rude"},
	}}
	env, tasks := environment(s)
	in := activities.ApplyStepInput{TaskID: 1, From: 1, To: 2, Changes: []pipeline.Change{
		{Seq: 2, Node: pipeline.NodeState{Key: "solve", Reason: pipeline.ReasonPerson}},
		{Seq: 2, Node: pipeline.NodeState{Key: "check", Reason: pipeline.ReasonMaxRework}},
	}}
	_, err := env.ExecuteActivity(tasks.ApplyStep, in)
	require.NoError(t, err)
	require.Equal(t, "Ada was rude", s.step.Changes[0].Node.Reason)
	require.Equal(t, pipeline.ReasonMaxRework, s.step.Changes[1].Node.Reason)

	// A local activity is called with the values themselves, which go into the history
	// when it fails and another sort of activity is asked.
	_, err = (&activities.Tasks{Store: s}).ApplyStep(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, "Ada was rude", s.step.Changes[0].Node.Reason)
	require.Equal(t, pipeline.ReasonPerson, in.Changes[0].Node.Reason)
}

func TestErrorsCarryTheirKindAndNothingElse(t *testing.T) {
	t.Parallel()
	secret := errors.New(`pq: duplicate key value (email)=(ada@acme.test) in "INSERT INTO tasks"`)
	for _, kind := range fault.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var cause error = fault.New(kind, "task 1 of ada@acme.test").Because(secret)
			if kind == fault.Internal {
				cause = fmt.Errorf("apply step: %w", secret)
			}
			env, tasks := environment(&stub{err: cause})
			_, err := env.ExecuteActivity(tasks.ApplyStep, activities.ApplyStepInput{TaskID: 1})
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, string(kind), app.Type())
			require.NotContains(t, err.Error(), "ada")
			require.NotContains(t, err.Error(), "INSERT")
			waits := kind == fault.Unavailable || kind == fault.Internal || kind == fault.RateLimited || kind == fault.Conflict
			require.Equal(t, !waits, app.NonRetryable())
		})
	}
}
