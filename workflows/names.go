// Package workflows holds the durable executions of the product: small,
// deterministic Temporal workflows that wait for facts and timers, ask the
// pure rooms what follows, and let one idempotent activity write it. They do
// no I/O, read no clock but workflow.Now and know no database.
package workflows

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// TaskQueue is where task runs and their activities are served.
const TaskQueue = "tasks"

// Signals of a task's run. Their order among each other does not matter: every
// event carries its number in the journal.
const (
	ClaimSignal   = "claim"
	ReleaseSignal = "release"
	SubmitSignal  = "submit"
	ReviewSignal  = "review"
	// ControlSignal carries what admins do and what is taken back, and the nudge
	// to read the journal again: an event without a number.
	ControlSignal = "control"
)

// StateQuery answers with a TaskView, for operators.
const StateQuery = "state"

// Search attributes of a task's run, for operators: the product never lists or
// decides by them.
var (
	OrgIDAttribute      = temporal.NewSearchAttributeKeyInt64("OrgId")
	PipelineIDAttribute = temporal.NewSearchAttributeKeyInt64("PipelineId")
	TaskStateAttribute  = temporal.NewSearchAttributeKeyKeyword("TaskState")
)

// Values of TaskStateAttribute. They are coarse on purpose: each change
// rewrites the run's visibility row with all its indexes.
const (
	TaskActive      = "active"
	TaskEscalated   = "escalated"
	TaskQuarantined = "quarantined"
	TaskPaused      = "paused"
)

// TaskID is the workflow id of a task's run.
func TaskID(taskID int64) string { return fmt.Sprintf("task/%d", taskID) }

// SignalFor returns the signal that carries an event.
func SignalFor(kind pipeline.EventKind) string {
	switch kind {
	case pipeline.EventClaim:
		return ClaimSignal
	case pipeline.EventRelease:
		return ReleaseSignal
	case pipeline.EventSubmit:
		return SubmitSignal
	case pipeline.EventReview:
		return ReviewSignal
	case pipeline.EventCreate, pipeline.EventEscalate, pipeline.EventQuarantine, pipeline.EventResolve,
		pipeline.EventHold, pipeline.EventUnhold, pipeline.EventFail, pipeline.EventExpire, pipeline.EventAuto, pipeline.EventUndo:
		return ControlSignal
	}
	return ControlSignal
}

// maxSummary keeps a summary within the 400 bytes that Temporal takes.
const maxSummary = 380

// TaskSummary is the one line that names a task's run in the Temporal UI.
func TaskSummary(taskID, pipelineID int64, pipelineName string) string {
	return short(fmt.Sprintf("task %d · pipeline %d · %s", taskID, pipelineID, strings.Join(strings.Fields(pipelineName), " ")))
}

func short(s string) string {
	if len(s) <= maxSummary {
		return s
	}
	cut := maxSummary
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
