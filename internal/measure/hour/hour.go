// Package hour is how much goes on while everybody is at work: what `make load`
// plays, and what the overload of `make chaos` plays three times as fast.
package hour

import "time"

// Profile is requests a second, and how long people take.
type Profile struct {
	// Tasks are claims of subtasks, each handed in after Handling on average.
	Tasks    float64
	Handling time.Duration
	// Verdicts are claims of reviews, each decided after Reviewing on average.
	Verdicts  float64
	Reviewing time.Duration
	// Extends and Drafts go to what is claimed at the time.
	Extends, Drafts float64
	// Counts are polls of the queues with an entity tag.
	Counts float64
	// Lists and Statuses come from programs that mind their limits, Naive from
	// one that does not.
	Lists, Statuses, Naive float64
	// Explorer are an admin's searches among all tasks.
	Explorer float64
	// Foreign are polls by a program of another organization.
	Foreign float64
}

// Mean is an average hour of 500 contributors, of whom 350 are at work: each
// takes three minutes, renews a lease every minute and, when typing, saves every
// ten seconds; 500 tabs look at the queues every 15 s; 20 programs list every
// 5 s and ask for 100 tasks every 30 s.
var Mean = Profile{
	Tasks: 1.9, Handling: 180 * time.Second, Verdicts: 0.6, Reviewing: 60 * time.Second,
	Extends: 6, Drafts: 10, Counts: 33, Lists: 4, Statuses: 67, Explorer: 0.2, Foreign: 0.2,
}

// Busiest is the hour with three times as much, the peak of docs/load.md.
var Busiest = Profile{
	Tasks: 6, Handling: 58 * time.Second, Verdicts: 2, Reviewing: 20 * time.Second,
	Extends: 8, Drafts: 25, Counts: 50, Lists: 4, Statuses: 200, Naive: 50, Explorer: 1, Foreign: 1,
}
