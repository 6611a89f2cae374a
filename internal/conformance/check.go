package conformance

// Check proves one sentence of the contract.
type Check struct {
	// ID begins with the section and is stable: reports are compared by it.
	ID string
	// Section is a section of the contract, or additions.
	Section string
	// Sentence is what it proves, in the contract's words.
	Sentence string
	// Does says how.
	Does string

	needs []need
	// heavy checks send the largest bodies, or very many requests.
	heavy bool
	run   func(c *C)
}

// additions is the section of what Taskloom promises beyond the contract, in
// docs/external-api.md.
const additions = "additions"

// sections names the sections in the order of the report.
var sections = []struct{ id, title string }{
	{"2", "Resources and their fields"},
	{"3", "States and transitions"},
	{"4", "Endpoints"},
	{"4.1", "Create tasks from JSON"},
	{"4.2", "Create tasks with files (ZIP upload)"},
	{"4.3", "List tasks"},
	{"4.4", "Single task status"},
	{"5", "Authentication"},
	{"7", "Errors"},
	{"8", "Limits"},
	{"9", "Versioning and documentation"},
	{additions, "Taskloom's own promises"},
}

// Checks returns every check in the order in which they run. Those that look
// back at the answers of the whole run come late, those that exhaust a rate
// limit last.
func Checks() []Check {
	var all []Check
	for _, part := range [][]Check{
		resourceChecks(), stateChecks(), endpointChecks(),
		createChecks(), uploadInitChecks(), uploadConfirmChecks(), uploadResultChecks(),
		listChecks(), taskChecks(), authChecks(), errorChecks(), limitChecks(), documentChecks(),
		requestChecks(), idempotencyChecks(), headerChecks(),
		hindsightChecks(), exhaustingChecks(),
	} {
		all = append(all, part...)
	}
	return all
}
