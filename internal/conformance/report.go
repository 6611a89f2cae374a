package conformance

import (
	"encoding/json"
	"io"
	"time"
)

// Outcome is what a check came to.
type Outcome string

// A check passes, fails, or is skipped with a reason.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Result is what one check found.
type Result struct {
	ID       string        `json:"id"`
	Section  string        `json:"section"`
	Sentence string        `json:"sentence"`
	Does     string        `json:"does"`
	Outcome  Outcome       `json:"outcome"`
	Reason   string        `json:"reason,omitempty"` // of a skip
	Failure  *Failure      `json:"failure,omitempty"`
	Took     time.Duration `json:"-"`
	TookMS   int64         `json:"took_ms"`
}

// Failure says what was wrong.
type Failure struct {
	Expected string    `json:"expected"`
	Got      string    `json:"got"`
	Exchange *Exchange `json:"exchange,omitempty"`
}

// Exchange is the request and the answer that a failure is about.
type Exchange struct {
	Request   string `json:"request"`
	Status    int    `json:"status"`
	RequestID string `json:"request_id,omitempty"`
	Body      string `json:"body"` // its beginning
}

// Report is what a run found.
type Report struct {
	Target  string        `json:"target"`
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"-"`
	Results []Result      `json:"results"`
}

// Count returns how many checks came to that.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// JSON writes the report for machines.
func (r Report) JSON(w io.Writer) error {
	for i := range r.Results {
		r.Results[i].TookMS = r.Results[i].Took.Milliseconds()
	}
	type plain Report
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		plain
		TookMS  int64 `json:"took_ms"`
		Passed  int   `json:"passed"`
		Failed  int   `json:"failed"`
		Skipped int   `json:"skipped"`
	}{plain(r), r.Took.Milliseconds(), r.Count(Passed), r.Count(Failed), r.Count(Skipped)})
}
