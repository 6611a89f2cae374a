package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// EventKind names what happened to a task: the `kind` of a journal row.
type EventKind string

// Event kinds. Claim to Unhold and Undo come from people, Expire and Auto from
// timers and automation.
const (
	EventCreate     EventKind = "create"
	EventClaim      EventKind = "claim"
	EventRelease    EventKind = "release"
	EventSubmit     EventKind = "submit"
	EventReview     EventKind = "review"
	EventEscalate   EventKind = "escalate"
	EventQuarantine EventKind = "quarantine"
	EventResolve    EventKind = "resolve"
	EventHold       EventKind = "hold"
	EventUnhold     EventKind = "unhold"
	EventFail       EventKind = "fail"
	EventExpire     EventKind = "expire"
	EventAuto       EventKind = "auto"
	// EventUndo takes a submission or a verdict back (docs/adr/0009); Claim is
	// the one under which it was handed in.
	EventUndo EventKind = "undo"
)

// EventKinds lists every kind.
func EventKinds() []EventKind {
	return []EventKind{
		EventCreate, EventClaim, EventRelease, EventSubmit, EventReview, EventEscalate, EventQuarantine,
		EventResolve, EventHold, EventUnhold, EventFail, EventExpire, EventAuto, EventUndo,
	}
}

// Known reports whether this version knows the kind. A newer one may have
// written others; to go on without them would lose what they mean.
func (k EventKind) Known() bool { return slices.Contains(EventKinds(), k) }

// ErrUnknown marks the error for an event of a kind that is not known.
var ErrUnknown = errors.New("which this version does not know; a newer one goes on from there")

// Unknown is that error.
func Unknown(e Event) error {
	return fmt.Errorf("event %d is of kind %q, %w", e.Seq, e.Kind, ErrUnknown)
}

// Outcomes of events: of a review, of a resolve and of an automation.
const (
	Approved = "approved"
	Rejected = "rejected"
	// EscalatedByReviewer is a review's third verdict.
	EscalatedByReviewer = "escalated"

	ResolveRequeue = "requeue"
	ResolveAccept  = "accept"
	ResolveSkip    = "skip"

	AutoDone   = "done"
	AutoFailed = "failed"
)

// Event is one row of a task's journal as the workflow sees it: a fact that
// Postgres has already accepted. It carries ids, numbers and outcomes only.
type Event struct {
	Seq       int64     `json:"seq"`
	Kind      EventKind `json:"kind"`
	Node      string    `json:"node,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	Actor     int64     `json:"actor,omitempty"`
	Claim     string    `json:"claim,omitempty"`
	LeaseEnds time.Time `json:"lease_ends,omitzero"`
	Outcome   string    `json:"outcome,omitempty"`
	// Skipped are the next nodes that the values ruled out.
	Skipped []string `json:"skipped,omitempty"`
	// Returned are the subtasks that a rejection sends back; none means all
	// that the review checks.
	Returned []string `json:"returned,omitempty"`
	// Reason says why, for escalate and quarantine.
	Reason string `json:"reason,omitempty"`
}

// Change is what one event changed in one node beyond the command's own
// write: the row as it must be. Seq is the event's; a row that a later event
// wrote stays as it is.
type Change struct {
	Seq  int64     `json:"seq"`
	Node NodeState `json:"node"`
}
