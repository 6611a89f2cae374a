// Package slo is what the product promises of its speed, as data, and whether
// a run kept it.
package slo

import (
	"fmt"
	"slices"
	"time"
)

// Objective is one promise. It is about a time that a share of all requests
// stay within (Percent), or about a number that stays within Most and Least.
type Objective struct {
	// Name says which one: "claim, p99".
	Name string
	// SLI is what it is measured by: an operation of the recorder, or the name of
	// a number.
	SLI string
	// Percent and Limit: so many percent stay within this time.
	Percent float64
	Limit   time.Duration
	// Number says that the SLI is a number, within Most or at least Least.
	Number      bool
	Most, Least float64
	Unit        string
	// Firm times are no matter of the machine: the gate does not loosen them, nor
	// any number.
	Firm bool
}

// The SLIs that are numbers.
const (
	Availability = "availability"               // share of calls, of all but another organization's
	WorkAvail    = "availability of work"       // share of calls, of claim, submit, poll and create
	Refused      = "refused"                    // share of calls, below an overload
	TooLate      = "came too late"              // share of calls about one's own work, below an overload
	LeftOut      = "left out"                   // share of what was due, of the kind that has most, below an overload
	Unchanged    = "unchanged polls"            // share of 304, where the caller did nothing since
	NotModified  = "polls not modified"         // share of 304, of all by the clock
	LostWrites   = "lost acked writes"          // count
	LostDrafts   = "lost acked drafts"          // count
	DoubleClaims = "double claims"              // count
	Duplicates   = "tasks too many"             // count
	Foreign      = "foreign reads"              // count, across organizations
	IngestRate   = "files ingested"             // per second
	WalkRate     = "tasks walked over a second" // of the slowest walk
	Admitted     = "admitted inside SLO"        // share of the admitted, at overload
	Recovery     = "recovery"                   // seconds from heal or end of overload
	DeadWorker   = "dead worker"                // seconds until its work went on
	CreateGrowth = "creation by size"           // ratio, of the most tasks to the fewest
	Memory       = "memory of a process"        // MB, the most
)

// Lateness is the operation that stands for the program that measures: by how
// much its own requests begin late.
const Lateness = "start"

// Table is what is promised: for 4 vCPU for the product and 4 for Postgres,
// 1,000,000 tasks in the pipeline, at the peak.
var Table = []Objective{
	{Name: "claim the next task, p50", SLI: "claim", Percent: 50, Limit: 10 * time.Millisecond},
	{Name: "claim the next task, p99", SLI: "claim", Percent: 99, Limit: 100 * time.Millisecond},
	{Name: "claim a review, p50", SLI: "claim-review", Percent: 50, Limit: 10 * time.Millisecond},
	{Name: "claim a review, p99", SLI: "claim-review", Percent: 99, Limit: 100 * time.Millisecond},
	{Name: "claim from an empty queue, p99", SLI: "claim-empty", Percent: 99, Limit: 100 * time.Millisecond},
	{Name: "hand in a subtask, p50", SLI: "submit", Percent: 50, Limit: 25 * time.Millisecond},
	{Name: "hand in a subtask, p99", SLI: "submit", Percent: 99, Limit: 200 * time.Millisecond},
	{Name: "hand in a subtask of 32 KB, p99", SLI: "submit-32kb", Percent: 99, Limit: 200 * time.Millisecond},
	{Name: "give a verdict, p50", SLI: "verdict", Percent: 50, Limit: 25 * time.Millisecond},
	{Name: "give a verdict, p99", SLI: "verdict", Percent: 99, Limit: 200 * time.Millisecond},
	{Name: "give a verdict of 32 KB, p99", SLI: "verdict-32kb", Percent: 99, Limit: 200 * time.Millisecond},
	{Name: "save a draft, p99", SLI: "draft", Percent: 99, Limit: 150 * time.Millisecond},
	{Name: "create 5,000 tasks (3 MB), p99", SLI: "create-5000", Percent: 99, Limit: 2 * time.Second},
	{Name: "create 5,000 tasks (32 MB), p99", SLI: "create-32mb", Percent: 99, Limit: 5 * time.Second},
	{Name: "create 5,000 beside the most tasks, to the fewest", SLI: CreateGrowth, Number: true, Most: 1.2, Unit: "x"},
	{Name: "status of a task, p99", SLI: "status", Percent: 99, Limit: 30 * time.Millisecond},
	{Name: "list of 200 tasks, p99", SLI: "list", Percent: 99, Limit: 50 * time.Millisecond},
	{Name: "submit to next node claimable, p95", SLI: "step", Percent: 95, Limit: 500 * time.Millisecond},
	{Name: "submit to next node claimable, p99", SLI: "step", Percent: 99, Limit: 2 * time.Second},
	{Name: "confirm to first row", SLI: "first-row", Percent: 99, Limit: 5 * time.Second},
	{Name: "ingestion", SLI: IngestRate, Number: true, Least: 300, Unit: "files/s"},
	{Name: "walk over 200,000 tasks, page by page", SLI: WalkRate, Number: true, Least: 10_000, Unit: "tasks/s"},
	{Name: "availability of all calls", SLI: Availability, Number: true, Least: 99.9, Unit: "%"},
	{Name: "availability of claim, submit, poll and create", SLI: WorkAvail, Number: true, Least: 99.9, Unit: "%"},
	{Name: "refused, below an overload", SLI: Refused, Number: true, Most: 0.1, Unit: "%"},
	{Name: "came too late (404, 409), below an overload", SLI: TooLate, Number: true, Most: 0.1, Unit: "%"},
	{Name: "left out, nobody was free", SLI: LeftOut, Number: true, Most: 1, Unit: "%"},
	{Name: "polls of the queues that are 304", SLI: NotModified, Number: true, Least: 90, Unit: "%"},
	{Name: "polls of unchanged queues that are 304", SLI: Unchanged, Number: true, Least: 90, Unit: "%"},
	{Name: "acked writes lost", SLI: LostWrites, Number: true},
	{Name: "acked drafts lost", SLI: LostDrafts, Number: true},
	{Name: "nodes with two claims at a time", SLI: DoubleClaims, Number: true},
	{Name: "tasks that nobody asked for", SLI: Duplicates, Number: true},
	{Name: "reads across organizations", SLI: Foreign, Number: true},
	{Name: "work of a dead worker goes on", SLI: DeadWorker, Number: true, Most: 15, Unit: "s"},
	{Name: "back inside all objectives after", SLI: Recovery, Number: true, Most: 60, Unit: "s"},
	{Name: "at overload: admitted, inside", SLI: Admitted, Number: true, Least: 95, Unit: "%"},
	{Name: "at overload: refusal, p99", SLI: "refusal", Percent: 99, Limit: 50 * time.Millisecond},
	{Name: "memory of a process", SLI: Memory, Number: true, Most: 1000, Unit: "MB"},
	{Name: "this program late, p99", SLI: Lateness, Percent: 99, Limit: 20 * time.Millisecond, Firm: true},
}

// Unmeasured are promises whose subject the product does not have yet, and what
// belongs to a day and is not played.
var Unmeasured = []string{
	"an export in one answer: there is none yet, a walk over as many pages is", "LLM nodes: there are none yet",
	"an archive of 5 GB: not played",
}

// Get finds an objective by its SLI and percent; 0 for numbers.
func Get(sli string, percent float64) (Objective, bool) {
	i := slices.IndexFunc(Table, func(o Objective) bool { return o.SLI == sli && o.Percent == percent })
	if i < 0 {
		return Objective{}, false
	}
	return Table[i], true
}

// Gate is what counts on a machine that is by this factor slower than the
// reference: times grow, and nothing else.
func (o Objective) Gate(factor float64) Objective {
	if !o.Firm {
		o.Limit = time.Duration(float64(o.Limit) * factor)
	}
	return o
}

// String is the bound: "≤ 100ms".
func (o Objective) String() string {
	switch {
	case !o.Number:
		return "≤ " + o.Limit.String()
	case o.Least > 0:
		return fmt.Sprintf("≥ %g%s", o.Least, space(o.Unit))
	default:
		return fmt.Sprintf("≤ %g%s", o.Most, space(o.Unit))
	}
}

func space(unit string) string {
	if unit == "" || unit == "%" {
		return unit
	}
	return " " + unit
}
