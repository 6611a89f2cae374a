// Package planted holds the names of bugs that a test build carries on
// purpose, so that the checks which must find them are checked themselves
// (docs/promises.md). Only `go build -tags planted` compiles them in; in every
// other build Enabled is a constant false, and the compiler leaves the code of
// the bugs out.
package planted

// Bug is a bug that a planted build has when TASKLOOM_PLANTED names it.
type Bug string

// The bugs, each the forgetting of one line.
const (
	// ClaimUnlocked leaves FOR UPDATE SKIP LOCKED out of claims.
	ClaimUnlocked Bug = "claim-unlocked"
	// SubmitAnyClaim leaves claim_id out of the submit's compare-and-set: out of the
	// look at the claim under the task's lock. The one before it stays.
	SubmitAnyClaim Bug = "submit-any-claim"
	// StepUnfenced leaves applied_seq out of ApplyStep's compare-and-set.
	StepUnfenced Bug = "step-unfenced"
	// OutboxEarly deletes outbox rows before they are sent.
	OutboxEarly Bug = "outbox-early"
	// DraftUnguarded reads a draft's revision and writes it in two steps.
	DraftUnguarded Bug = "draft-unguarded"
	// TaskAnyOrg forgets org_id where a task is read.
	TaskAnyOrg Bug = "task-any-org"
	// CopyUnasked deletes the copy of a file whose completion was not answered, without
	// asking whether it became the file all the same.
	CopyUnasked Bug = "copy-unasked"
)

// PlanPanics is no bug that a check must find, but poison for one of the faults
// (docs/chaos.md, row 18): what one task's run makes of an event panics.
const PlanPanics Bug = "plan-panics"

// Poisoned tells the tasks that PlanPanics is for: one in a thousand, so that a test
// can have one and many others.
func Poisoned(taskID int64) bool { return taskID%1000 == 7 }

// Bugs lists those that the checks must find.
func Bugs() []Bug {
	return []Bug{ClaimUnlocked, SubmitAnyClaim, StepUnfenced, OutboxEarly, DraftUnguarded, TaskAnyOrg, CopyUnasked}
}
