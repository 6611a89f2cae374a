// Package task holds the statuses of tasks and of their nodes, the buckets of
// node_summary, and the pure rules that tie them together (spec section 3).
// It does no I/O and reads no clock.
package task

import "slices"

// Status is the status of a task (spec section 3).
type Status string

// Task statuses.
const (
	Pending     Status = "pending"
	InProgress  Status = "in_progress"
	Finished    Status = "finished"
	Failed      Status = "failed"
	Paused      Status = "paused"
	Escalated   Status = "escalated"
	Quarantined Status = "quarantined"
)

// Statuses lists every task status in the order of the spec.
func Statuses() []Status {
	return []Status{Pending, InProgress, Finished, Failed, Paused, Escalated, Quarantined}
}

// Valid reports whether s is a task status of the spec.
func (s Status) Valid() bool { return slices.Contains(Statuses(), s) }

// Terminal reports whether a task of this status will not move again by
// itself.
func (s Status) Terminal() bool { return s == Finished || s == Failed }

// Flags are what people decided about a task as a whole.
type Flags struct {
	// Failed is set by the fail or cancel command.
	Failed bool
	// Held is set by the hold command: nobody can claim, the task is paused.
	Held bool
	// Touched is set once any node was claimed.
	Touched bool
}

// Derive returns the stored status of a task, by the first rule that matches:
// a task that people gave up is failed, one that needs nothing more finished,
// one that an admin must look at quarantined or escalated, one that is held
// paused, one that somebody has worked on in progress, any other pending. The
// pipeline's own pause is not stored: see Effective.
func Derive(nodes []NodeStatus, f Flags) Status {
	if f.Failed {
		return Failed
	}
	settled, escalated, quarantined, touched := true, false, false, f.Touched
	for _, n := range nodes {
		switch n {
		case NodeFinished:
			touched = true
		case NodeNA:
		case NodeQuarantined:
			quarantined, settled = true, false
		case NodeEscalated:
			escalated, settled = true, false
		case NodeClaimed, NodeSubmitted:
			touched, settled = true, false
		case NodePending, NodeDeferred, NodeAvailable:
			settled = false
		}
	}
	switch {
	case settled:
		return Finished
	case quarantined:
		return Quarantined
	case escalated:
		return Escalated
	case f.Held:
		return Paused
	case touched:
		return InProgress
	}
	return Pending
}

// Effective returns the status that callers see: a task that could move is
// paused while its pipeline is PAUSED.
func Effective(stored Status, pipelinePaused bool) Status {
	if pipelinePaused && (stored == Pending || stored == InProgress) {
		return Paused
	}
	return stored
}

// StoredFor returns the stored statuses that show as the effective status
// want, in the order of Statuses; empty when none can.
func StoredFor(want Status, pipelinePaused bool) []Status {
	var out []Status
	for _, s := range Statuses() {
		if Effective(s, pipelinePaused) == want {
			out = append(out, s)
		}
	}
	return out
}
