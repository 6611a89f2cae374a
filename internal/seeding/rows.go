// Package seeding turns what callers bring (rows of JSON, CSV, ZIP or another
// pipeline) into the seeded values of new tasks, row by row, with an error for
// each row that cannot become one (spec 4.1). It is pure.
package seeding

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Limits of what one item may report. An item that names hundreds of unknown
// fields would otherwise be answered with more than it sent.
const (
	maxErrors    = 20
	maxFieldName = 200 // characters
	// MaxErrors is how many errors a batch lists, and every failed item one of
	// them: a batch has at most half as many items. Thousands of items that are
	// all wrong in all ways would otherwise be answered with tens of megabytes.
	MaxErrors = 10_000
)

// Item is one element of a creation batch.
type Item struct {
	Fields form.Values
	// Problems are those that the reader of the batch saw, such as a key that
	// is there twice.
	Problems []form.Problem
	// More is how many others it saw and only counted.
	More int
}

// Row is an item that can become a task.
type Row struct {
	// Index is the item's position in the batch, from 0.
	Index int
	Input form.Values
	State pipeline.State
}

// ItemError is one reason why an item cannot become a task (spec section 2).
type ItemError struct {
	Index int `json:"index"`
	// FieldName is empty when the item as a whole is meant.
	FieldName string `json:"field_name"`
	Message   string `json:"message"`
}

// Rows checks a batch against a published pipeline. Rows come in the order of
// the items; errors, MaxErrors at most, are ordered by index, then by field name.
// Rows whose start conditions come out alike share the nodes of their State: read
// only. What one item may take for its patterns and numbers is bounded; budget, from
// Budget, bounds all of them together, unless it is nil.
func Rows(p *pipeline.Pipeline, items []Item, budget *form.Budget) ([]Row, []ItemError) {
	s := newStarter(p, budget)
	rows := make([]Row, 0, len(items))
	var errs []ItemError
	for i, item := range items {
		problems := slices.Concat(item.Problems, p.Seed.CheckSeed(item.Fields, budget.Part()))
		if len(problems) > 0 {
			errs = append(errs, itemErrors(i, problems, item.More, room(len(errs), len(items)-i-1))...)
			continue
		}
		state, err := s.start(item.Fields)
		if err != nil {
			errs = append(errs, ItemError{Index: i, Message: noRoute(err)})
			continue
		}
		rows = append(rows, Row{Index: i, Input: item.Fields, State: state})
	}
	return rows, errs
}

// Budget is what all checks of a batch may take, by its size and its items. Rows of an upload that
// are checked again need none: they were let in within one.
func Budget(items []Item) *form.Budget {
	bytes := 0
	for i := range items {
		for _, raw := range items[i].Fields {
			bytes += len(raw)
		}
	}
	return form.BudgetFor(len(items), bytes)
}

func noRoute(err error) string {
	if errors.Is(err, pipeline.ErrNoEntry) {
		return "no route leads out of the start for these values: the condition of every edge from it is false"
	}
	return err.Error()
}

// room is how many errors an item may list after so many: what MaxErrors leaves
// when each item that is to come may need one. One it always has.
func room(listed, toCome int) int { return max(1, MaxErrors-listed-toCome) }

// itemErrors orders the problems of one item by field name; what concerns the
// item as a whole has none and comes first. more is how many others there were,
// most how many errors there may be, at least 1.
func itemErrors(index int, problems []form.Problem, more, most int) []ItemError {
	slices.SortStableFunc(problems, func(a, b form.Problem) int { return cmp.Compare(a.Field, b.Field) })
	var out []ItemError
	all := len(problems) + more
	switch listed := min(maxErrors, most-1); {
	case all <= min(maxErrors, most):
	case listed == 0: // the one error had better be a problem than their number
		problems = slices.Clone(problems[:1])
		problems[0].Message += fmt.Sprintf(" (%d other problems of this item are not listed)", all-1)
	default:
		out = append(out, ItemError{Index: index, Message: fmt.Sprintf(
			"has %d problems, of which the first %d are listed", all, listed)})
		problems = problems[:min(len(problems), listed)]
	}
	for _, p := range problems {
		message := p.Message
		if p.Path != "" {
			message = "at " + p.Path + ": " + message
		}
		out = append(out, ItemError{Index: index, FieldName: fieldName(p.Field), Message: message})
	}
	return out
}

// fieldName shows a name as it was sent, as far as an answer can repeat it:
// shortened, and without U+0000, which Postgres cannot keep.
func fieldName(name string) string {
	name = strings.ReplaceAll(name, "\x00", "\uFFFD")
	n := 0
	for i := range name {
		if n++; n > maxFieldName {
			return name[:i] + "…"
		}
	}
	return name
}

// starter finds where tasks begin. Few outcomes of the start's conditions
// occur in a batch, most often one: each is worked out once.
type starter struct {
	p       *pipeline.Pipeline
	budget  *form.Budget
	key     string // of the start
	statics form.Values
	known   map[string]pipeline.State
	// conditional is set when an edge out of the start has a condition.
	conditional bool
}

func newStarter(p *pipeline.Pipeline, budget *form.Budget) *starter {
	s := &starter{p: p, budget: budget, key: p.Graph.Nodes[0].Key, statics: p.Statics(), known: make(map[string]pipeline.State)}
	s.conditional = slices.ContainsFunc(p.Definition.Edges, func(e pipeline.Edge) bool {
		return e.From == s.key && e.When != nil
	})
	return s
}

func (s *starter) start(fields form.Values) (pipeline.State, error) {
	var skipped []string
	if s.conditional {
		// Where a task starts must not depend on what is created beside it.
		b := s.budget.Part()
		skipped = s.p.Skipped(s.key, s.with(fields), b)
		if undecided := b.Problems(); len(undecided) > 0 {
			return pipeline.State{}, errors.New(undecided[0].Message)
		}
	}
	outcome := strings.Join(skipped, " ")
	if state, ok := s.known[outcome]; ok {
		return state, nil
	}
	state, err := pipeline.Start(s.p.Graph, skipped)
	if err == nil {
		s.known[outcome] = state
	}
	return state, err
}

// with adds what the form itself fixes, at which conditions may look too.
func (s *starter) with(fields form.Values) form.Values {
	if len(s.statics) == 0 {
		return fields
	}
	all := maps.Clone(s.statics)
	maps.Copy(all, fields)
	return all
}
