package edge

import (
	"context"
	"sync/atomic"
	"time"
)

// patience is how long a request waits for its turn. A burst is let in as work
// gets done, also what gathers while Postgres is held up for a moment, by a disk that
// brings nothing back or by processors that others need. Once the line has stood for
// longer than that takes, waiting makes everybody late and serves nobody more: in such
// an overload, whoever comes is told soon to come again (controlled delay, as in Maurer,
// "Fail at Scale", ACM Queue 2015). It is over when nobody had to be told so for the
// time of a calm, when nobody had to wait for half of it, or when one in three of those
// who come finds a place at once. Who was told in one moment comes back in one moment,
// and in between there was nothing to do. That the line is empty for a moment does not
// end it: where processors are short, it is empty whenever the process did not run.
//
// Where half of all found no place at once lately, about as much comes as can be
// done, and what gathers behind a stall makes everybody late for long: a line that
// stands for as long as busy is an overload then.
//
// Where nothing at all is done for as long as still, it is no overload: nobody knows how
// much could be done, and what comes in a second or two is done in the next. The line
// begins anew when something is done again. 0 is never, where work takes that long.
//
// Who has waited for late is served after the others in an overload; 0 is never, and
// nobody asks for shares then. Where late is as long as anybody waits, nobody is late, and
// an overload is served by shares.
type patience struct{ burst, standing, still, busy, overload, late, calm time.Duration }

// What is answered in milliseconds waits for milliseconds in an overload; what
// takes a second or more by its nature would be turned away by that with nobody
// else there. On a full machine a creation of 5,000 tasks takes two to three
// seconds, and who is turned away by one sends all of it again. Nor is anybody late who
// waits for such work, for late is their longest wait.
var (
	quickPatience = patience{
		burst: 2 * time.Second, standing: 900 * time.Millisecond, still: 200 * time.Millisecond, busy: 30 * time.Millisecond,
		overload: 10 * time.Millisecond, late: 30 * time.Millisecond, calm: time.Second,
	}
	slowPatience = patience{
		burst: 4 * time.Second, standing: 4 * time.Second, busy: 4 * time.Second,
		overload: 500 * time.Millisecond, late: 4 * time.Second, calm: 2 * time.Second,
	}
)

// longestLine is how many wait at a time at most, but for those who come back. In an
// overload it is overloadLine for each place, of those who are served before who comes.
const (
	longestLine  = 1024
	overloadLine = 4
)

// remembered is how many arrivals for each place the line remembers. It is more
// than one, for after a pause of the process as many as there are places find one
// at once, however many come. Lately are many more, of some seconds in an overload.
const (
	remembered = 4
	lately     = 256
)

// everybody is the whole of line.crowd. There is no overload while fewer than
// crowded wait for a place: eight places, nine tenths of whose time is taken, keep
// as many waiting, for a moment each (Erlang's C). Half of all wait where four
// fifths of the time of eight places are taken.
const (
	everybody = 1 << 20
	crowded   = everybody / 3 * 2
	often     = everybody / 2
)

// line is a number of places and who waits for one.
type line struct {
	places *places
	size   int64
	patience
	now func() time.Time
	// waiting is how many stand in line.
	waiting atomic.Int64
	// began is when this line formed, or went on after a standstill, ended when the last
	// one had nobody left, done when somebody last gave a place back, and vain when
	// somebody was last turned away, in nanoseconds since it was made: no step of the
	// machine's clock is in a span.
	began, ended, done, vain atomic.Int64
	made                     time.Time
	// crowd is how many of the last arrivals found no place at once, of everybody, and
	// latelyCrowd of many more: means that forget by number, not by time. Concurrent
	// arrivals may count in any order, and a little more or less each.
	crowd, latelyCrowd atomic.Int64
}

func newLine(places int, p patience, now func() time.Time) *line {
	l := &line{size: int64(places), patience: p, now: now, made: now()}
	l.places = newPlaces(places, func() time.Duration { return time.Duration(l.age()) }, func() time.Duration {
		if l.overloaded() {
			return p.late
		}
		return 0
	})
	l.vain.Store(-p.calm.Nanoseconds()) // nobody was, not long ago
	return l
}

func (l *line) age() int64 { return l.now().Sub(l.made).Nanoseconds() }

// enter takes a place and reports whether there was one in time.
func (l *line) enter(ctx context.Context, who caller) bool { return l.take(ctx, false, who) }

// reenter is enter for who has had a place and gave it to others while a body was
// read. They are next, and have the patience of a burst at any time: as many come as
// were let in before, and turning them away would waste what was done for them.
func (l *line) reenter(ctx context.Context, who caller) bool { return l.take(ctx, true, who) }

func (l *line) take(ctx context.Context, back bool, who caller) bool {
	if l.places.try() { // fails while others wait, too
		l.remember(0)
		return true
	}
	l.remember(everybody)
	if l.waiting.Load() == 0 { // before it is told that one waits, so that nobody takes the last line's for this one's
		l.form()
	}
	l.waiting.Add(1)
	defer l.dissolve()
	most := l.burst
	if !back && l.overloaded() && !l.places.spares(who) {
		most = l.overload
	}
	inTime, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if l.places.wait(inTime, back, who) {
		return true
	}
	if ctx.Err() == nil { // not someone who left
		l.vain.Store(l.age())
	}
	return false
}

// form begins a line. Where there was none for long, an overload of before is over.
func (l *line) form() {
	now, calm := l.age(), l.calm.Nanoseconds()
	if now-l.ended.Load() > calm/2 {
		l.vain.Store(now - calm)
	}
	l.began.Store(now)
}

// dissolve takes somebody out of the line.
func (l *line) dissolve() {
	if l.waiting.Add(-1) == 0 {
		l.ended.Store(l.age())
	}
}

// remember counts an arrival: 0 of somebody who found a place at once, everybody
// of who did not.
func (l *line) remember(share int64) {
	l.crowd.Add((share - l.crowd.Load()) / (remembered * l.size))
	l.latelyCrowd.Add((share - l.latelyCrowd.Load()) / (lately * l.size))
}

// overloaded reports whether nearly all who come find no place, and there has
// been a line for too long, or somebody was turned away not long ago.
func (l *line) overloaded() bool {
	if l.crowd.Load() < crowded {
		return false
	}
	now := l.age()
	return l.waiting.Load() > 0 && l.stood(now) || now-l.vain.Load() < l.calm.Nanoseconds()
}

// stood reports whether there has been a line for longer than what gathers in a burst,
// or behind a stall, needs.
func (l *line) stood(now int64) bool {
	if l.latelyCrowd.Load() >= often {
		return now-l.began.Load() > l.busy.Nanoseconds()
	}
	return now-l.began.Load() > l.standing.Nanoseconds() && !l.standstill(now-l.done.Load())
}

// standstill reports whether it is one that nothing was done for so long.
func (l *line) standstill(nothing int64) bool { return l.still > 0 && nothing > l.still.Nanoseconds() }

// release gives a place to who is next, or leaves it free.
func (l *line) release() {
	now := l.age()
	if l.standstill(now - l.done.Swap(now)) {
		l.began.Store(now)
	}
	l.places.release()
}

// full reports whether so many wait who are served before somebody new that they have
// no chance. Who asks is turned away by that.
func (l *line) full(who caller) bool {
	waiting, most := l.waiting.Load(), overloadLine*l.size
	full := waiting >= longestLine || waiting >= most && l.overloaded() && int64(l.places.ahead(who)) >= most
	if full {
		l.vain.Store(l.age())
		l.remember(everybody)
	}
	return full
}
