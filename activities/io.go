package activities

import (
	"time"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// What the store takes and gives is small enough to be the activities' own
// input and output. It enters histories that live for weeks: a JSON name in it
// is never changed or used for something else.
type (
	// ApplyStepInput are the consequences of the events after From up to To.
	ApplyStepInput = store.StepInput
	// StepResult is where a task stands after a write.
	StepResult = store.StepResult
	// Identity tells tasks of the same number apart.
	Identity = store.Identity
	// Deadline is until when a node may stay as it is.
	Deadline = store.Deadline
)

// TaskRef names the task that an activity works on.
type TaskRef struct {
	TaskID int64 `json:"task_id"`
}

// LoadTaskResult is a task as Postgres holds it. Like everything that enters a
// history it carries ids, numbers and outcomes, never what people wrote.
type LoadTaskResult struct {
	PipelineID   int64  `json:"pipeline_id"`
	PipelineName string `json:"pipeline_name"`
	// Identity goes into every step, where it is held against the task's own.
	Identity Identity       `json:"identity,omitzero"`
	Graph    pipeline.Graph `json:"graph"`
	// State is the task as of the last applied event, State.Seq.
	State pipeline.State `json:"state"`
	// Seq is the last event of the journal.
	Seq int64 `json:"seq"`
	// Holders are who works on the claimed nodes.
	Holders []Holder `json:"holders,omitempty"`
	// Last is the event at State.Seq, but for the first of all.
	Last pipeline.Event `json:"last,omitzero"`
	// Now is the database's clock, where there are deadlines.
	Now time.Time `json:"now,omitzero"`
}

// Holder is who works on a node, under which claim.
type Holder struct {
	Node  string `json:"node"`
	Claim string `json:"claim"`
	User  int64  `json:"user"`
}

// LoadEventsInput asks for a page of a task's journal.
type LoadEventsInput struct {
	TaskID int64 `json:"task_id"`
	After  int64 `json:"after"`
	Limit  int   `json:"limit"`
}

// LoadEventsResult is a page of the journal, in its order.
type LoadEventsResult struct {
	Events []pipeline.Event `json:"events"`
}
