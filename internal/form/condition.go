package form

import (
	"encoding/json"
	"slices"
	"strings"
)

// Condition decides whether a field is visible or an edge is taken. It has exactly one of All, Any, Not
// and Field. A leaf compares the value of Field with Value by Op:
//
//	eq ne               equal, not equal; numbers by size, arrays in order, objects by key
//	in nin              equal to one, to none of the elements of Value (an array)
//	contains            a text contains the text Value; an array has an element equal to Value
//	gt gte lt lte       two numbers, two dates or two datetimes; anything else is false
//	empty not_empty     not answered, answered; without Value
//	matches             a text that is not empty matches the RE2 pattern Value as a whole
//
// An absent field, null, "", a text of white space, [] and {} are all equal: empty. Field may be "name.key" to look
// at one key of an object: "preference.choice" of a pairwise, "survey.row_id" of a likert.
type Condition struct {
	All   []Condition     `json:"all,omitempty"`
	Any   []Condition     `json:"any,omitempty"`
	Not   *Condition      `json:"not,omitempty"`
	Field string          `json:"field,omitempty"`
	Op    string          `json:"op,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// The operators of a condition's leaf.
const (
	OpEq       = "eq"
	OpNe       = "ne"
	OpIn       = "in"
	OpNin      = "nin"
	OpContains = "contains"
	OpGt       = "gt"
	OpGte      = "gte"
	OpLt       = "lt"
	OpLte      = "lte"
	OpEmpty    = "empty"
	OpNotEmpty = "not_empty"
	OpMatches  = "matches"
)

var ops = []string{OpEq, OpNe, OpIn, OpNin, OpContains, OpGt, OpGte, OpLt, OpLte, OpEmpty, OpNotEmpty, OpMatches}

// Ops returns every operator.
func Ops() []string { return slices.Clone(ops) }

// Limits of a condition. Problems reports a larger one; Eval takes a part that is nested deeper, or a leaf beyond, as
// false.
const (
	MaxConditionDepth  = 16
	MaxConditionLeaves = 200
)

// Eval decides the condition over the values. It is total: it never panics, whatever the condition and the values
// hold. A condition with several of all, any, not and field needs each of them; one with none of them holds; an
// unknown op, a broken pattern and a value that is not JSON make a leaf false.
func (c Condition) Eval(v Values) bool { return c.Compile().Holds(Know(v, NewBudget())) }

// Compile makes the condition ready for being decided many times. The condition must not be changed afterwards.
func (c Condition) Compile() *CompiledCondition { return c.CompileWithin(NewBudget()) }

// CompileWithin is Compile of a condition that shares a budget with others. What does not fit into it is false.
func (c Condition) CompileWithin(b *Budget) *CompiledCondition {
	return &CompiledCondition{compileCondition(&c, b)}
}

// CompiledCondition is a condition whose values are parsed and whose patterns are compiled. It is immutable and safe for
// concurrent use.
type CompiledCondition struct{ test test }

// Holds decides as Condition.Eval does, over values that several conditions may look at.
func (c *CompiledCondition) Holds(k *Known) bool { return c.test.eval(k.env.field, k.budget) }

// Known are values that several conditions look at: each is parsed once, and what matching takes is bounded for all of
// them together. It is not safe for concurrent use.
type Known struct {
	env    *env
	budget *Budget
}

// Know readies values for conditions that share a budget. One that is over it does not hold, and b has Missed.
func Know(v Values, b *Budget) *Known { return &Known{env: newEnv(v), budget: b} }

// Fields returns the names of the fields that the condition looks at, each once, in order of appearance.
func (c Condition) Fields() []string {
	var names []string
	c.leaves(1, func(leaf *Condition) {
		if name, _, _ := strings.Cut(leaf.Field, "."); !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// leaves visits every leaf that Eval looks at.
func (c *Condition) leaves(depth int, visit func(leaf *Condition)) {
	if depth > MaxConditionDepth {
		return
	}
	for i := range c.All {
		c.All[i].leaves(depth+1, visit)
	}
	for i := range c.Any {
		c.Any[i].leaves(depth+1, visit)
	}
	if c.Not != nil {
		c.Not.leaves(depth+1, visit)
	}
	if c.Field != "" {
		visit(c)
	}
}
