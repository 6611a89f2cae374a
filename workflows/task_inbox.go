package workflows

import (
	"cmp"
	"slices"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// inbox puts events in the order of the journal, whatever order and however
// often they arrive.
type inbox struct {
	// events are waiting, by number and without repeats.
	events []pipeline.Event
	// nudged asks to look at the rows and the journal again.
	nudged bool
}

// add takes one event in. One without a number is a nudge.
func (b *inbox) add(e pipeline.Event) {
	if e.Seq <= 0 {
		b.nudged = true
		return
	}
	at, found := slices.BinarySearchFunc(b.events, e.Seq, func(have pipeline.Event, seq int64) int {
		return cmp.Compare(have.Seq, seq)
	})
	if !found {
		b.events = slices.Insert(b.events, at, e)
	}
}

// ready drops what is already applied and reports whether the event after seq
// is there.
func (b *inbox) ready(seq int64) bool {
	b.events = slices.DeleteFunc(b.events, func(e pipeline.Event) bool { return e.Seq <= seq })
	return len(b.events) > 0 && b.events[0].Seq == seq+1
}

// gap reports whether events are here that wait for others before them. It is
// asked after ready.
func (b *inbox) gap() bool { return len(b.events) > 0 }

// next returns the events that follow seq without a gap.
func (b *inbox) next(seq int64) []pipeline.Event {
	n := 0
	for n < len(b.events) && n < journalPage && b.events[n].Seq == seq+1+int64(n) {
		n++
	}
	return slices.Clone(b.events[:n])
}
