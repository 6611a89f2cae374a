package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// waiting says in words why the task does not go on: first what keeps all of
// it, then node by node in the order of the graph.
func (a *api) waiting(ctx context.Context, m store.Member, d store.TaskDetail, p *pipeline.Pipeline, who names) ([]WaitingFor, error) {
	out := []WaitingFor{}
	if d.Status.Terminal() {
		return out, nil
	}
	why, err := a.Store.WhyWaiting(ctx, m.OrgID, m.PipelineID, d)
	if err != nil {
		return nil, err
	}
	t := teller{d: d, p: p, who: who, why: why, status: map[string]task.NodeStatus{}}
	nodes := map[string]store.NodeDetail{}
	for _, n := range d.Nodes {
		nodes[n.Node], t.status[n.Node] = n, n.Status
	}
	t.whole()
	for i, gn := range p.Graph.Nodes {
		if n, ok := nodes[gn.Key]; ok {
			t.node(i, n)
		}
	}
	return append(out, t.told...), nil
}

// teller puts reasons into words.
type teller struct {
	d      store.TaskDetail
	p      *pipeline.Pipeline
	who    names
	why    store.WhyWaiting
	status map[string]task.NodeStatus
	told   []WaitingFor
}

func (t *teller) say(node, code, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	// People end their reasons with a full stop, too.
	message = strings.ReplaceAll(message, ".. ", ". ")
	t.told = append(t.told, WaitingFor{Node: node, Code: code, Message: message})
}

// whole tells what keeps every node.
func (t *teller) whole() {
	switch {
	case t.why.StartsAhead != nil && t.why.StartAttempts > 1:
		t.say("", "run", "Its run in Temporal has not started: %d attempts failed so far, another one follows. Work on it can begin all the same.", t.why.StartAttempts-1)
	case t.why.StartsAhead != nil:
		t.say("", "run", "Its run in Temporal has not started yet: %s before it. Work on it can begin all the same.", ahead(*t.why.StartsAhead, "delivery goes", "deliveries go"))
	case t.p.Definition.Runs == pipeline.RunsOnFirstClaim && !t.d.Touched:
		t.say("", "run", "Its run in Temporal starts when somebody first claims it.")
	case t.why.Unapplied > 0:
		t.say("", "run", "%s for its run in Temporal to write what follows; that takes seconds while a worker is up.", plural(t.why.Unapplied, "event waits", "events wait"))
	}
	if t.why.PipelineStatus != store.StatusActive {
		t.say("", "paused", "The pipeline is %s: nobody can claim anything until it is %s again.", t.why.PipelineStatus, store.StatusActive)
	}
	if t.d.Held {
		t.say("", "held", "The task is on hold%s: nobody can claim anything on it until an admin lets it go on.", t.by(pipeline.EventHold, ""))
	}
}

// node tells what one node waits for.
func (t *teller) node(i int, n store.NodeDetail) {
	def, _ := t.p.Node(n.Node)
	switch n.Status {
	case task.NodePending:
		t.say(n.Node, "upstream", "Waits for %s.", t.before(i))
	case task.NodeDeferred:
		t.say(n.Node, "automation", "Its LLM fields are being made; then it can be claimed.")
	case task.NodeAvailable:
		t.available(n)
	case task.NodeClaimed:
		switch {
		case n.Lapsed && !n.Free:
			t.say(n.Node, "lapsed", "The claim of %s ran out at %s. Nobody is given it while a step before it is open again, or the task goes another way.",
				t.name(n.ClaimedBy), clock(n.LeaseExpiresAt))
			return
		case n.Lapsed:
			t.say(n.Node, "lapsed", "The claim of %s ran out at %s; whoever claims next gets it.", t.name(n.ClaimedBy), clock(n.LeaseExpiresAt))
			return
		}
		t.say(n.Node, "claimed", "Held by %s until %s.", t.name(n.ClaimedBy), clock(n.LeaseExpiresAt))
	case task.NodeSubmitted:
		if reviews := t.reviewsOf(i); reviews != "" {
			t.say(n.Node, "review", "Handed in; waits for the verdict of %s.", reviews)
		}
	case task.NodeEscalated:
		t.say(n.Node, "escalated", "Escalated%s. An admin decides: requeue, accept or skip.", t.because(def, n))
	case task.NodeQuarantined:
		t.say(n.Node, "quarantined", "Set aside%s. An admin decides: requeue, accept or skip.", t.because(def, n))
	case task.NodeFinished, task.NodeNA:
	}
}

func (t *teller) available(n store.NodeDetail) {
	if n.Reserved() != nil {
		t.say(n.Node, "reserved", "Kept until %s for %s, whose work came back; then for everybody.", clock(n.ReservedUntil), t.name(n.ReservedFor))
		return
	}
	place, ok := t.why.Places[n.Node]
	switch {
	case !ok:
		t.say(n.Node, "queue", "In the queue.")
	case place.Ahead >= store.MaxAhead:
		t.say(n.Node, "queue", "In the queue behind more than %d others; %d are free in all. Its priority is %d.", store.MaxAhead, place.Of, t.d.Priority)
	default:
		t.say(n.Node, "queue", "In the queue at place %d of %d. Its priority is %d.", place.Ahead+1, max(place.Of, place.Ahead+1), t.d.Priority)
	}
}

// before lists the nodes that a pending node waits for: those right before it,
// and for a review what it checks, as far as they are not done.
func (t *teller) before(i int) string {
	gn := t.p.Graph.Nodes[i]
	var open []string
	seen := map[int]bool{}
	for _, prev := range append(append([]int{}, gn.Prev...), gn.Reviews...) {
		status, ok := t.status[t.p.Graph.Nodes[prev].Key]
		if !ok || seen[prev] {
			continue
		}
		seen[prev] = true
		switch status {
		case task.NodeSubmitted, task.NodeFinished, task.NodeNA:
		default:
			open = append(open, fmt.Sprintf("%s (%s)", t.title(prev), status))
		}
	}
	if len(open) == 0 {
		return "what lies before it"
	}
	return strings.Join(open, " and ")
}

// reviewsOf lists the reviews of a subtask that are still open.
func (t *teller) reviewsOf(i int) string {
	var open []string
	for r, gn := range t.p.Graph.Nodes {
		for _, target := range gn.Reviews {
			if status := t.status[gn.Key]; target == i && status != task.NodeFinished && status != task.NodeNA && status != task.NodeSubmitted {
				open = append(open, fmt.Sprintf("%s (%s)", t.title(r), status))
			}
		}
	}
	return strings.Join(open, " and ")
}

func (t *teller) title(i int) string {
	gn := t.p.Graph.Nodes[i]
	if gn.Title != "" {
		return "“" + gn.Title + "”"
	}
	return "“" + gn.Key + "”"
}

// because says why a node waits for an admin.
func (t *teller) because(def pipeline.Node, n store.NodeDetail) string {
	kind := pipeline.EventEscalate
	if n.Status == task.NodeQuarantined {
		kind = pipeline.EventQuarantine
	}
	switch n.Reason {
	case pipeline.ReasonMaxRework:
		return fmt.Sprintf(": it was rejected more often than its limit of %d", def.MaxReworks())
	case pipeline.ReasonNoRoute:
		return ": no edge out of it applies to what was handed in"
	case pipeline.ReasonSLA:
		return fmt.Sprintf(": nobody handed it in within %s", short(time.Duration(def.SLA)))
	case pipeline.ReasonReviewer:
		return " by " + t.reviewer(n.Node)
	case pipeline.ReasonAutomation:
		return ": its LLM fields could not be made"
	case pipeline.ReasonNoTarget:
		return ": it was rejected, but nothing that it checks can be returned"
	case pipeline.ReasonPerson:
		return t.by(kind, n.Node)
	}
	if by := t.by(kind, n.Node); strings.Contains(by, ": ") {
		return by
	}
	return t.by(kind, n.Node) + ": " + n.Reason
}

// reviewer is who escalated with a verdict, and what they said first.
func (t *teller) reviewer(node string) string {
	for _, s := range t.d.Submissions {
		if s.Node != node || s.Verdict != store.VerdictEscalate {
			continue
		}
		by := t.name(&s.Author)
		if len(s.Comments) > 0 && s.Comments[0].Text != "" {
			by += ": " + s.Comments[0].Text
		}
		return by
	}
	return "the reviewer"
}

// by says who did something to a node (or the task) last, when, and why.
func (t *teller) by(kind pipeline.EventKind, node string) string {
	for _, e := range t.d.Events {
		if e.Kind != kind || e.Node != node {
			continue
		}
		at := e.At
		out := fmt.Sprintf(" since %s by %s", clock(&at), t.name(e.Actor))
		if e.Reason != "" && e.Reason != pipeline.ReasonPerson {
			out += ": " + e.Reason
		}
		return out
	}
	return ""
}

func (t *teller) name(id *int64) string {
	if p := t.who.maybe(id); p != nil {
		return p.Name
	}
	return "somebody"
}

// clock writes a time. It is absolute, so that an answer stays the same while
// nothing happens.
func clock(at *time.Time) string {
	if at == nil {
		return "an unknown time"
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// short writes a span without the zeros behind it: 2h, not 2h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func ahead(n int, one, many string) string {
	if n >= store.MaxAhead {
		return fmt.Sprintf("more than %d %s", store.MaxAhead, many)
	}
	return plural(n, one, many)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
