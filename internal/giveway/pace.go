// Package giveway paces what nobody waits for by how long people wait for what
// somebody does.
package giveway

import "time"

// Every is how often a pace learns while there is work.
const Every = 500 * time.Millisecond

// Pace is how much is done at a time, or a second. It halves while people wait
// for too long, and grows by one while they do not, as senders do in a network
// (RFC 5681), or otherwise (Falling, Rising). It is for one goroutine at a time.
type Pace struct {
	least, most, now float64
	fall             float64
	step, share      float64
	within           time.Duration
	learned          time.Time
}

// New makes a Pace between least, or most if that is less, and most, where it
// begins. People wait for too long when it is longer than within.
func New(least, most float64, within time.Duration) *Pace {
	return &Pace{least: min(least, most), most: most, now: most, fall: 0.5, step: 1, within: within}
}

// Rising makes the pace grow by step, or by a share of itself where that is more:
// by little where each of a few too many makes people wait, by a large share where
// a few too many do no harm.
func (p *Pace) Rising(step, share float64) *Pace {
	p.step, p.share = step, share
	return p
}

// Falling makes the pace fall to a share of itself, not to half, while people wait
// for too long. Where it grows by a share of itself, it is between two falls, on
// average, 0.72 of the highest when it halves, and 0.42 when it falls to an eighth:
// (1-a)/ln(1/a).
func (p *Pace) Falling(share float64) *Pace {
	p.fall = share
	return p
}

// From makes the pace begin at n instead of at most, where as much as that at once
// would make people wait before it is known that they do.
func (p *Pace) From(n float64) *Pace {
	p.now = min(max(p.least, n), p.most)
	return p
}

// Now is the pace.
func (p *Pace) Now() float64 { return p.now }

// Due reports whether it is time to learn.
func (p *Pace) Due() bool { return time.Since(p.learned) >= Every }

// Asked notes that somebody is finding out how long people wait: nobody else is
// due to for a while, also when the answer does not come.
func (p *Pace) Asked() { p.learned = time.Now() }

// Learn is told how long people wait now, and returns the new pace.
func (p *Pace) Learn(behind time.Duration) float64 {
	p.learned = time.Now()
	if behind > p.within {
		p.now = max(p.least, p.fall*p.now)
	} else {
		p.now = min(p.most, p.now+max(p.step, p.share*p.now))
	}
	return p.now
}
