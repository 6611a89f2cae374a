package pipeline_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

var wild = manner{admins: true, rejects: true, automationFails: true, noRoute: true, undoes: true}

// Every drawn pipeline is one that publish accepts, and its graph leads from
// start to end on every path.
func TestEveryPathFromStartReachesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := decisive(drawDefinition(t))
		require.Empty(t, pipeline.Validate(d, pipeline.Options{LLM: true}))
		g := pipeline.NewGraph(d)
		require.Len(t, g.Nodes, len(d.Nodes))
		require.Equal(t, pipeline.KindStart, g.Nodes[0].Kind)
		last := len(g.Nodes) - 1
		require.Equal(t, pipeline.KindEnd, g.Nodes[last].Kind)
		for i, n := range g.Nodes {
			if i < last {
				require.NotEmpty(t, n.Next, "a path that stops at %s", n.Key)
			}
			for _, next := range n.Next {
				require.Greater(t, next, i, "edges lead forward, so every path ends, and only end has no way out")
			}
		}
	})
}

// decisive takes the condition from every edge out of a review that checks nothing that
// is on a way without conditions, which publish may refuse, but did not always.
func decisive(d pipeline.Definition) pipeline.Definition {
	sure := map[string]bool{"start": true}
	for _, e := range d.Edges { // in the order of their ends
		sure[e.To] = sure[e.To] || sure[e.From] && e.When == nil
	}
	d.Edges = slices.Clone(d.Edges)
	for i, e := range d.Edges {
		from := slices.IndexFunc(d.Nodes, func(n pipeline.Node) bool { return n.Key == e.From })
		if n := d.Nodes[from]; n.Kind == pipeline.KindReview &&
			!slices.ContainsFunc(n.Reviews, func(t pipeline.Target) bool { return sure[t.Node] }) {
			d.Edges[i].When = nil
		}
	}
	return d
}

// Whatever people do and however late the run hears of it, rows move only as
// the state machine allows, counts add up, what is finished stays so, and at
// rest the rows are what the journal says.
func TestRowsFollowTheJournal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		m := wild
		m.fails = rapid.IntRange(0, 9).Draw(t, "may fail") == 0
		finished := 0
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			if !k.act(m) {
				break
			}
			k.run(rapid.SampledFrom([]int{0, 0, 1, 1, 2, 100}).Draw(t, "events"))
			if rapid.IntRange(0, 9).Draw(t, "run lost") == 0 {
				s, err := pipeline.Fold(k.g, k.skips, k.journal[:k.state.Seq])
				require.NoError(t, err)
				require.Equal(t, k.state, s, "a new run begins where the old one was")
			}
			sum := k.summary()
			require.Equal(t, sum.Total, sum.Finished+sum.InProgress+sum.Pending)
			require.GreaterOrEqual(t, sum.Finished, finished, "what is finished stays finished")
			finished = sum.Finished
		}
		k.run(len(k.journal))
		k.matches()
	})
}

// A finished task went one way: a node is done exactly when what was handed in
// last before it leads there, however often that was sent back and chosen anew
// while people were at work behind the old choice.
func TestWhatIsDoneIsWhereTheTaskWent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefinition(t)
		k := newDesk(t, d)
		k.g = pipeline.NewGraph(d)
		// An admin who acts on a row that lags may take up again what is finished.
		m := wild
		m.admins = rapid.Bool().Draw(t, "admins")
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			if !k.act(m) {
				break
			}
			if lag := rapid.SampledFrom([]int{0, 0, 1, 1, 2, 100}).Draw(t, "events"); m.admins {
				k.run(len(k.journal))
			} else {
				k.run(lag)
			}
		}
		k.run(len(k.journal))
		ends(t, k, manner{})
		for i, gn := range k.g.Nodes[1 : len(k.g.Nodes)-1] {
			n := k.state.Nodes[i]
			if n.Reason == pipeline.ReasonSkipped {
				continue // by an admin's word, on any way
			}
			led := slices.ContainsFunc(gn.Prev, func(p int) bool {
				if p == 0 {
					return !slices.Contains(k.skips, gn.Key)
				}
				before := k.state.Nodes[p-1]
				return (before.Status == task.NodeFinished || before.Passed) && !slices.Contains(before.Skipped, gn.Key)
			})
			require.Equal(t, led, n.Status == task.NodeFinished || n.Passed, "node %s is %s: %+v", n.Key, n.Status, k.state.Nodes)
		}
	})
}

// A task whose reviewers approve ends, whatever ways its values take; at any
// time somebody or something can move it.
func TestApprovalLeadsToTheEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		ends(t, k, manner{})
		require.Equal(t, task.Finished, k.state.Status())
	})
}

// However a task got into trouble, resolving it and approving ends it.
func TestEveryTroubleCanBeEnded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			if !k.act(wild) {
				break
			}
			k.run(rapid.IntRange(0, 3).Draw(t, "events"))
		}
		k.run(len(k.journal))
		ends(t, k, manner{})
		require.Equal(t, task.Finished, k.state.Status())
	})
}

// ends works on until the task is done.
func ends(t *rapid.T, k *desk, m manner) {
	for range 60 * len(k.rows) {
		if k.state.Done() {
			return
		}
		options := k.legal(m)
		require.NotEmpty(t, options, "task is %s and nobody can move it: %+v", k.state.Status(), k.state.Nodes)
		// Those who only give back and take again would go on for ever.
		forward := slices.DeleteFunc(slices.Clone(options), func(e pipeline.Event) bool {
			n, _ := k.state.Node(e.Node)
			return e.Kind == pipeline.EventRelease || e.Kind == pipeline.EventExpire || e.Outcome == pipeline.ResolveRequeue ||
				e.Kind == pipeline.EventClaim && n.Status == task.NodeClaimed
		})
		k.command(k.complete(rapid.SampledFrom(forward).Draw(t, "command"), m))
		k.run(len(k.journal))
	}
	require.Fail(t, "the task does not end", "%+v", k.state.Nodes)
}

// Two commands on different nodes, both possible in either order, lead to the
// same state in either order.
func TestIndependentEventsCommute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		for range rapid.IntRange(0, 40).Draw(t, "commands") {
			if !k.act(wild) {
				break
			}
			k.run(len(k.journal))
		}
		options := k.legal(wild)
		for range min(len(options), 6) {
			a := k.complete(rapid.SampledFrom(options).Draw(t, "a"), wild)
			b := k.complete(rapid.SampledFrom(options).Draw(t, "b"), wild)
			if a.Node == b.Node || early(k.g, k.state, a) || early(k.g, k.state, b) {
				continue
			}
			ab, okAB := inOrder(k.g, k.state, a, b)
			ba, okBA := inOrder(k.g, k.state, b, a)
			if okAB && okBA {
				require.Equal(t, unreserved(ab), unreserved(ba), "%+v and %+v after %+v", a, b, k.state.Nodes)
			}
		}
	})
}

// unreserved leaves out for whom nodes wait first: a node that an admin gives
// to everybody is still kept for its last author if it has to wait once more.
func unreserved(s pipeline.State) pipeline.State {
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i].ReservedFor = 0
	}
	return s
}

// early reports whether an admin lets a node pass before what comes before it is
// done, or where nothing leads to it: then it matters whether that comes first,
// because such a review is held once more, and such a node falls away.
func early(g pipeline.Graph, s pipeline.State, e pipeline.Event) bool {
	if e.Outcome != pipeline.ResolveAccept {
		return false
	}
	gn := g.Nodes[g.Index(e.Node)]
	led := slices.Contains(gn.Prev, 0) && !slices.Contains(s.StartSkipped, gn.Key)
	for _, p := range slices.Concat(gn.Prev, gn.Reviews) {
		if p == 0 {
			continue
		}
		n := s.Nodes[p-1]
		if !n.Status.Settled() && n.Status != task.NodeSubmitted {
			return true
		}
		led = led || n.Status != task.NodeNA && slices.Contains(gn.Prev, p) && !slices.Contains(n.Skipped, gn.Key)
	}
	return !led
}

// inOrder takes two events in; false when the first made the second
// impossible.
func inOrder(g pipeline.Graph, s pipeline.State, first, second pipeline.Event) (pipeline.State, bool) {
	first.Seq, second.Seq = s.Seq+1, s.Seq+2
	s, _ = pipeline.Step(g, s, first)
	if second.Node != "" && !possible(g, s, second) {
		return s, false
	}
	s, _ = pipeline.Step(g, s, second)
	return s, true
}

func possible(g pipeline.Graph, s pipeline.State, e pipeline.Event) bool {
	n, _ := s.Node(e.Node)
	return slices.ContainsFunc(legalOn(g.Nodes[g.Index(e.Node)], n, wild), func(l pipeline.Event) bool {
		switch {
		case l.Kind == pipeline.EventClaim, l.Kind == pipeline.EventEscalate, l.Kind == pipeline.EventQuarantine:
			l.Claim = e.Claim
		case l.Outcome == pipeline.ResolveRequeue:
			l.Iteration++
		}
		return l.Kind == e.Kind && l.Outcome == e.Outcome && l.Iteration == e.Iteration && l.Claim == e.Claim
	})
}

// Taking an event in leaves its input alone, reports no more than what differs
// and the event's own node, and taking it in again changes nothing.
func TestStepIsPureAndRepeatable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			if !k.act(wild) {
				return
			}
			e := k.journal[len(k.journal)-1]
			before := jsonOf(t, k.state)
			after, changes := pipeline.Step(k.g, k.state, e)
			require.JSONEq(t, before, jsonOf(t, k.state), "the input is as it was")
			for _, c := range changes {
				was, _ := k.state.Node(c.Node.Key)
				is, _ := after.Node(c.Node.Key)
				require.Equal(t, is, c.Node)
				require.True(t, c.Node.Key == e.Node || jsonOf(t, was) != jsonOf(t, is), "%s is reported unchanged", c.Node.Key)
			}
			if e.Kind != pipeline.EventResolve { // what an admin resolves may be in need of it again
				again, _ := pipeline.Step(k.g, after, e)
				require.Equal(t, after, again, "event %+v twice", e)
			}

			var g pipeline.Graph
			require.NoError(t, json.Unmarshal([]byte(jsonOf(t, k.g)), &g))
			require.Equal(t, k.g, g, "a graph survives JSON")
			read, _ := pipeline.Step(g, k.state, e)
			require.Equal(t, after, read)
			bare, _ := pipeline.Step(pipeline.Graph{Nodes: k.g.Nodes}, k.state, e)
			require.Equal(t, after, bare, "a graph put together by hand works too")
			k.run(len(k.journal))
		}
	})
}

func jsonOf(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
