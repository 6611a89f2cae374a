package form

// maxCheckSteps bounds what matching the texts of one check against their patterns may take together, counted as
// maxMatchSteps is: a few seconds at worst. Five texts at their own limit fit, and any list of texts whose pattern has a
// hundred instructions.
const maxCheckSteps = 5 * maxMatchSteps

// budget is what one check has left for matching. Every field of it spends from the same.
type budget struct{ steps int }

func newBudget() *budget { return &budget{maxCheckSteps} }

// spend takes steps, unless there are fewer left. Without a budget, nothing is matched.
func (b *budget) spend(steps int) bool {
	if b == nil || steps > b.steps {
		return false
	}
	b.steps -= steps
	return true
}
