package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

const (
	overloadBy = 3
	// bigCreates bodies of 32 MB come at once.
	bigCreates = 64
	// mostOfAProcess is what a process of the product may ever hold.
	mostOfAProcess = 1 << 30
	// mostLate is how late this program may be at the peak itself: when it is
	// later, the machine is too busy for it to judge by.
	mostLate = 200 * time.Millisecond
	// refuseWithin is how soon somebody is told to come again, p99.
	refuseWithin = 50 * time.Millisecond
	// insideShare of what is admitted must be inside its objective, and servedOfAll
	// of what is asked for must be served where there is no overload.
	insideShare = 0.95
	servedOfAll = 0.95
	// judged is what recovery is judged by, five seconds as in docs/load.md.
	judged = 5 * time.Second
)

var errLate = errors.New("something lags or is slow")

// TestRow22Overload plays three times the peak of docs/load.md, open loop: a
// call comes when it is due, whatever became of the earlier ones; for two
// minutes, or ten at CHAOS_SCALE=5. In between come 64 creates of 32 MB at once,
// and all the time 20 programs that ask again at once when they are told to
// wait. Who is not served is told so quickly, who is served is served inside the
// objectives (doubled here), some of each kind in each half are, and the processes stay
// small. Then the peak goes on as it was: within a minute everything is served and
// inside again, as it was before, and nothing lags.
//
// Latencies count from when a call is sent: this program shares the machine with
// what it measures, and how late it was itself is told beside them.
func TestRow22Overload(t *testing.T) {
	r := startRow(t, Row{Number: 22, Name: "overload", Settings: func(s *Settings) {
		s.ServeEnv = append(s.ServeEnv, "RATE_LIMIT_KEY=1200-M",
			fmt.Sprintf("REQUESTS_AT_ONCE=%d", runtime.NumCPU())) // two serve share the processors with everything else
		s.Load.LeaseSeconds = 300
	}})
	ctx := t.Context()
	c := r.newCrowd(ctx)

	c.play(ctx, 1, 10*time.Second) // warms up
	before := c.play(ctx, 1, 15*time.Second)
	r.Logf("the peak, before:\n%s", before)
	if missed, unserved := before.outside(), before.unserved(); len(missed)+len(unserved) > 0 || before.late > mostLate {
		t.Fatalf("invalid run: before the overload %v is outside its objective, too little is served of %v, and this program is late by %s (%s)",
			missed, unserved, before.late, loadOfMachine())
	}

	var big sync.WaitGroup
	bigger := newTallies()
	big.Go(func() {
		if wait(ctx, 20*time.Second) == nil {
			c.creates(ctx, bigger)
		}
	})
	over := c.play(ctx, overloadBy, holdFor(2*time.Minute))
	ended := time.Now()
	r.Logf("%d times the peak:\n%s", overloadBy, over)
	r.admitted(over)

	back := false
	for !back && time.Since(ended) < recoverWithin {
		after := c.play(ctx, 1, judged)
		lag := r.lag(ctx)
		missed, unserved := after.outside(), after.unserved()
		back = len(missed)+len(unserved) == 0 && lag < 2*time.Second
		r.Logf("%s after the overload: lag %s, outside: %v, not served: %v", time.Since(ended).Round(time.Second), lag.Round(time.Millisecond), missed, unserved)
	}
	if !back || time.Since(ended) > recoverWithin {
		r.Violate("I10: not served, inside the objectives, %s after the overload (%s): %v", recoverWithin, loadOfMachine(), r.waiting(errLate, time.Now()))
	}
	big.Wait()
	r.Logf("creates of 32 MB:\n%s", bigger)
	if t := bigger.of[opBig]; t == nil || len(t.ok) == 0 {
		r.Violate("I10: of %d creates of 32 MB not one was served", bigCreates)
	}
	for kind, t := range bigger.of {
		if t.failed > 0 {
			r.Violate("I10: %d of %d calls (%s) were neither served nor told to come again, the first: %s", t.failed, bigCreates, kind, t.first)
		}
	}
	for what, processes := range map[string][]*stacktest.Process{"serve": r.Serves, "worker": r.Workers} {
		for i, p := range processes {
			m := p.Memory()
			r.Logf("%s %d held %d MB at most, %d MB now", what, i, m.Peak>>20, m.Now>>20)
			if m.Peak > mostOfAProcess {
				r.Violate("I10: %s %d held %d MB", what, i, m.Peak>>20)
			}
		}
	}
	r.eventually(ctx, recoverWithin, "nothing waits in the outbox, or for its consequences", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM tasks WHERE applied_seq < seq)`)
		return n == 0, err
	})
	require.NoError(t, r.checkInvariants(ctx))
	require.NoError(t, r.checkRuns(ctx))
	require.NoError(t, r.askDoctor(ctx))
	r.verdict("row-22")
}

// play has calls arrive at so many times the rates of the peak, and in an
// overload programs that do not wait.
func (c *crowd) play(ctx context.Context, times float64, d time.Duration) *tallies {
	into := newTallies()
	var all sync.WaitGroup
	began := time.Now()
	into.half = began.Add(d / 2)
	if times > 1 {
		rude, cancel := context.WithDeadline(ctx, began.Add(d))
		defer cancel()
		for i := range c.rude {
			all.Go(func() { c.ignores(rude, i, into) })
		}
	}
	for _, a := range c.peak() {
		all.Go(func() {
			every := time.Duration(float64(time.Second) / (a.rate * times))
			for n := 0; ; n++ {
				due := began.Add(time.Duration(n) * every)
				if due.Sub(began) >= d || wait(ctx, time.Until(due)) != nil {
					return
				}
				into.mu.Lock()
				into.late = max(into.late, time.Since(due))
				into.mu.Unlock()
				all.Go(func() { a.do(ctx, n, into) })
			}
		})
	}
	all.Wait()
	return into
}

// creates sends 64 bodies of 32 MB at once, four under each key.
func (c *crowd) creates(ctx context.Context, into *tallies) {
	const tasks, of = 640, 50_000 // 32 MB
	body := plainTasks(tasks, strings.Repeat("q", of))
	var all sync.WaitGroup
	for i := range bigCreates {
		all.Go(func() {
			a, err := ask(ctx, c.http, http.MethodPost, c.base(i)+c.path("/tasks"), c.keys[i%(bigCreates/4)], body)
			into.note(opBig, a, err)
		})
	}
	all.Wait()
}

// admitted judges an overload.
func (r *Run) admitted(ts *tallies) {
	for _, missed := range ts.outside() {
		r.Violate("I10: of what was admitted at %d times the peak too little is inside its objective: %s (%s)", overloadBy, missed, loadOfMachine())
	}
	for _, kind := range ts.starved() {
		r.Violate("I10: nobody was served for half of an overload of %d times the peak: %s (%s)", overloadBy, kind, loadOfMachine())
	}
	var refused []time.Duration
	for _, t := range ts.of {
		refused = append(refused, t.refused...)
	}
	p99 := quantile(refused, 0.99)
	r.Logf("%d calls were told to come again, p50 %s, p95 %s, p99 %s", len(refused), quantile(refused, 0.5), quantile(refused, 0.95), p99)
	if len(refused) == 0 {
		r.Violate("nobody was refused: this is no overload")
	}
	if p99 > gate*refuseWithin {
		r.Violate("I10: who is refused is told so within %s (p99) instead of %s (%s)", p99, gate*refuseWithin, loadOfMachine())
	}
}

// lag is how old the oldest thing is that waits for its consequences, runs of
// new tasks aside.
func (r *Run) lag(ctx context.Context) time.Duration {
	var seconds float64
	err := r.Store().Pool().QueryRow(ctx, `SELECT greatest(
		(SELECT coalesce(max(extract(epoch FROM now() - created_at)), 0) FROM outbox),
		(SELECT coalesce(max(extract(epoch FROM now() - updated_at)), 0) FROM tasks WHERE applied_seq < seq AND seq > 1))::float8`).Scan(&seconds)
	require.NoError(r.t, err)
	return time.Duration(seconds * float64(time.Second))
}
