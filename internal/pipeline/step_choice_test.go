package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// crossroads leads from a to left and then next, or to right, while check reviews
// a and proof reviews left.
func crossroads() pipeline.Definition {
	subtask := func(key string) pipeline.Node {
		return pipeline.Node{Key: key, Kind: pipeline.KindSubtask, Fields: []form.Field{
			{Name: key + "_0", Type: form.ShortText, Input: form.Contributor},
		}}
	}
	review := func(key, of string) pipeline.Node {
		return pipeline.Node{Key: key, Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: of}}}
	}
	when := func(from, to string) pipeline.Edge {
		return pipeline.Edge{From: from, To: to, When: &form.Condition{Field: from + "_0", Op: form.OpNotEmpty}}
	}
	return pipeline.Definition{
		Name: "Crossroads",
		Nodes: []pipeline.Node{
			{Key: "start", Kind: pipeline.KindStart},
			subtask("a"), review("check", "a"),
			subtask("left"), subtask("next"), review("proof", "left"), subtask("right"),
			{Key: "end", Kind: pipeline.KindEnd},
		},
		Edges: []pipeline.Edge{
			{From: "start", To: "a"},
			{From: "a", To: "check"},
			when("a", "left"), when("a", "right"), when("left", "next"),
			{From: "left", To: "proof"},
			{From: "next", To: "end"},
			{From: "right", To: "end"},
			{From: "check", To: "end"},
			{From: "proof", To: "end"},
		},
	}
}

// traveller is a task on its way.
type traveller struct {
	t *testing.T
	g pipeline.Graph
	s pipeline.State
}

func travel(t *testing.T) *traveller {
	t.Helper()
	return travelOn(t, crossroads())
}

func travelOn(t *testing.T, d pipeline.Definition) *traveller {
	t.Helper()
	require.Empty(t, pipeline.Validate(d, pipeline.Options{}))
	g := pipeline.NewGraph(d)
	s, err := pipeline.Start(g, nil)
	require.NoError(t, err)
	return &traveller{t: t, g: g, s: s}
}

func (r *traveller) do(kind pipeline.EventKind, node string, e pipeline.Event) {
	r.t.Helper()
	n, _ := r.s.Node(node)
	e.Kind, e.Node, e.Seq, e.Iteration, e.Actor = kind, node, r.s.Seq+1, n.Iteration, 1
	r.s, _ = pipeline.Step(r.g, r.s, e)
}

func (r *traveller) claim(node string) {
	r.t.Helper()
	n, _ := r.s.Node(node)
	require.Equal(r.t, task.NodeAvailable, n.Status, "%s in %+v", node, r.s.Nodes)
	r.do(pipeline.EventClaim, node, pipeline.Event{Claim: "c-" + node})
}

func (r *traveller) submit(node string, skipped ...string) {
	r.t.Helper()
	r.claim(node)
	r.do(pipeline.EventSubmit, node, pipeline.Event{Claim: "c-" + node, Skipped: skipped})
}

func (r *traveller) judge(node, outcome string) {
	r.t.Helper()
	r.claim(node)
	r.do(pipeline.EventReview, node, pipeline.Event{Claim: "c-" + node, Outcome: outcome})
}

func (r *traveller) is(node string, status task.NodeStatus, reason string) {
	r.t.Helper()
	n, _ := r.s.Node(node)
	require.Equal(r.t, status, n.Status, "%s in %+v", node, r.s.Nodes)
	require.Equal(r.t, reason, n.Reason, node)
}

// What was done behind a node on the way that was left does not finish while
// somebody is still at work on that node.
func TestNothingFinishesBehindWhatIsStillLeft(t *testing.T) {
	t.Parallel()
	for _, byAdmin := range []bool{false, true} {
		r := travel(t)
		r.submit("a", "right")
		r.submit("left")
		r.submit("next")
		if byAdmin {
			r.do(pipeline.EventEscalate, "left", pipeline.Event{Reason: "odd"})
		} else {
			r.judge("proof", pipeline.Rejected)
			r.claim("left")
		}
		r.judge("check", pipeline.Rejected)
		r.submit("a", "left")
		r.judge("check", pipeline.Approved)
		r.submit("right")
		r.is("right", task.NodeFinished, "")
		r.is("next", task.NodeSubmitted, "")
		if byAdmin {
			r.do(pipeline.EventResolve, "left", pipeline.Event{Outcome: pipeline.ResolveAccept})
		} else {
			r.do(pipeline.EventSubmit, "left", pipeline.Event{Claim: "c-left"})
		}
		r.is("left", task.NodeNA, pipeline.ReasonHandedIn)
		r.is("next", task.NodeNA, pipeline.ReasonHandedIn)
		require.Equal(t, task.Finished, r.s.Status())
	}
}

// A rejection that comes when the task has left the way is about work that counts
// no more: nobody is asked, and it is done again should the task come back.
func TestARejectionOnAWayThatWasLeft(t *testing.T) {
	t.Parallel()
	r := travel(t)
	r.submit("a", "right")
	r.submit("left")
	r.claim("proof")
	r.judge("check", pipeline.Rejected)
	r.submit("a", "left")
	r.do(pipeline.EventReview, "proof", pipeline.Event{Claim: "c-proof", Outcome: pipeline.Rejected})
	r.is("left", task.NodeNA, "")
	r.is("proof", task.NodeNA, "")
	r.judge("check", pipeline.Rejected)
	r.submit("a", "right")
	r.is("left", task.NodeAvailable, "")
	n, _ := r.s.Node("left")
	require.Equal(t, 2, n.Iteration)
	r.is("proof", task.NodePending, "")
}

// What was handed in on a way that was left and leads nowhere waits for an admin
// once it counts again.
func TestAWayBackThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	r := travel(t)
	r.g = pipeline.NewGraph(func() pipeline.Definition {
		d := crossroads()
		d.Nodes = append(d.Nodes[:5:5], d.Nodes[6:]...)  // without proof
		d.Edges = append(d.Edges[:5:5], d.Edges[6:9]...) // all ways out of left have a condition
		return d
	}())
	var err error
	r.s, err = pipeline.Start(r.g, nil)
	require.NoError(t, err)
	r.submit("a", "right")
	r.claim("left")
	r.judge("check", pipeline.Rejected)
	r.submit("a", "left")
	r.do(pipeline.EventSubmit, "left", pipeline.Event{Claim: "c-left", Skipped: []string{"next"}})
	r.is("left", task.NodeNA, pipeline.ReasonHandedIn)
	r.judge("check", pipeline.Rejected)
	r.is("left", task.NodeSubmitted, "") // nobody knows yet whether it matters
	r.submit("a", "left")
	r.is("left", task.NodeNA, pipeline.ReasonHandedIn)
	r.judge("check", pipeline.Rejected)
	r.submit("a", "right")
	r.is("left", task.NodeQuarantined, pipeline.ReasonNoRoute)
}

// join is a review of two subtasks, of which one is on a way that may be left, beside
// the review of the choice.
func join(rework int) pipeline.Definition {
	d := crossroads()
	both := pipeline.Node{Key: "proof", Kind: pipeline.KindReview, MaxRework: &rework, Reviews: []pipeline.Target{{Node: "left"}, {Node: "next"}}}
	d.Nodes = []pipeline.Node{d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3], d.Nodes[4], both, d.Nodes[7]}
	d.Edges = []pipeline.Edge{
		d.Edges[0], d.Edges[1], d.Edges[2],
		{From: "a", To: "next"},
		{From: "left", To: "proof"},
		{From: "next", To: "proof"},
		{From: "proof", To: "end"},
		{From: "check", To: "end"},
	}
	return d
}

// A subtask that comes back is reviewed, also when a review was approved without it
// meanwhile; one that the review saw is not reviewed twice.
func TestWhatComesBackHasItsReview(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} {
		r := travelOn(t, join(3))
		r.submit("a")
		r.submit("left")
		r.submit("next")
		if seen {
			r.judge("proof", pipeline.Approved)
		}
		r.judge("check", pipeline.Rejected)
		r.submit("a", "left")
		if !seen {
			r.judge("proof", pipeline.Approved)
			r.is("left", task.NodeNA, pipeline.ReasonUnseen)
		}
		r.judge("check", pipeline.Rejected)
		r.submit("a")
		r.is("left", task.NodeSubmitted, "")
		r.judge("check", pipeline.Approved)
		if !seen {
			r.judge("proof", pipeline.Approved)
		}
		r.is("left", task.NodeFinished, "")
		require.Equal(t, task.Finished, r.s.Status())
	}
}

// A verdict is about what its reviewer was shown: not about what came back since they
// claimed the review, nor about what comes back while they claim it or hand in.
func TestAnOpenReviewBeginsAnewWithWhatComesBack(t *testing.T) {
	t.Parallel()
	for _, returns := range []string{"after the claim", "beside the claim", "beside the verdict"} {
		t.Run(returns, func(t *testing.T) {
			t.Parallel()
			r := travelOn(t, join(3))
			r.submit("a")
			r.submit("left")
			r.submit("next")
			r.judge("check", pipeline.Rejected)
			r.submit("a", "left")
			old, _ := r.s.Node("proof")
			late := func(kind pipeline.EventKind, outcome string) {
				var changes []pipeline.Change
				r.s, changes = pipeline.Step(r.g, r.s, pipeline.Event{
					Kind: kind, Node: "proof", Seq: r.s.Seq + 1, Iteration: old.Iteration, Actor: 1, Claim: "c-proof", Outcome: outcome,
				})
				require.Len(t, changes, 1, "the row has what the command wrote")
				require.Equal(t, old.Iteration+1, changes[0].Node.Iteration)
			}
			if returns != "beside the claim" {
				r.claim("proof")
			}
			r.judge("check", pipeline.Rejected)
			r.is("left", task.NodeSubmitted, "")
			switch returns {
			case "beside the claim":
				late(pipeline.EventClaim, "")
			case "beside the verdict":
				late(pipeline.EventReview, pipeline.Approved)
			}
			r.submit("a")
			r.judge("check", pipeline.Approved)
			r.is("left", task.NodeSubmitted, "")
			r.is("proof", task.NodeAvailable, "")
			r.judge("proof", pipeline.Approved)
			r.is("left", task.NodeFinished, "")
			require.Equal(t, task.Finished, r.s.Status())
		})
	}
}

// A rejection sends back what its reviewer saw, and not what had fallen away.
func TestARejectionIsAboutWhatIsThere(t *testing.T) {
	t.Parallel()
	r := travelOn(t, join(3))
	r.submit("a")
	r.submit("left")
	r.submit("next")
	r.judge("check", pipeline.Rejected)
	r.submit("a", "left")
	r.judge("proof", pipeline.Rejected)
	r.is("next", task.NodeAvailable, "")
	r.is("left", task.NodeNA, pipeline.ReasonHandedIn)
}

// A verdict that comes when the task has left the way calls no admin, whatever it is.
func TestNoAdminIsCalledToAWayThatWasLeft(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{pipeline.Rejected, pipeline.EscalatedByReviewer, pipeline.Approved} {
		d := crossroads()
		none := 0
		d.Nodes[5].MaxRework = &none
		r := travelOn(t, d)
		r.submit("a", "right")
		r.submit("left", "next")
		r.claim("proof")
		r.judge("check", pipeline.Rejected)
		r.submit("a", "left")
		r.do(pipeline.EventReview, "proof", pipeline.Event{Claim: "c-proof", Outcome: outcome})
		n, _ := r.s.Node("proof")
		require.Equal(t, task.NodeNA, n.Status, outcome)
		r.judge("check", pipeline.Approved)
		r.submit("right")
		require.Equal(t, task.Finished, r.s.Status(), outcome)
	}
}

// A verdict that came when the task had left the way is its round's: who comes that way
// again is in another one, for a round is handed in once.
func TestAWayThatIsTakenAgainHasAnotherRound(t *testing.T) {
	t.Parallel()
	r := travel(t)
	r.submit("a", "right")
	r.submit("left", "next")
	r.claim("proof")
	r.judge("check", pipeline.Rejected)
	r.submit("a", "left")
	judged, _ := r.s.Node("proof")
	late := pipeline.Event{Claim: "c-proof", Outcome: pipeline.EscalatedByReviewer}
	r.do(pipeline.EventReview, "proof", late)
	r.judge("check", pipeline.Rejected)
	r.submit("a", "right")
	r.is("proof", task.NodeAvailable, "")
	now, _ := r.s.Node("proof")
	require.Equal(t, judged.Iteration+1, now.Iteration)

	late.Kind, late.Node, late.Iteration, late.Seq = pipeline.EventReview, "proof", judged.Iteration, r.s.Seq+1
	r.s, _ = pipeline.Step(r.g, r.s, late) // a repeat of it changes nothing
	r.is("proof", task.NodeAvailable, "")
	r.judge("proof", pipeline.Approved)
	r.judge("check", pipeline.Approved)
	require.Equal(t, task.Finished, r.s.Status())
}

// Whoever hands in where the task may still leave again can take it back, as long
// as nothing followed.
func TestWhatWaitsForAChoiceCanBeUndone(t *testing.T) {
	t.Parallel()
	g := pipeline.NewGraph(crossroads())
	for key, may := range map[string]bool{
		"a": true, "left": true, "next": true, "right": true, "check": false, "proof": true, "nowhere": false,
	} {
		require.Equal(t, may, g.MayWait(key), key)
	}
}
