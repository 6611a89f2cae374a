package chaos

import (
	"slices"
	"time"
)

// Where the database has a clock of its own (Settings.Clock), what it wrote is
// compared by that clock with what clients saw. All of it is nothing where the
// database has the machine's.

// onDatabase is a moment of the machine's clock by the database's.
func (r *Run) onDatabase(moment time.Time) time.Time {
	if r.settings.Clock == nil {
		return moment
	}
	earliest, _ := r.settings.Clock.At(moment)
	return earliest
}

// latestOnDatabase is the same, as late as it can have been.
func (r *Run) latestOnDatabase(moment time.Time) time.Time {
	if r.settings.Clock == nil {
		return moment
	}
	_, latest := r.settings.Clock.At(moment)
	return latest
}

// local is a moment of the database's clock by the machine's, if the former is
// not moved any more.
func (r *Run) local(moment time.Time) time.Time {
	if r.settings.Clock == nil {
		return moment
	}
	return moment.Add(-r.settings.Clock.By())
}

// onDatabasesClock puts the calls to when they began and ended by the
// database's clock. Their order is the same while that clock only jumps
// forward; a call during which it jumped has taken that long.
func (r *Run) onDatabasesClock(ops []Op) []Op {
	if r.settings.Clock == nil {
		return ops
	}
	out := slices.Clone(ops)
	for i := range out {
		call, _ := r.settings.Clock.At(time.Unix(0, out[i].Call))
		_, answer := r.settings.Clock.At(time.Unix(0, out[i].Return))
		out[i].Call, out[i].Return = call.UnixNano(), answer.UnixNano()
	}
	return out
}
