package pipeline

import (
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/fault"
)

// Statuses of a pipeline (spec section 3).
const (
	StatusDraft             = "DRAFT"
	StatusActive            = "ACTIVE"
	StatusPaused            = "PAUSED"
	StatusCompleted         = "COMPLETED"
	StatusArchived          = "ARCHIVED"
	StatusPendingActivation = "PENDING_ACTIVATION"
)

// Statuses lists every pipeline status in the order of the spec.
func Statuses() []string {
	return []string{
		StatusDraft, StatusActive, StatusPaused, StatusCompleted, StatusArchived, StatusPendingActivation,
	}
}

// AcceptsTasks reports whether tasks may be created in a pipeline of this
// status (spec section 3).
func AcceptsTasks(status string) bool { return status == StatusActive || status == StatusPaused }

// AllowsClaims reports whether people may claim work in a pipeline of this
// status.
func AllowsClaims(status string) bool { return status == StatusActive }

// Verb is what an admin does to a pipeline as a whole.
type Verb string

// The verbs of a pipeline's life.
const (
	VerbPublish   Verb = "publish"
	VerbPause     Verb = "pause"
	VerbResume    Verb = "resume"
	VerbComplete  Verb = "complete"
	VerbReopen    Verb = "reopen"
	VerbArchive   Verb = "archive"
	VerbUnarchive Verb = "unarchive"
)

// Verbs lists every verb.
func Verbs() []Verb {
	return []Verb{VerbPublish, VerbPause, VerbResume, VerbComplete, VerbReopen, VerbArchive, VerbUnarchive}
}

// life is what each verb does: from status to status. PENDING_ACTIVATION is
// left by the preparation itself, never by a verb.
var life = map[Verb][]struct{ from, to string }{
	VerbPublish: {
		{StatusDraft, StatusActive},
		{StatusActive, StatusActive}, // a new version
		{StatusPaused, StatusPaused},
	},
	VerbPause:     {{StatusActive, StatusPaused}},
	VerbResume:    {{StatusPaused, StatusActive}},
	VerbComplete:  {{StatusActive, StatusCompleted}, {StatusPaused, StatusCompleted}},
	VerbReopen:    {{StatusCompleted, StatusActive}},
	VerbArchive:   {{StatusDraft, StatusArchived}, {StatusPaused, StatusArchived}, {StatusCompleted, StatusArchived}},
	VerbUnarchive: {{StatusArchived, StatusPaused}},
}

// NextStatus returns the status that the verb leads to. published says whether
// the pipeline has a version: one that never had any leaves the archive as a
// draft again. A verb that does not work now is a fault.Conflict that names
// the statuses it works from.
func NextStatus(status string, published bool, v Verb) (string, error) {
	moves, ok := life[v]
	if !ok {
		return "", fault.New(fault.InvalidRequest, "%q is nothing that can be done to a pipeline; choose one of %s",
			truncate(string(v)), join(Verbs()))
	}
	var from []string
	for _, m := range moves {
		if m.from == status {
			if v == VerbUnarchive && !published {
				return StatusDraft, nil
			}
			return m.to, nil
		}
		from = append(from, m.from)
	}
	return "", fault.New(fault.Conflict, "the pipeline is %s; %s works only while it is %s",
		truncate(status), v, strings.Join(from, " or "))
}

// PathTo returns the shortest list of verbs that leads from a status to the
// target, empty when it is there already; false when none does.
func PathTo(status string, published bool, target string) ([]Verb, bool) {
	type place struct {
		status    string
		published bool
		verbs     []Verb
	}
	var seen []string
	for queue := []place{{status, published, nil}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.status == target {
			return at.verbs, true
		}
		if slices.Contains(seen, at.status) {
			continue
		}
		seen = append(seen, at.status)
		for _, v := range Verbs() {
			next, err := NextStatus(at.status, at.published, v)
			if err == nil {
				verbs := append(slices.Clone(at.verbs), v)
				queue = append(queue, place{next, at.published || v == VerbPublish, verbs})
			}
		}
	}
	return nil, false
}

// join lists words for a message: "a, b, c".
func join[S ~string](words []S) string {
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	return strings.Join(plain, ", ")
}
