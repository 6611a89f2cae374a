package store

import "context"

// Invariant is a promise about the data (docs/promises.md), as a question that
// the database can answer while people work.
type Invariant struct {
	// Name is stable: scripts and the tests know it.
	Name string
	// Promise is the number of the promise that it guards: I2.
	Promise string
	// Says is what holds, in one sentence.
	Says string
	// Heal is the command that mends what is broken; Advice is what to do where no
	// command can know what is right. PlaceOfIDs stands in them for the tasks' ids.
	Heal, Advice string
	// Drained says that it holds only when nobody works and nothing is under
	// way.
	Drained bool

	scope scope
	// sql returns (task id or null, words). What it may refer to is said at the
	// scopes.
	sql string
}

// PlaceOfIDs is what the ids of tasks, with commas between them, are to be put in
// place of.
const PlaceOfIDs = "ID"

// scope is what one statement of an invariant looks at.
type scope int

const (
	// ofTasks: the tasks with $1 < id <= $2, and what hangs on them. $3 is how
	// long a task must be untouched before it counts as being at rest.
	ofTasks scope = iota
	// ofUploads: the uploads with $1 < id <= $2 (uuid). $3 as above.
	ofUploads
	// ofWhole: what cannot be divided, because it is a sum or is told by a
	// value of another table. $3 as above, $1 and $2 are not used.
	ofWhole
	// ofPeople: as ofWhole, about people and what they may do. It is left out
	// of CheckInvariants, for tests make people past all doors.
	ofPeople
	// ofJournal is told by folding journals, not by SQL.
	ofJournal
)

// invariants in the order of the promises.
var invariants = concat(claimInvariants, journalInvariants, foldInvariants, uploadInvariants, outboxInvariants, valueInvariants,
	tenantInvariants, auditInvariants)

func concat(lists ...[]Invariant) (all []Invariant) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// InvariantList returns every invariant that Check looks at.
func InvariantList() []Invariant { return append([]Invariant(nil), invariants...) }

// Invariants lists what CheckInvariants looks at, in words.
func Invariants() []string {
	var says []string
	for _, inv := range invariants {
		if inv.scope != ofPeople && inv.scope != ofJournal {
			says = append(says, inv.Says)
		}
	}
	return says
}

// Violation is a broken promise about the data: which one, and where.
type Violation struct {
	// Invariant is its name.
	Invariant string
	// Where says in words, with ids, what is wrong.
	Where string
	// TaskID is the task that it is about, 0 when it is about none.
	TaskID int64
}

// CheckInvariants looks for broken promises in the work that the database
// holds, without blocking anybody; Check says how. drained adds those that hold
// only when all work has come to rest, and lets none of the others wait for it.
// It returns the first violations of each.
func (s *Store) CheckInvariants(ctx context.Context, drained bool) ([]Violation, error) {
	o := CheckOptions{Drained: drained, NoPeople: true, NoJournal: true}
	if drained {
		o.Grace = NoGrace
	}
	findings, err := s.Check(ctx, o)
	var out []Violation
	for _, f := range findings {
		out = append(out, f.Violations...)
	}
	return out, err
}
