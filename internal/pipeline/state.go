package pipeline

import (
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/task"
)

// State is where one task stands: what Step reads and writes. It holds ids,
// counters and outcomes, never what people wrote, and can be rebuilt from
// Postgres at any time.
type State struct {
	// Seq is the number of the last event that went in.
	Seq int64 `json:"seq"`
	// StartSkipped are the nodes that the start's conditions ruled out.
	StartSkipped []string `json:"start_skipped,omitempty"`
	Failed       bool     `json:"failed,omitempty"`
	Held         bool     `json:"held,omitempty"`
	Touched      bool     `json:"touched,omitempty"`
	// Nodes stand in the order of Graph.Nodes, without start and end.
	Nodes []NodeState `json:"nodes"`
}

// NodeState is where one node of one task stands.
type NodeState struct {
	Key    string          `json:"key"`
	Status task.NodeStatus `json:"status"`
	// Iteration counts the rounds of the node, from 1.
	Iteration int `json:"iteration"`
	// Claim and LeaseEnds belong to the claim that holds the node.
	Claim     string    `json:"claim,omitempty"`
	LeaseEnds time.Time `json:"lease_ends,omitzero"`
	// SLAEnds is when the node escalates; zero when it has no limit.
	SLAEnds time.Time `json:"sla_ends,omitzero"`
	// Actor is who submitted the node last: it returns to them first.
	Actor int64 `json:"actor,omitempty"`
	// ReservedFor is who alone may claim the node for a while.
	ReservedFor int64 `json:"reserved_for,omitempty"`
	// Skipped are the next nodes that the last submission ruled out.
	Skipped []string `json:"skipped,omitempty"`
	// Passed marks a node that is `na` and yet lets the walk go on: an admin
	// skipped it (Reason is ReasonSkipped), or a review had nothing to check.
	Passed bool `json:"passed,omitempty"`
	// Reworks counts the rejections that a review gave.
	Reworks int `json:"reworks,omitempty"`
	// Reason says why the node is escalated or quarantined, or that an admin
	// skipped it. On a node that is still to open, ReasonAutomation says that
	// its automation must run in this round too, and ReasonPrepared that it is
	// done. On a node that fell away, ReasonHandedIn says that it was handed in
	// and is submitted again, with that, once the task takes its way again;
	// ReasonUnseen, that a review of it was approved since, without it.
	Reason string `json:"reason,omitempty"`
}

// Reasons why a node waits for an admin, or does no more.
const (
	ReasonMaxRework  = "max_rework"
	ReasonNoRoute    = "no_route"
	ReasonSLA        = "sla"
	ReasonReviewer   = "reviewer"
	ReasonAutomation = "automation"
	ReasonPerson     = "person"
	ReasonNoTarget   = "nothing_to_return"
	ReasonSkipped    = "skipped"
	ReasonPrepared   = "prepared"
	ReasonHandedIn   = "handed_in"
	ReasonUnseen     = "handed_in_unseen"
)

// Status returns the stored status of the task.
func (s State) Status() task.Status {
	return task.Derive(s.statuses(), task.Flags{Failed: s.Failed, Held: s.Held, Touched: s.Touched})
}

// Summary returns the node_summary of the task.
func (s State) Summary() task.Summary { return task.Summarize(s.statuses()) }

// Done reports whether nothing is left to do for this task.
func (s State) Done() bool { return s.Status().Terminal() }

// Node returns the state of the node with this key.
func (s State) Node(key string) (NodeState, bool) {
	for _, n := range s.Nodes {
		if n.Key == key {
			return n, true
		}
	}
	return NodeState{}, false
}

func (s State) statuses() []task.NodeStatus {
	out := make([]task.NodeStatus, len(s.Nodes))
	for i, n := range s.Nodes {
		out[i] = n.Status
	}
	return out
}

// same reports whether nothing differs between two states of a node.
func (n NodeState) same(m NodeState) bool {
	return n.Key == m.Key && n.Status == m.Status && n.Iteration == m.Iteration && n.Claim == m.Claim &&
		n.LeaseEnds.Equal(m.LeaseEnds) && n.SLAEnds.Equal(m.SLAEnds) && n.Actor == m.Actor &&
		n.ReservedFor == m.ReservedFor && slices.Equal(n.Skipped, m.Skipped) && n.Passed == m.Passed &&
		n.Reworks == m.Reworks && n.Reason == m.Reason
}

// clone returns a copy that shares nothing that Step writes.
func (s State) clone() State {
	s.Nodes = slices.Clone(s.Nodes)
	return s
}
