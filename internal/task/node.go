package task

import "slices"

// NodeStatus is the status of one node of one task (spec section 3).
type NodeStatus string

// Node statuses.
const (
	NodePending     NodeStatus = "pending"
	NodeDeferred    NodeStatus = "deferred"
	NodeAvailable   NodeStatus = "available"
	NodeClaimed     NodeStatus = "claimed"
	NodeSubmitted   NodeStatus = "submitted"
	NodeEscalated   NodeStatus = "escalated"
	NodeQuarantined NodeStatus = "quarantined"
	NodeFinished    NodeStatus = "finished"
	NodeNA          NodeStatus = "na"
)

// NodeStatuses lists every node status in the order of the spec.
func NodeStatuses() []NodeStatus {
	return []NodeStatus{
		NodePending, NodeDeferred, NodeAvailable, NodeClaimed, NodeSubmitted,
		NodeEscalated, NodeQuarantined, NodeFinished, NodeNA,
	}
}

// Settled reports whether the node needs nothing more.
func (s NodeStatus) Settled() bool { return s == NodeFinished || s == NodeNA }

// moves is the node state machine: who may follow whom. A status may always be
// written again as itself. What is finished stays so (docs/adr/0006).
var moves = map[NodeStatus][]NodeStatus{
	NodePending:     {NodeAvailable, NodeDeferred, NodeNA, NodeQuarantined},
	NodeDeferred:    {NodeAvailable, NodeSubmitted, NodeFinished, NodeEscalated, NodeQuarantined, NodePending, NodeNA},
	NodeAvailable:   {NodeClaimed, NodeEscalated, NodeQuarantined, NodePending, NodeNA},
	NodeClaimed:     {NodeAvailable, NodeSubmitted, NodeEscalated, NodeQuarantined, NodePending, NodeNA},
	NodeSubmitted:   {NodeFinished, NodeAvailable, NodeDeferred, NodePending, NodeEscalated, NodeQuarantined, NodeNA},
	NodeEscalated:   {NodeAvailable, NodeDeferred, NodeFinished, NodeSubmitted, NodePending, NodeQuarantined, NodeNA},
	NodeQuarantined: {NodeAvailable, NodeDeferred, NodeFinished, NodeSubmitted, NodePending, NodeNA},
	NodeFinished:    {},
	NodeNA:          {NodePending, NodeDeferred, NodeAvailable, NodeSubmitted},
}

// CanMove reports whether a node may go from s to next.
func (s NodeStatus) CanMove(next NodeStatus) bool {
	return s == next || slices.Contains(moves[s], next)
}

// Summary is the node_summary of a task: how many of its nodes are in each
// bucket (spec section 3). Start, end and `na` nodes are not counted.
type Summary struct {
	Total      int `json:"total"`
	Finished   int `json:"finished"`
	InProgress int `json:"in_progress"`
	Pending    int `json:"pending"`
}

// Summarize counts nodes into the buckets of spec section 3.
func Summarize(nodes []NodeStatus) Summary {
	var s Summary
	for _, n := range nodes {
		switch n {
		case NodeFinished:
			s.Finished++
		case NodeAvailable, NodeClaimed, NodeSubmitted, NodeEscalated, NodeQuarantined:
			s.InProgress++
		case NodePending, NodeDeferred:
			s.Pending++
		case NodeNA:
			continue
		}
		s.Total++
	}
	return s
}
