package chaos

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mayBeLate are the kinds of calls that may be told 409, by what they are: somebody
// else was quicker, or the claim is over. Nothing else that the crowd asks for changes
// or goes away.
var mayBeLate = []string{opClaim, opDraft, opExtend, opSubmit, opReviews, opReview}

// tally is what became of calls of one kind.
type tally struct {
	ok, refused []time.Duration
	// again are those of ok that ended in the second half of their stretch: a server
	// that served at first and then never again has none.
	again int
	// late were told that they came too late. They are neither served nor failed.
	late   int
	failed int
	first  string // of those that failed
}

// served is how much of what was asked for was served.
func (t *tally) served() float64 {
	return float64(len(t.ok)) / float64(max(1, len(t.ok)+len(t.refused)+t.late+t.failed))
}

// tallies are those of one stretch.
type tallies struct {
	mu   sync.Mutex
	of   map[string]*tally
	half time.Time     // when the second half of the stretch begins
	late time.Duration // how late we were ourselves at most
	// idle are claims that nobody was there to make: people who wait for answers
	// claim nothing.
	idle int
}

func newTallies() *tallies { return &tallies{of: map[string]*tally{}} }

// kind is the tally of a kind, an empty one where nothing was noted.
func (ts *tallies) kind(kind string) *tally {
	if t := ts.of[kind]; t != nil {
		return t
	}
	return &tally{}
}

// note sorts an answer in.
func (ts *tallies) note(kind string, a answered, err error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.of[kind]
	if t == nil {
		t = &tally{}
		ts.of[kind] = t
	}
	switch {
	case err == nil && a.status < http.StatusBadRequest:
		t.ok = append(t.ok, a.took)
		if time.Now().After(ts.half) {
			t.again++
		}
	case err == nil && a.status == http.StatusConflict && slices.Contains(mayBeLate, kind):
		t.late++
	case err == nil && a.later():
		t.refused = append(t.refused, a.took)
	default:
		if t.failed++; t.failed == 1 {
			t.first = strings.TrimSpace(fmt.Sprintf("%d %.200s %v", a.status, a.body, err))
		}
	}
}

// within are the objectives of the crowd's calls: those of the load's calls, and
// of programs that ask for one task.
func within(kind string) time.Duration {
	switch kind {
	case opStatus, opNaive, opStranger:
		return gate * objective("status")
	case opReviews:
		kind = opClaim
	}
	return gate * objectives[kind]
}

// share is how much of a sample is at most so long; none of no sample.
func share(of []time.Duration, most time.Duration) float64 {
	n := 0
	for _, d := range of {
		if d <= most {
			n++
		}
	}
	return float64(n) / float64(max(1, len(of)))
}

// outside are the kinds of which too few calls are inside their objective, or
// some failed.
func (ts *tallies) outside() (missed []string) {
	for _, kind := range slices.Sorted(maps.Keys(ts.of)) {
		t := ts.of[kind]
		if most := within(kind); t.failed > 0 || most > 0 && share(t.ok, most) < insideShare {
			missed = append(missed, fmt.Sprintf("%s (%.1f %% within %s, %d failed %s)", kind, 100*share(t.ok, most), most, t.failed, t.first))
		}
	}
	return missed
}

// unserved are the kinds of the peak of which too few were served, where everybody
// should be.
func (ts *tallies) unserved() (missed []string) {
	for _, kind := range ofThePeak {
		if t := ts.kind(kind); t.served() < servedOfAll {
			missed = append(missed, fmt.Sprintf("%s (%d served, %d refused, %d too late)", kind, len(t.ok), len(t.refused), t.late))
		}
	}
	return missed
}

// starved are the kinds of the peak of which nothing was served in one of the halves
// of an overload.
func (ts *tallies) starved() (kinds []string) {
	for _, kind := range ofThePeak {
		if t := ts.kind(kind); t.again == 0 || t.again == len(t.ok) {
			kinds = append(kinds, fmt.Sprintf("%s (%d served in all, %d in the second half, %d refused)", kind, len(t.ok), t.again, len(t.refused)))
		}
	}
	return kinds
}

// String is a table.
func (ts *tallies) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(ts.of)) {
		t := ts.of[kind]
		fmt.Fprintf(&b, "  %-28s %7d ok (p50 %s, p95 %s, p99 %s)  %7d refused (p95 %s)  %d too late  %d failed %s\n", kind, len(t.ok),
			quantile(t.ok, 0.5).Round(time.Millisecond), quantile(t.ok, 0.95).Round(time.Millisecond), quantile(t.ok, 0.99).Round(time.Millisecond),
			len(t.refused), quantile(t.refused, 0.95).Round(time.Millisecond), t.late, t.failed, t.first)
	}
	fmt.Fprintf(&b, "  this program late by %s at most; %d claims not made, for everybody was at work\n", ts.late.Round(time.Millisecond), ts.idle)
	return b.String()
}

// A server that refuses everything is quick, and inside every objective.
func TestWhoRefusesEverybodyServesNobody(t *testing.T) {
	t.Parallel()
	const all = 20
	play := func(refused, late map[string]int, second bool) *tallies {
		ts := newTallies()
		ts.half = time.Now().Add(time.Hour)
		for i := range all {
			if i == all/2 && second {
				ts.half = time.Time{}
			}
			for _, kind := range ofThePeak {
				a := answered{status: http.StatusOK, took: time.Millisecond}
				switch {
				case i >= all-refused[kind]:
					a.status, a.retryAfter = http.StatusServiceUnavailable, "1"
				case i >= all-late[kind]:
					a.status = http.StatusConflict
				}
				ts.note(kind, a, nil)
			}
		}
		return ts
	}
	everything := map[string]int{}
	for _, kind := range ofThePeak {
		everything[kind] = all
	}
	for name, c := range map[string]struct {
		ts                         *tallies
		outside, unserved, starved int
	}{
		"all are served":             {play(nil, nil, true), 0, 0, 0},
		"one in twenty is not":       {play(map[string]int{opStatus: 1}, nil, true), 0, 0, 0},
		"two in twenty are not":      {play(map[string]int{opStatus: 2}, nil, true), 0, 1, 0},
		"two in twenty are too late": {play(nil, map[string]int{opSubmit: 2}, true), 0, 1, 0},
		"nobody is":                  {play(everything, nil, true), 8, len(ofThePeak), len(ofThePeak)},
		"half, and then nobody":      {play(map[string]int{opDraft: all / 2}, nil, true), 0, 1, 1},
		"only at first":              {play(nil, nil, false), 0, 0, len(ofThePeak)},
		"nothing was asked for":      {newTallies(), 0, len(ofThePeak), len(ofThePeak)},
		"what is there is not found": {play(nil, map[string]int{opStatus: 1, opPoll: 1, opQueues: 1}, true), 3, 0, 0},
	} {
		require.Len(t, c.ts.outside(), c.outside, "outside: %s: %v", name, c.ts.outside())
		require.Len(t, c.ts.unserved(), c.unserved, "unserved: %s: %v", name, c.ts.unserved())
		require.Len(t, c.ts.starved(), c.starved, "starved: %s: %v", name, c.ts.starved())
	}
}
