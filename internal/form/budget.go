package form

const (
	// maxCheckSteps bounds what matching the texts of one check against their patterns may take together, counted as
	// maxMatchSteps is: a few seconds at worst. Five texts at their own limit fit, and any list of texts whose pattern
	// has a hundred instructions.
	maxCheckSteps = 5 * maxMatchSteps
	// maxPrograms is how many instructions all patterns of a form, or of a pipeline, may compile to: each is kept, with
	// some forty bytes, for as long as the form is.
	maxPrograms = 100 * maxProgram
	// stepsPerByte is what the values of a request may take together for each byte of them: a pattern of forty
	// instructions matches all that is sent.
	stepsPerByte = 40
)

// Budget is what checks and conditions may still take. What shares one is bounded together, whatever the number of its
// texts, numbers and patterns. It is not safe for concurrent use.
type Budget struct {
	// steps are for matching, grown are bytes that numbers have more when they are stored, program is for compiling.
	steps, grown, program int
	// whole is what this is a part of, if any.
	whole  *Budget
	missed bool
}

// NewBudget is that of one check, or of one form.
func NewBudget() *Budget {
	return &Budget{steps: maxCheckSteps, grown: MaxValueBytes, program: maxPrograms}
}

// BudgetFor is that of all checks of so many bytes of values.
func BudgetFor(bytes int) *Budget {
	b := NewBudget()
	b.steps, b.grown = max(b.steps, stepsPerByte*bytes), max(b.grown, bytes)
	return b
}

// Part is the budget of one check among those that share b: its own, as far as b has that much left. A part of nil is
// bounded by itself alone.
func (b *Budget) Part() *Budget {
	part := NewBudget()
	part.whole = b
	return part
}

// Missed reports whether a condition was taken as false since too little was left to match its text.
func (b *Budget) Missed() bool { return b.missed }

// spend takes steps, unless there are fewer left. Without a budget, nothing is matched.
func (b *Budget) spend(steps int) bool {
	if b == nil || steps > b.steps || b.whole != nil && !b.whole.spend(steps) {
		return false
	}
	b.steps -= steps
	return true
}

// grow takes bytes by which values grow, unless there are fewer left.
func (b *Budget) grow(bytes int) bool {
	if bytes > b.grown || b.whole != nil && !b.whole.grow(bytes) {
		return false
	}
	b.grown -= bytes
	return true
}

// compile takes instructions of a pattern, unless there are fewer left.
func (b *Budget) compile(instructions int) bool {
	if b == nil || instructions > b.program {
		return false
	}
	b.program -= instructions
	return true
}
