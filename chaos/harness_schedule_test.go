package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// Schedule is a whole random run: its load and its faults. It follows from the
// seed, the duration and the number of people alone.
type Schedule struct {
	Seed   uint64 `json:"seed"`
	Load   Load   `json:"load"`
	Faults []Step `json:"faults"`
}

// Load is what the clients do. Shares are in a hundred.
type Load struct {
	// Contributors and Reviewers are people of each of the two organizations.
	Contributors int `json:"contributors"`
	Reviewers    int `json:"reviewers"`
	// Batch is how many tasks are created at once, while an organization has
	// fewer than Backlog unfinished ones.
	Batch   int `json:"batch"`
	Backlog int `json:"backlog"`
	// ThinkMS is how long a person rests between two pieces of work at most.
	ThinkMS int64 `json:"think_ms"`
	// LeaseSeconds is how long a claim holds: short, so that abandoned ones
	// come back within the run.
	LeaseSeconds int `json:"lease_seconds"`
	// CutShare of all commits lose their connection, half of them before and
	// half after the server has committed: 0.01 is one in a hundred.
	CutShare float64 `json:"cut_share"`
	// LoseShare of all answers never arrive: the caller's connection ends as soon
	// as the request is out.
	LoseShare float64 `json:"lose_share"`

	Release  int `json:"release"`
	Abandon  int `json:"abandon"`
	Extend   int `json:"extend"`
	Late     int `json:"late"` // hands in after the lease ran out
	Draft    int `json:"draft"`
	Tabs     int `json:"tabs"` // saves a draft from two tabs at once
	Reject   int `json:"reject"`
	Escalate int `json:"escalate"`
	Repeat   int `json:"repeat"` // sends an acknowledged call once more

	// These are part of random runs and of row 1 (everything): some rows count what
	// becomes of each act.
	Skip int `json:"skip"` // gives back, not to be served it again for now
	Undo int `json:"undo"` // takes back what was handed in
	// Wrong is how many of a hundred batches are followed by one that is to be refused.
	Wrong int `json:"wrong"`
	// Upload is how many of a hundred answers have a file.
	Upload int `json:"upload"`
	// Of the rounds of admins: one keeps a task from everybody for a while, fails one, ends a claim,
	// escalates a review, resolves what was escalated, publishes the pipeline anew, gives somebody a role for
	// a while, pauses the pipeline for a moment, makes and changes what is in a project of its own.
	Hold    int `json:"hold"`
	Fail    int `json:"fail"`
	PutBack int `json:"put_back"`
	// SetAside is the escalating.
	SetAside int `json:"set_aside"`
	Resolve  int `json:"resolve"`
	Publish  int `json:"publish"`
	Visit    int `json:"visit"`
	Pause    int `json:"pause"`
	Own      int `json:"own"`
}

// DefaultLoad is the load of people times one.
func DefaultLoad(people int) Load {
	return Load{
		Contributors: 4 * people, Reviewers: 2 * people, Batch: 5, Backlog: 20 * people,
		ThinkMS: 100, LeaseSeconds: 4, CutShare: 0.01, LoseShare: 0.01,
		Release: 4, Abandon: 2, Extend: 5, Late: 2, Draft: 25, Tabs: 3, Reject: 8, Escalate: 1, Repeat: 5,
	}
}

// everything makes all that people do part of the load, where admins are, too.
func (l *Load) everything() {
	l.Skip, l.Undo, l.Upload, l.Wrong = 3, 6, 25, 15
	l.Hold, l.Fail, l.PutBack, l.SetAside, l.Resolve, l.Publish, l.Visit, l.Pause, l.Own = 50, 25, 50, 25, 50, 25, 25, 25, 15
}

// Step is one fault of a schedule.
type Step struct {
	// AtMS is the earliest moment, in milliseconds since the load began. A
	// fault waits longer for the traffic floor.
	AtMS int64 `json:"at_ms"`
	// Kind is a name of the table of random faults.
	Kind string `json:"kind"`
	// HoldMS is how long it stays broken before it is healed.
	HoldMS int64 `json:"hold_ms"`
	// Target says which process: a, b or both; "" where there is no choice.
	Target string `json:"target,omitempty"`
	// Count is of how many: connections, runs, commits.
	Count int `json:"count,omitempty"`
	// Seed is for what can only be chosen when it happens: which runs.
	Seed uint64 `json:"seed"`
	// Joined faults do not wait for the one before to heal.
	Joined bool `json:"joined,omitempty"`
	// Calm asks for a full recovery before the next fault.
	Calm bool `json:"calm,omitempty"`
}

// Pace of a schedule: 45 faults in three minutes, 1,800 in two hours.
const (
	faultEvery = 4 * time.Second
	calmEvery  = 20 // faults; more where some are joined
)

// leastInjected is how many of the faults that were planned must have broken
// something: those that found nothing to break prove nothing. Three minutes plan
// 45 and promise 40, longer runs the same share; shorter ones promise no number.
func leastInjected(planned int) int {
	const promised, of = 40, 45
	if planned < promised {
		return 0
	}
	return max(promised, planned*promised/of)
}

// NewSchedule makes the schedule of a seed. The same arguments lead to the same
// schedule, always and everywhere.
func NewSchedule(seed uint64, d time.Duration, people int) Schedule {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	s := Schedule{Seed: seed, Load: DefaultLoad(people)}
	s.Load.everything()
	n := max(1, int(d/faultEvery))
	first := r.Perm(len(randomFaults))
	for i := range n {
		// Every kind once, the rest by chance.
		k := pick(r)
		if i < len(first) {
			k = randomFaults[first[i]]
		}
		s.Faults = append(s.Faults, Step{
			AtMS: int64(i)*faultEvery.Milliseconds() + r.Int64N(faultEvery.Milliseconds()/2),
			Kind: k.name, HoldMS: between(r, k.hold), Target: choose(r, k.targets),
			Count: int(between(r, k.count)), Seed: r.Uint64(),
			Joined: i > 0 && r.IntN(100) < 8,
		})
	}
	since := 0 // the last calm
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.Joined {
			f.AtMS = s.Faults[i-1].AtMS
		}
		since++
		last := i == n-1
		if last || since >= calmEvery && !s.Faults[i+1].Joined {
			f.Calm, since = true, 0
		}
	}
	return s
}

// span is a range, both ends included.
type span struct{ from, to int64 }

func between(r *rand.Rand, s span) int64 { return s.from + r.Int64N(s.to-s.from+1) }

func choose(r *rand.Rand, of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[r.IntN(len(of))]
}

// pick takes a kind by weight.
func pick(r *rand.Rand) randomFault {
	all := 0
	for _, k := range randomFaults {
		all += k.weight
	}
	at := r.IntN(all)
	for _, k := range randomFaults {
		if at -= k.weight; at < 0 {
			return k
		}
	}
	return randomFaults[0] // not reached: at is below the sum
}

// Save writes the schedule as a file that CHAOS_REPLAY takes.
func (s Schedule) Save(path string) error {
	doc, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(doc, '\n'), 0o600)
}

// LoadSchedule reads a file that Save wrote.
func LoadSchedule(path string) (s Schedule, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(doc, &s); err != nil {
		return s, fmt.Errorf("%s is no schedule: %w", path, err)
	}
	for i, f := range s.Faults {
		if _, ok := findFault(f.Kind); !ok {
			return s, fmt.Errorf("%s: fault %d is of the unknown kind %q", path, i+1, f.Kind)
		}
	}
	return s, nil
}
