package worker

import (
	"slices"
	"time"
)

// How many tasks are rung in a round. The most lets a lost cluster come back at
// the dispatcher's pace.
const (
	ringsAtFirst = 200
	ringsAtLeast = 10
	ringsAtMost  = 1000
	// ringAgainAfter is when a task that was rung in vain is rung again.
	ringAgainAfter = time.Minute
)

// ringPace decides how many lagging tasks are rung at a time. Ringing mends what
// was lost and costs a signal and a workflow task each. When tasks lag because
// more is to be done than the machines can do, it mends nothing and takes from
// those what they have: so it doubles while it helps and halves while it does
// not, and who was rung is left alone for a while (as senders in a network do,
// RFC 5681). The zero value is ready to use.
type ringPace struct {
	atOnce  int
	waiting map[int64]time.Time // when they were rung
	last    []int64             // those of the last round that rang any
}

// limit is how many may be rung now.
func (p *ringPace) limit() int {
	if p.atOnce == 0 {
		return ringsAtFirst
	}
	return p.atOnce
}

// pending are those who were rung lately, to be asked for and left alone.
func (p *ringPace) pending() []int64 {
	out := make([]int64, 0, len(p.waiting))
	for id := range p.waiting {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// learn is told which of those pending nothing has happened to.
func (p *ringPace) learn(stuck []int64, now time.Time) {
	still := make(map[int64]bool, len(stuck))
	for _, id := range stuck {
		still[id] = true
	}
	if len(p.last) > 0 {
		vain := 0
		for _, id := range p.last {
			if still[id] {
				vain++
			}
		}
		if 2*vain > len(p.last) {
			p.atOnce = max(p.limit()/2, ringsAtLeast)
		} else {
			p.atOnce = min(p.limit()*2, ringsAtMost)
		}
		p.last = nil
	}
	for id, at := range p.waiting {
		if now.Sub(at) >= ringAgainAfter || !still[id] {
			delete(p.waiting, id)
		}
	}
}

// rang notes who was rung.
func (p *ringPace) rang(ids []int64, now time.Time) {
	if p.waiting == nil {
		p.waiting = map[int64]time.Time{}
	}
	p.last = ids
	for _, id := range ids {
		p.waiting[id] = now
	}
}
