package pipeline_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// drawDefinition draws a pipeline: branches and joins of any shape, and reviews of any
// subtasks before them. It is one that is published or once was: see decisive.
func drawDefinition(t *rapid.T) pipeline.Definition {
	d := pipeline.Definition{Name: "Drawn", Nodes: []pipeline.Node{{Key: "start", Kind: pipeline.KindStart}}}
	n := rapid.IntRange(1, 10).Draw(t, "nodes")
	above := make([]map[int]bool, n+1) // subtasks before a node, by position
	above[0] = map[int]bool{}
	leads := make([]bool, n+1)
	for i := 1; i <= n; i++ {
		above[i] = map[int]bool{}
		prev := rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 1, min(i, 3), rapid.ID[int]).Draw(t, "prev")
		slices.Sort(prev)
		for _, p := range prev {
			leads[p] = true
			for a := range above[p] {
				above[i][a] = true
			}
			if p > 0 && d.Nodes[p].Kind == pipeline.KindSubtask {
				above[i][p] = true
			}
			d.Edges = append(d.Edges, pipeline.Edge{From: d.Nodes[p].Key, To: fmt.Sprintf("n%d", i), When: drawWhen(t, d.Nodes[p])})
		}
		d.Nodes = append(d.Nodes, drawNode(t, d, i, above[i]))
	}
	d.Nodes = append(d.Nodes, pipeline.Node{Key: "end", Kind: pipeline.KindEnd})
	for i := 1; i <= n; i++ {
		if !leads[i] || rapid.IntRange(0, 4).Draw(t, "to end") == 0 {
			d.Edges = append(d.Edges, pipeline.Edge{From: d.Nodes[i].Key, To: "end"})
		}
	}
	return d
}

// drawWhen draws whether an edge out of the node has a condition: on what is
// handed in there, on what is reviewed, or on what the task is created with.
func drawWhen(t *rapid.T, from pipeline.Node) *form.Condition {
	if rapid.Bool().Draw(t, "always") {
		return nil
	}
	field := from.Key + "_0"
	switch from.Kind {
	case pipeline.KindStart:
		field = "given"
	case pipeline.KindReview:
		field = from.Reviews[0].Node + "_0"
	case pipeline.KindSubtask, pipeline.KindEnd:
	}
	return &form.Condition{Field: field, Op: form.OpNotEmpty}
}

func drawNode(t *rapid.T, d pipeline.Definition, i int, above map[int]bool) pipeline.Node {
	key := fmt.Sprintf("n%d", i)
	var subtasks []int
	for a := range above {
		subtasks = append(subtasks, a)
	}
	slices.Sort(subtasks)
	if len(subtasks) > 0 && rapid.IntRange(0, 9).Draw(t, "review") < 4 {
		rework := rapid.IntRange(0, 3).Draw(t, "max rework")
		n := pipeline.Node{Key: key, Kind: pipeline.KindReview, MaxRework: &rework}
		for _, a := range rapid.SliceOfNDistinct(rapid.SampledFrom(subtasks), 1, min(3, len(subtasks)), rapid.ID[int]).Draw(t, "targets") {
			n.Reviews = append(n.Reviews, pipeline.Target{Node: d.Nodes[a].Key})
		}
		return n
	}
	inputs := [][]form.Input{{form.Contributor}, {form.Contributor}, {form.Contributor}, {form.Contributor, form.LLM}, {form.LLM}}
	n := pipeline.Node{Key: key, Kind: pipeline.KindSubtask}
	if i == 1 {
		n.Fields = []form.Field{{Name: "given", Type: form.ShortText, Input: form.Seeded}}
	}
	for j, in := range rapid.SampledFrom(inputs).Draw(t, "inputs") {
		f := form.Field{Name: fmt.Sprintf("%s_%d", key, j), Type: form.ShortText, Input: in}
		if in == form.LLM {
			f.LLM = &form.Generation{Model: "default", Prompt: "Say something."}
		}
		n.Fields = append(n.Fields, f)
	}
	return n
}

// desk is a task as Postgres keeps it: rows that commands write at once, a
// journal, and consequences that a run writes later.
type desk struct {
	t *rapid.T
	g pipeline.Graph
	// choices are the nodes that a condition may rule out, by the node before.
	choices [][]string
	rows    []row
	held    bool
	failed  bool
	touched bool
	journal []pipeline.Event
	// state is the run's; it has seen the journal up to state.Seq.
	state pipeline.State
	skips []string
}

// row is one node of the task; seq is the journal row that wrote it last.
type row struct {
	pipeline.NodeState

	seq int64
}

func newDesk(t *rapid.T, d pipeline.Definition) *desk {
	g := pipeline.NewGraph(d)
	k := &desk{t: t, g: g}
	for _, n := range g.Nodes {
		k.choices = append(k.choices, keysOf(g, n.Choices))
	}
	if rapid.IntRange(0, 3).Draw(t, "begun long ago") == 0 {
		k.g = g.WithoutChoices()
		g = k.g
	}
	k.skips = k.drawSkipped(0)
	s, err := pipeline.Start(g, k.skips)
	require.NoError(t, err)
	k.state = s
	for _, n := range s.Nodes {
		k.rows = append(k.rows, row{n, 1})
	}
	k.journal = []pipeline.Event{{Seq: 1, Kind: pipeline.EventCreate}}
	return k
}

func keysOf(g pipeline.Graph, nodes []int) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, g.Nodes[n].Key)
	}
	return out
}

// drawSkipped draws some of the ways out of a node that have a condition, never
// all ways.
func (k *desk) drawSkipped(i int) []string {
	choices, most := k.choices[i], len(k.choices[i])
	if most == len(k.g.Nodes[i].Next) {
		most--
	}
	if most < 1 || rapid.Bool().Draw(k.t, "all ways") {
		return nil
	}
	out := rapid.SliceOfNDistinct(rapid.SampledFrom(choices), 0, most, rapid.ID[string]).Draw(k.t, "skipped")
	slices.Sort(out)
	return out
}

// manner says what the people of a schedule do.
type manner struct {
	admins, rejects, automationFails, noRoute, fails, undoes bool
}

// legal lists the commands that Postgres would accept now. Random parts of an
// event are drawn when it is carried out.
func (k *desk) legal(m manner) []pipeline.Event {
	var out []pipeline.Event
	if k.failed || k.status().Terminal() {
		return nil
	}
	for i, r := range k.rows {
		out = append(out, legalOn(k.g.Nodes[i+1], r.NodeState, m)...)
		if e, ok := k.undo(r.Key); ok && m.undoes {
			out = append(out, e, e)
		}
	}
	if m.admins {
		kind := pipeline.EventHold
		if k.held {
			kind = pipeline.EventUnhold
		}
		out = append(out, pipeline.Event{Kind: kind})
	}
	if m.fails {
		out = append(out, pipeline.Event{Kind: pipeline.EventFail})
	}
	return out
}

// undo is the event that takes back what was handed in last for a node, when
// that is possible.
func (k *desk) undo(node string) (pipeline.Event, bool) {
	for _, e := range slices.Backward(k.journal) {
		if e.Node != node || e.Kind != pipeline.EventSubmit && e.Kind != pipeline.EventReview {
			continue
		}
		block, by, err := pipeline.CheckUndo(k.g, k.skips, k.journal, e.Seq)
		require.NoError(k.t, err)
		require.Equal(k.t, block == pipeline.UndoFollowed, by != "")
		return pipeline.Event{
			Kind: pipeline.EventUndo, Node: node, Iteration: e.Iteration, Actor: e.Actor, Claim: e.Claim,
		}, block == ""
	}
	return pipeline.Event{}, false
}

func (k *desk) status() task.Status {
	return task.Derive(k.statuses(), task.Flags{Failed: k.failed, Held: k.held, Touched: k.touched})
}

func (k *desk) summary() task.Summary { return task.Summarize(k.statuses()) }

func (k *desk) statuses() []task.NodeStatus {
	var nodes []task.NodeStatus
	for _, r := range k.rows {
		nodes = append(nodes, r.Status)
	}
	return nodes
}

func legalOn(gn pipeline.GraphNode, n pipeline.NodeState, m manner) []pipeline.Event {
	var out []pipeline.Event
	add := func(kind pipeline.EventKind, outcomes ...string) {
		for _, o := range append([]string{}, outcomes...) {
			out = append(out, pipeline.Event{Kind: kind, Node: n.Key, Iteration: n.Iteration, Claim: n.Claim, Outcome: o})
		}
	}
	switch n.Status {
	case task.NodeAvailable:
		add(pipeline.EventClaim, "", "", "")
	case task.NodeClaimed:
		add(pipeline.EventClaim, "") // the lease ran out
		add(pipeline.EventRelease, "")
		add(pipeline.EventExpire, "")
		switch {
		case gn.Kind == pipeline.KindSubtask:
			add(pipeline.EventSubmit, "", "", "", "", "")
		case m.rejects:
			add(pipeline.EventReview, pipeline.Approved, pipeline.Approved, pipeline.Rejected, pipeline.Rejected, pipeline.EscalatedByReviewer)
		default:
			add(pipeline.EventReview, pipeline.Approved, pipeline.Approved)
		}
	case task.NodeDeferred:
		add(pipeline.EventAuto, pipeline.AutoDone, pipeline.AutoDone)
		if m.automationFails {
			add(pipeline.EventAuto, pipeline.AutoFailed)
		}
	case task.NodeEscalated, task.NodeQuarantined:
		add(pipeline.EventResolve, pipeline.ResolveRequeue, pipeline.ResolveAccept, pipeline.ResolveSkip)
	case task.NodePending, task.NodeSubmitted, task.NodeFinished, task.NodeNA:
	}
	if m.admins && !n.Status.Settled() {
		if n.Status != task.NodeEscalated && n.Status.CanMove(task.NodeEscalated) {
			add(pipeline.EventEscalate, "")
		}
		if n.Status != task.NodeQuarantined {
			add(pipeline.EventQuarantine, "")
		}
	}
	return out
}

// complete draws what the people put into the event.
func (k *desk) complete(e pipeline.Event, m manner) pipeline.Event {
	e.Seq = int64(len(k.journal)) + 1
	switch e.Kind {
	case pipeline.EventClaim:
		e.Claim, e.LeaseEnds = fmt.Sprintf("claim-%d", e.Seq), time.Unix(e.Seq, 0)
	case pipeline.EventEscalate, pipeline.EventQuarantine:
		e.Claim, e.Reason = "", "looks odd"
	case pipeline.EventCreate, pipeline.EventRelease, pipeline.EventSubmit, pipeline.EventReview, pipeline.EventResolve,
		pipeline.EventHold, pipeline.EventUnhold, pipeline.EventFail, pipeline.EventExpire, pipeline.EventAuto, pipeline.EventUndo:
	}
	if e.Kind == pipeline.EventFail || e.Kind == pipeline.EventUndo || e.Node == "" {
		return e
	}
	gn := k.g.Nodes[k.g.Index(e.Node)]
	e.Actor = int64(rapid.IntRange(1, 3).Draw(k.t, "actor"))
	if goesOn(gn, e) {
		i := k.g.Index(e.Node)
		e.Skipped = k.drawSkipped(i)
		if m.noRoute && len(k.choices[i]) == len(gn.Next) && rapid.IntRange(0, 9).Draw(k.t, "no route") == 0 {
			e.Skipped = k.choices[i]
		}
	}
	if e.Outcome == pipeline.Rejected {
		targets := keysOf(k.g, gn.Reviews)
		e.Returned = rapid.SliceOfNDistinct(rapid.SampledFrom(targets), 0, len(targets), rapid.ID[string]).Draw(k.t, "returned")
	}
	if e.Outcome == pipeline.ResolveRequeue {
		e.Iteration++
	}
	return e
}

// handsIn reports whether the store writes a submission with the event.
func handsIn(e pipeline.Event) bool {
	return e.Kind == pipeline.EventSubmit || e.Kind == pipeline.EventReview
}

// goesOn reports whether the event hands in values, which rule out some ways.
func goesOn(gn pipeline.GraphNode, e pipeline.Event) bool {
	return e.Kind == pipeline.EventSubmit || e.Outcome == pipeline.Approved || e.Outcome == pipeline.ResolveAccept ||
		e.Outcome == pipeline.AutoDone && gn.Unattended
}

// command carries out a command as the store does: one journal row, and the
// node that it is about. Consequences come later.
func (k *desk) command(e pipeline.Event) {
	for _, before := range k.journal {
		twice := handsIn(e) && handsIn(before) && before.Node == e.Node && before.Iteration == e.Iteration
		require.False(k.t, twice, "the store keeps one submission of a round: %+v after %+v", e, before)
	}
	k.journal = append(k.journal, e)
	switch e.Kind {
	case pipeline.EventHold, pipeline.EventUnhold:
		k.held = e.Kind == pipeline.EventHold
		return
	case pipeline.EventFail:
		k.failed = true
		for i := range k.rows {
			if r := &k.rows[i]; !r.Status.Settled() {
				k.write(r, task.NodeNA, e.Seq)
			}
		}
		return
	case pipeline.EventClaim:
		k.touched = true
	case pipeline.EventCreate, pipeline.EventRelease, pipeline.EventSubmit, pipeline.EventReview, pipeline.EventEscalate,
		pipeline.EventQuarantine, pipeline.EventResolve, pipeline.EventExpire, pipeline.EventAuto, pipeline.EventUndo:
	}
	i := k.g.Index(e.Node)
	r, gn := &k.rows[i-1], k.g.Nodes[i]
	k.write(r, k.ownStatus(gn, e), e.Seq)
	switch {
	case e.Kind == pipeline.EventClaim:
		r.Claim, r.LeaseEnds = e.Claim, e.LeaseEnds
	case e.Kind == pipeline.EventSubmit, e.Kind == pipeline.EventReview:
		r.Actor, r.Skipped = e.Actor, e.Skipped
	case e.Kind == pipeline.EventUndo:
		r.Iteration, r.ReservedFor, r.Skipped = e.Iteration+1, e.Actor, nil
	case e.Kind == pipeline.EventAuto && gn.Unattended:
		r.Skipped = e.Skipped
	case e.Kind == pipeline.EventResolve:
		r.Iteration, r.Skipped, r.Passed = e.Iteration, e.Skipped, e.Outcome == pipeline.ResolveSkip
		if e.Outcome == pipeline.ResolveRequeue {
			r.Reworks = 0
		}
	}
	switch {
	case e.Kind == pipeline.EventEscalate, e.Kind == pipeline.EventQuarantine:
		r.Reason = e.Reason
	case e.Outcome == pipeline.EscalatedByReviewer:
		r.Reason = pipeline.ReasonReviewer
	case e.Outcome == pipeline.AutoFailed:
		r.Reason = pipeline.ReasonAutomation
	}
}

// ownStatus is the status that the command itself gives to its node.
func (k *desk) ownStatus(gn pipeline.GraphNode, e pipeline.Event) task.NodeStatus {
	switch e.Kind {
	case pipeline.EventClaim:
		return task.NodeClaimed
	case pipeline.EventEscalate:
		return task.NodeEscalated
	case pipeline.EventQuarantine:
		return task.NodeQuarantined
	case pipeline.EventSubmit, pipeline.EventReview:
		if e.Outcome == pipeline.EscalatedByReviewer {
			return task.NodeEscalated
		}
		return task.NodeSubmitted
	case pipeline.EventResolve:
		switch {
		case e.Outcome == pipeline.ResolveAccept:
			return task.NodeSubmitted
		case e.Outcome == pipeline.ResolveSkip:
			return task.NodeNA
		case gn.Automated:
			return task.NodeDeferred
		}
	case pipeline.EventAuto:
		switch {
		case e.Outcome == pipeline.AutoFailed:
			return task.NodeQuarantined
		case gn.Unattended:
			return task.NodeSubmitted
		}
	case pipeline.EventCreate, pipeline.EventRelease, pipeline.EventExpire, pipeline.EventHold, pipeline.EventUnhold,
		pipeline.EventFail, pipeline.EventUndo:
	}
	return task.NodeAvailable
}

// write moves a row as far as every command does.
func (k *desk) write(r *row, to task.NodeStatus, seq int64) {
	require.True(k.t, r.Status.CanMove(to), "command: node %s may not go from %s to %s", r.Key, r.Status, to)
	r.Status, r.seq = to, seq
	r.Claim, r.LeaseEnds, r.ReservedFor, r.Reason = "", time.Time{}, 0, ""
}

// run lets the task's run take in the next n events of the journal and writes
// what follows, each change unless a later command wrote its row.
func (k *desk) run(n int) {
	for ; n > 0 && k.state.Seq < int64(len(k.journal)); n-- {
		e := k.journal[k.state.Seq]
		next, changes := pipeline.Step(k.g, k.state, e)
		require.Equal(k.t, e.Seq, next.Seq)
		k.state = next
		for _, c := range changes {
			require.Equal(k.t, e.Seq, c.Seq)
			require.NotEqual(k.t, task.NodeClaimed, c.Node.Status, "only a command gives a claim")
			r := &k.rows[slices.IndexFunc(k.rows, func(r row) bool { return r.Key == c.Node.Key })]
			if r.seq > c.Seq {
				continue
			}
			require.True(k.t, k.failed || r.Status.CanMove(c.Node.Status), "event %d: node %s may not go from %s to %s",
				e.Seq, r.Key, r.Status, c.Node.Status)
			actor := r.Actor
			r.NodeState, r.seq = c.Node, c.Seq
			r.Actor = actor // the command's own
		}
	}
}

// matches asks that the rows are what the run believes, once it has seen all.
func (k *desk) matches() {
	require.Equal(k.t, int64(len(k.journal)), k.state.Seq)
	for i, r := range k.rows {
		require.Equal(k.t, plain(k.state.Nodes[i]), plain(r.NodeState), "row of %s", r.Key)
	}
	require.Equal(k.t, k.status(), k.state.Status())
}

// plain leaves out what means nothing in the node's status.
func plain(n pipeline.NodeState) pipeline.NodeState {
	if len(n.Skipped) == 0 || n.Status != task.NodeSubmitted && n.Status != task.NodeFinished {
		n.Skipped = nil
	}
	return n
}

// act carries out one random command; false when there is none.
func (k *desk) act(m manner) bool {
	options := k.legal(m)
	if len(options) == 0 {
		return false
	}
	e := rapid.SampledFrom(options).Draw(k.t, "command")
	k.command(k.complete(e, m))
	return true
}
