package form

const (
	// maxCheckSteps bounds what matching the texts of one check against their patterns may take together, counted as
	// maxMatchSteps is: a few seconds at worst. Five texts at their own limit fit, and any list of texts whose pattern
	// has ninety instructions.
	maxCheckSteps = 5 * maxMatchSteps
	// maxConditionSteps is the same for the conditions of a form, or of the edges out of a node. It is more, for many may
	// look at one long text.
	maxConditionSteps = 5 * maxCheckSteps
	// maxPrograms is how many instructions all patterns of a form, or of a pipeline, may compile to: each is kept, with
	// some forty bytes, for as long as the form is.
	maxPrograms = 100 * maxProgram
	// stepsPerByte is what the values of a request may take together for each byte of them: a pattern of forty
	// instructions matches all that is sent. stepsPerCheck and grownPerCheck are for many short ones: a thousand
	// characters match a pattern of two hundred, and a hundred numbers grow by forty digits.
	stepsPerByte  = 40
	stepsPerCheck = 200_000
	grownPerCheck = 4096
)

// Budget is what checks and conditions may still take (docs/adr/0015). What shares one is bounded together, whatever the
// number of its texts, numbers and patterns. It is not safe for concurrent use.
type Budget struct {
	left [costs]int
	// whole is what this is a part of, if any.
	whole  *Budget
	missed bool
}

// cost is what a budget is spent for.
type cost int

const (
	// matching the texts of fields, and deciding conditions: instructions times bytes, and what is gone through to compare
	// values (value.weight).
	matching cost = iota
	deciding
	// growing is bytes that numbers have more when they are stored.
	growing
	// compiling is instructions of patterns.
	compiling

	costs = iota
)

// NewBudget is that of one check, or of one form.
func NewBudget() *Budget {
	return &Budget{left: [costs]int{matching: maxCheckSteps, deciding: maxConditionSteps, growing: MaxValueBytes, compiling: maxPrograms}}
}

// BudgetFor is that of so many checks together, of so many bytes of values.
func BudgetFor(checks, bytes int) *Budget {
	b := NewBudget()
	steps := max(stepsPerByte*bytes, stepsPerCheck*checks)
	b.left[matching], b.left[deciding] = max(b.left[matching], steps), max(b.left[deciding], steps)
	b.left[growing] = max(b.left[growing], bytes, grownPerCheck*checks)
	return b
}

// Part is the budget of one check among those that share b: its own, as far as b has that much left. A part of nil is
// bounded by itself alone.
func (b *Budget) Part() *Budget {
	part := NewBudget()
	part.whole = b
	return part
}

// Missed reports whether a condition could not be decided since too little was left to look at its value: whatever
// follows from it is a guess.
func (b *Budget) Missed() bool { return b.missed }

// Problems refuses what a guess would follow from.
func (b *Budget) Problems() []Problem {
	if !b.missed {
		return nil
	}
	return []Problem{{Message: "conditions cannot be decided: all values that they look at are too long together; " +
		"give fewer or shorter ones, or have the patterns and lists in the conditions made simpler"}}
}

// has reports whether so much is left. Without a budget, nothing is.
func (b *Budget) has(n int, of cost) bool {
	return b != nil && n <= b.left[of] && (b.whole == nil || b.whole.has(n, of))
}

// take takes so much, from what this is a part of, too, unless there is less left.
func (b *Budget) take(n int, of cost) bool {
	if !b.has(n, of) {
		return false
	}
	for ; b != nil; b = b.whole {
		b.left[of] -= n
	}
	return true
}

// look takes so much for deciding a condition. When there is less left, the condition is undecided.
func (b *Budget) look(n int) bool {
	if b.take(n, deciding) {
		return true
	}
	b.missed = true
	return false
}
