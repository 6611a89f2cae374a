package worker

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// How many tasks are rung in a round. The most lets a lost cluster come back at
// the dispatcher's pace.
const (
	ringsAtFirst = 200
	ringsAtLeast = 10
	ringsAtMost  = 1000
	// ringAgainAfter is when a task that was rung in vain is rung again, and after
	// each further time twice that, up to ringAgainMost: those whom no ring helps
	// must not stand before one that was lost.
	ringAgainAfter = time.Minute
	ringAgainMost  = 16 * time.Minute
)

// ringPace decides how many lagging tasks are rung at a time. Ringing mends what
// was lost and costs a signal and a workflow task each. When tasks lag because
// more is to be done than the machines can do, it mends nothing and takes from
// those what they have: so it doubles while it helps and halves while it does
// not, and who was rung is left alone for a while (as senders in a network do,
// RFC 5681). The zero value is ready to use.
type ringPace struct {
	atOnce int
	rung   map[int64]rung // those who have not moved since
	last   []int64        // those of the last round that rang any
}

// rung is when somebody was rung, and how often in vain before.
type rung struct {
	at   time.Time
	vain int
}

// again is when they may be rung again.
func (r rung) again() time.Time {
	return r.at.Add(min(ringAgainMost, ringAgainAfter<<min(r.vain, 4)))
}

// limit is how many may be rung now.
func (p *ringPace) limit() int {
	if p.atOnce == 0 {
		return ringsAtFirst
	}
	return p.atOnce
}

// known are those who were rung and did not move, to be asked for.
func (p *ringPace) known() []int64 { return slices.Sorted(maps.Keys(p.rung)) }

// pending are those of them who are left alone now: so many that whoever was not rung
// yet has half of the round, however many there are whom no ring helps.
func (p *ringPace) pending(now time.Time) []int64 {
	var due []int64
	out := make([]int64, 0, len(p.rung))
	for id, r := range p.rung {
		if now.Before(r.again()) {
			out = append(out, id)
		} else {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b int64) int {
		return cmp.Or(p.rung[a].at.Compare(p.rung[b].at), cmp.Compare(a, b))
	})
	out = append(out, due[min(len(due), p.limit()/2):]...)
	slices.Sort(out)
	return out
}

// learn is told which of those known nothing has happened to.
func (p *ringPace) learn(stuck []int64) {
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
	maps.DeleteFunc(p.rung, func(id int64, _ rung) bool { return !still[id] })
}

// rang notes who was rung.
func (p *ringPace) rang(ids []int64, now time.Time) {
	if p.rung == nil {
		p.rung = map[int64]rung{}
	}
	p.last = ids
	for _, id := range ids {
		before, again := p.rung[id]
		if again {
			before.vain++
		}
		before.at = now
		p.rung[id] = before
	}
}
