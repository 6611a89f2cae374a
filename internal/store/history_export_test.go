package store

// Said is what somebody handed in, as answers are merged from it.
type Said = submission

// Round is a submission as a history knows it before it reads what it says.
type Round = round

// What the tests of histories look at.
var (
	Merged     = answers
	Explaining = explaining
)

// OutcomeNow is what became of it, before anybody approved anything.
func (d Done) OutcomeNow() Outcome { return d.outcome(nil, nil) }
