package main

import (
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// freeLeast are the tasks that wait to be claimed in a large pipeline, whatever
	// is played: about a third of a day's work, which is 54,720 (1.9 a second).
	freeLeast = 20_000
	// few are those that are claimed, and those that are escalated, before
	// anything begins: one for each contributor.
	few = contributorCount
	// judgedLeast is how long the peak counts at least before an overload, and after
	// an overload or an outage, once that may have no consequences any more: 360
	// claims, so that a p99 is more than the slowest of them.
	judgedLeast = 60 * time.Second
	// afterwards is how long people go on at least after an overload or an outage.
	afterwards = recovering + judgedLeast
)

// warmFor is how long a script runs before it counts.
func (o options) warmFor() time.Duration { return min(30*time.Second, o.dur/6) }

// length is how long people come.
func (o options) length() time.Duration {
	switch o.script {
	case "outage":
		return o.dur*2/3 + max(o.dur/3, afterwards)
	case "stress":
		return o.stressBase() + o.dur*6/10 + o.stressTail()
	default:
		return o.dur
	}
}

// stressBase is how long the peak is before an overload.
func (o options) stressBase() time.Duration { return max(o.dur/5, o.warmFor()+judgedLeast) }

// stressTail is how long the peak is after it: what it takes to recover, and then
// as long as a fifth of the script.
func (o options) stressTail() time.Duration { return recovering + max(o.dur/5, judgedLeast) }

// claims is how many subtasks people claim at most: what is due, a tenth for
// what is drawn, and what everybody takes at the beginning and in a burst.
func (o options) claims() int {
	perSecond := mean.Tasks
	switch o.script {
	case "peak", "outage":
		perSecond = busiest.Tasks
	case "stress":
		perSecond = busiest.Tasks * overloadMean()
	case "day":
		perSecond *= o.compress
	}
	return int(1.1*perSecond*o.scale*o.length().Seconds()) + 2*o.count(contributorCount)
}

// overloadMean is how much there is to do in the script stress, as a multiple of
// the peak, when nothing is refused: two fifths of the time it is the peak, or
// more in a short run, a fifth the first step and a tenth each other one.
func overloadMean() float64 {
	sum := 0.4 + 0.1*overloads[0]
	for _, factor := range overloads {
		sum += 0.1 * factor
	}
	return sum
}

// mix is what the pipeline holds of tasks that are not finished: as many free
// ones as people claim, as far as half of it goes. In an outage none is free,
// since people work on tasks that have runs already.
func (o options) mix() mathcheck.Mix {
	m := mathcheck.Mix{Free: min(max(o.claims(), freeLeast), o.tasks/2), Claimed: min(few, o.tasks/20), Escalated: min(few, o.tasks/20)}
	if o.script == "outage" {
		m.Free = 0
	}
	return m
}
