package workflows_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// carried fills every field, so that the test notices one that gets lost.
func carried(t *testing.T) workflows.Carried {
	t.Helper()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	g := pipeline.NewGraph(sideBySide())
	for i := range g.Nodes {
		g.Nodes[i].Title, g.Nodes[i].Automated, g.Nodes[i].Unattended = "Title", true, true
	}
	node := func(key string, status task.NodeStatus) pipeline.NodeState {
		return pipeline.NodeState{
			Key: key, Status: status, Iteration: 2, Claim: "c", LeaseEnds: at, SLAEnds: at, Actor: 7,
			ReservedFor: 8, Skipped: []string{"x"}, Passed: true, Reworks: 1, Reason: pipeline.ReasonSLA,
		}
	}
	return workflows.Carried{
		PipelineID: 42, PipelineName: "Math check", Identity: activities.Identity{VersionID: 6, CreatedAt: at}, Graph: g,
		State: pipeline.State{
			Seq: 9, StartSkipped: []string{"y"}, Failed: true, Held: true, Touched: true,
			Nodes: []pipeline.NodeState{
				node("left", task.NodeClaimed), node("right", task.NodeClaimed), node("check", task.NodePending),
			},
		},
		Holders: []activities.Holder{{Node: "left", Claim: "c", User: 7}},
		Last: pipeline.Event{
			Seq: 9, Kind: pipeline.EventReview, Node: "check", Iteration: 1, Actor: 8, Claim: "d", LeaseEnds: at,
			Outcome: pipeline.Rejected, Skipped: []string{"z"}, Returned: []string{"left"}, Reason: pipeline.ReasonPerson,
		},
		Known: 9, Label: workflows.TaskPaused, Misses: 3, Ahead: time.Minute, Heard: true,
	}
}

func TestEveryFieldSurvivesTheWireOfContinueAsNew(t *testing.T) {
	in := workflows.TaskInput{TaskID: taskID, Carried: new(workflows.Carried)}
	*in.Carried = carried(t)
	requireFilled(t, "Carried", reflect.ValueOf(*in.Carried))
	payload, err := converter.GetDefaultDataConverter().ToPayload(in)
	require.NoError(t, err)
	var out workflows.TaskInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(payload, &out))
	require.Equal(t, in, out)
}

// requireFilled fails for a field that nobody has thought of in carried.
func requireFilled(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		require.False(t, v.IsZero(), "%s is not set", path)
		return
	}
	for i := range v.NumField() {
		f, name := v.Field(i), path+"."+v.Type().Field(i).Name
		if f.Kind() == reflect.Slice && f.Len() > 0 && f.Index(0).Kind() == reflect.Struct && name != "Carried.Graph.Nodes" {
			f = f.Index(0)
		}
		requireFilled(t, name, f)
	}
}

func TestContinueAsNewHandsOverAllThatTheRunKnows(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(2*time.Minute, func() {
		x.env.SetContinueAsNewSuggested(true)
		x.tell(x.add(pipeline.Event{Kind: pipeline.EventHold}))
	})
	x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, x.env.GetWorkflowError(), &next)
	var in workflows.TaskInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	require.Equal(t, taskID, in.TaskID)
	require.NotNil(t, in.Carried)
	c := *in.Carried
	require.Equal(t, x.graph, c.Graph)
	require.Equal(t, x.task, c.Identity)
	want := x.state()
	require.Equal(t, x.leases["solve"], c.State.Nodes[0].LeaseEnds)
	require.Equal(t, want.Seq, c.State.Seq)
	require.True(t, c.State.Held)
	require.Equal(t, []activities.Holder{{Node: "solve", Claim: "claim-2", User: 7}}, c.Holders)
	require.Equal(t, workflows.TaskPaused, c.Label)
	require.Equal(t, int64(3), c.Known)

	// The next run goes on from there, lease and all, without asking again.
	y := newDesk(t, solveAndCheck())
	y.applied, y.journal, y.leases, y.calls = x.applied, x.journal, x.leases, nil
	y.env.SetStartTime(x.env.Now())
	y.at(time.Hour, func() {
		y.requireNode("solve", task.NodeAvailable)
		y.tell(y.add(pipeline.Event{Kind: pipeline.EventUnhold}))
		y.finish()
	})
	y.env.ExecuteWorkflow(workflows.TaskWorkflow, in)
	require.Equal(t, task.Finished, y.result().Status)
	require.Zero(t, y.called("LoadTask"))
}

// What arrives in the same moment as the last event is taken in before the
// run ends.
func TestSignalsThatArriveWithTheEndAreTakenIn(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.finish()
		x.tell(x.journal...) // each a second time
		x.tell(pipeline.Event{})
	})
	require.Equal(t, task.Finished, x.run().Status)
}
