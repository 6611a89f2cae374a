package store

// What the plan tests look at.
var (
	PageSQL        = pageSQL
	ClaimFreshSQL  = claimFreshSQL
	ClaimLapsedSQL = claimLapsedSQL
	ClaimTail      = claimTail
	TaskOfClaim    = taskOfClaim
)
