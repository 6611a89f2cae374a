package chaos

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a worker says when its breaker moves, and when it begins with a new one,
// which is closed.
const (
	breakerMoved  = "The dispatcher's breaker moved."
	breakerIsNew  = "The worker serves."
	breakerClosed = "closed"
	breakerHalf   = "half-open"
	breakerOpen   = "open"
)

// breakerMove is one of those lines.
type breakerMove struct {
	At   time.Time `json:"time"`
	Msg  string    `json:"msg"`
	From string    `json:"from"`
	To   string    `json:"to"`
}

// breakerMoves are those that a worker's log tells of.
func breakerMoves(log string) (moves []breakerMove, err error) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, breakerMoved) && !strings.Contains(line, breakerIsNew) {
			continue
		}
		var m breakerMove
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, fmt.Errorf("read %.200q of a worker's log: %w", line, err)
		}
		if m.Msg == breakerIsNew {
			m.To = breakerClosed
		}
		moves = append(moves, m)
	}
	return moves, nil
}

// breakerStory is what a breaker did in an outage and up to the deadline after
// it.
type breakerStory struct {
	// opened counts how often it left closed during the outage, again after it.
	opened, again int
	// tries count how often it let a call through to see, once the outage was healed;
	// failed and closed how tries ended then, one that was under way before among them.
	tries, failed, closed int
	last                  string // where it stood then, "" when it never moved
}

func storyOf(moves []breakerMove, began, healed, until time.Time) (s breakerStory) {
	for _, m := range moves {
		if m.At.Before(began) || m.At.After(until) {
			continue
		}
		s.last = m.To
		after := m.At.After(healed)
		switch {
		case m.From == breakerClosed && after:
			s.again++
		case m.From == breakerClosed:
			s.opened++
		case m.To == breakerHalf && after:
			s.tries++
		case m.From == breakerHalf && m.To == breakerOpen && after:
			s.failed++
		case m.From == breakerHalf && m.To == breakerClosed && after:
			s.closed++
		}
	}
	return s
}

// breakersMove looks at each worker's breaker in each outage and after it. While
// no call comes through it opens once: the tries that it makes every two seconds
// fail, and what closes it is one that does not: the first one after the outage, or
// one that was under way when that ended. One that had opened is closed within the
// deadline. What else it does is told: how often it opens where some calls come
// through.
func (a *temporalAway) breakersMove(r *Run) error {
	opened := make([]int, len(a.outages))
	for i, p := range r.Workers {
		moves, err := breakerMoves(p.Log())
		if err != nil {
			return err
		}
		for j, o := range a.outages {
			until := o.healed.Add(recoverWithin)
			if j+1 < len(a.outages) && a.outages[j+1].began.Before(until) {
				until = a.outages[j+1].began
			}
			s := storyOf(moves, o.began, o.healed, until)
			opened[j] += s.opened
			r.Logf("%s: the breaker of worker %d opened %d times; after it, it tried %d times, %d tries failed, %d closed it, and it opened %d times again",
				o.name, i, s.opened, s.tries, s.failed, s.closed, s.again)
			if o.gone && s.opened > 1 {
				r.Violate("I10: the breaker of worker %d opened %d times during %s: something closed it while no call came through", i, s.opened, o.name)
			}
			if o.gone && s.tries > 1 {
				r.Violate("I10: the breaker of worker %d tried %d times after %s until it stayed closed", i, s.tries, o.name)
			}
			if s.last != "" && s.last != breakerClosed {
				r.Violate("I10: the breaker of worker %d is %s %s after %s was healed", i, s.last, until.Sub(o.healed).Round(time.Second), o.name)
			}
		}
	}
	for j, o := range a.outages {
		if o.gone && opened[j] == 0 {
			return fmt.Errorf("%s opened the breaker of no worker: this proves nothing", o.name)
		}
	}
	return nil
}

// TestRow04BreakerIsRead reads a log as a worker writes it.
func TestRow04BreakerIsRead(t *testing.T) {
	t.Parallel()
	line := func(second int, from, to string) string {
		return fmt.Sprintf(`{"time":"2026-11-22T06:20:%02dZ","level":"WARN","msg":%q,"process":"worker","from":%q,"to":%q}`+"\n", second, breakerMoved, from, to)
	}
	at := func(second int) time.Time { return time.Date(2026, 11, 22, 6, 20, second, 0, time.UTC) }
	log := "no JSON\n" + line(1, breakerClosed, breakerOpen) + line(3, breakerOpen, breakerHalf) + line(4, breakerHalf, breakerOpen) +
		line(12, breakerOpen, breakerHalf) + line(13, breakerHalf, breakerOpen) + line(15, breakerOpen, breakerHalf)
	moves, err := breakerMoves(log)
	require.NoError(t, err)
	require.Equal(t, breakerStory{opened: 1, tries: 2, failed: 1, last: breakerHalf}, storyOf(moves, at(0), at(10), at(40)))
	moves, err = breakerMoves(log + line(16, breakerHalf, breakerClosed))
	require.NoError(t, err)
	require.Equal(t, breakerStory{opened: 1, tries: 2, failed: 1, closed: 1, last: breakerClosed}, storyOf(moves, at(0), at(10), at(40)))
	moves, err = breakerMoves(log + `{"time":"2026-11-22T06:20:17Z","msg":"` + breakerIsNew + `"}` + "\n")
	require.NoError(t, err)
	require.Equal(t, breakerClosed, storyOf(moves, at(0), at(10), at(40)).last)
	moves, err = breakerMoves(log + line(16, breakerHalf, breakerClosed) + line(20, breakerClosed, breakerOpen))
	require.NoError(t, err)
	require.Equal(t, breakerStory{opened: 1, again: 1, tries: 2, failed: 1, closed: 1, last: breakerOpen}, storyOf(moves, at(0), at(10), at(40)))
	require.Equal(t, breakerStory{opened: 2, last: breakerOpen}, storyOf(moves, at(0), at(30), at(40)))
	// A try that was under way when the outage ended is none after it.
	require.Equal(t, breakerStory{opened: 1, closed: 1, again: 1, last: breakerOpen}, storyOf(moves, at(0), at(15), at(40)))
	require.Equal(t, breakerStory{opened: 1, tries: 1, closed: 1, again: 1, last: breakerOpen}, storyOf(moves, at(0), at(14), at(40)))
	_, err = breakerMoves("broken: " + breakerMoved)
	require.Error(t, err)
}
