// Package pipeline holds the graph of a pipeline and the rules that walk it:
// the definition as a document (docs/apply.md), its validation at publish,
// and Start and Step, the pure functions that decide what opens next. It does
// no I/O, reads no clock and knows no Temporal: the workflow calls it, the
// activities apply what comes out.
package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
)

// Kind is what a node does.
type Kind string

// Node kinds.
const (
	KindStart   Kind = "start"
	KindSubtask Kind = "subtask"
	KindReview  Kind = "review"
	KindEnd     Kind = "end"
)

// Runs says when a task gets its workflow run.
type Runs string

// When runs begin.
const (
	RunsAtCreation   Runs = "at_creation"
	RunsOnFirstClaim Runs = "on_first_claim"
)

// Limits and defaults of a node.
const (
	DefaultLease     = 30 * time.Minute
	MinLease         = time.Minute
	MaxLease         = 24 * time.Hour
	DefaultMaxRework = 3
	// DefaultReserve is how long a returned node waits for the person who
	// worked on it before anybody may claim it.
	DefaultReserve = 4 * time.Hour
)

// Definition is a pipeline as its admin drew it: the same document in the
// builder, in `taskloom apply` and in Postgres.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Runs        Runs   `json:"runs,omitempty"`
	Nodes       []Node `json:"nodes"`
	Edges       []Edge `json:"edges"`
}

// Node is one step of a pipeline.
type Node struct {
	Key   string `json:"key"`
	Kind  Kind   `json:"kind"`
	Title string `json:"title,omitempty"`
	// Instructions are Markdown for whoever works on the node.
	Instructions string `json:"instructions,omitempty"`
	// Lease is how long a claim holds; 0 means DefaultLease.
	Lease Duration `json:"lease,omitempty"`
	// SLA escalates the node when it was not submitted within this time of
	// becoming available; 0 means no limit.
	SLA Duration `json:"sla,omitempty"`
	// Reserve is how long a returned node waits for the same person; 0 means
	// DefaultReserve.
	Reserve Duration `json:"reserve,omitempty"`

	// Fields are the form of a subtask.
	Fields []form.Field `json:"fields,omitempty"`

	// Reviews are the subtasks that a review checks, with the fields.
	Reviews []Target `json:"reviews,omitempty"`
	// MaxRework is how many rejections a review may give before it escalates
	// to the project's admins; nil means DefaultMaxRework.
	MaxRework *int `json:"max_rework,omitempty"`
	// FourEyes keeps people from reviewing what they submitted themselves.
	FourEyes bool `json:"four_eyes,omitempty"`
}

// Target is what a review checks: fields of one upstream subtask. No fields
// means all that contributors fill in.
type Target struct {
	Node   string   `json:"node"`
	Fields []string `json:"fields,omitempty"`
}

// Edge leads from one node to the next; When may forbid it.
type Edge struct {
	From string          `json:"from"`
	To   string          `json:"to"`
	When *form.Condition `json:"when,omitempty"`
}

// LeaseFor returns the time that a claim on the node holds.
func (n Node) LeaseFor() time.Duration { return n.Lease.or(DefaultLease) }

// ReserveFor returns the time that a returned node waits for the same person.
func (n Node) ReserveFor() time.Duration { return n.Reserve.or(DefaultReserve) }

// MaxReworks returns how many rejections the review may give.
func (n Node) MaxReworks() int {
	if n.MaxRework == nil {
		return DefaultMaxRework
	}
	return *n.MaxRework
}

// Automated reports whether the node must be prepared by an LLM before a
// person can claim it.
func (n Node) Automated() bool {
	for _, f := range n.Fields {
		if f.Input == form.LLM {
			return true
		}
	}
	return false
}

// Human reports whether a person has anything to fill in.
func (n Node) Human() bool {
	if n.Kind == KindReview {
		return true
	}
	for _, f := range n.Fields {
		if f.Input == form.Contributor {
			return true
		}
	}
	return false
}

// Duration is a time span written as Go does: "30m", "1h30m".
type Duration time.Duration

func (d Duration) or(fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return time.Duration(d)
}

// MarshalJSON writes the span as a string.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads a string such as "30m".
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a time span is a string such as \"30m\", not %s", truncate(string(b)))
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is no time span; write it as \"30m\" or \"2h\"", truncate(s))
	}
	*d = Duration(v)
	return nil
}

// Parse reads a definition from JSON, refusing unknown keys, which those in
// another case are, too. It checks the document's shape only; Validate checks
// its sense.
func Parse(doc []byte) (Definition, error) {
	d, err := Stored(doc)
	if err == nil {
		err = exactKeys(doc)
	}
	if err != nil {
		return Definition{}, err
	}
	return d, nil
}

// Stored is Parse for what was accepted before, perhaps by a release that took keys in
// another case: what is published stays readable.
func Stored(doc []byte) (Definition, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	var d Definition
	if err := dec.Decode(&d); err != nil {
		return Definition{}, errors.New(fault.JSON(err)) // callers pass it on
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Definition{}, errors.New("the definition is followed by more data")
	}
	return d, nil
}

func truncate(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Microseconds returns the span in the unit that the database computes with.
func (d Duration) Microseconds() int64 { return time.Duration(d).Microseconds() }
