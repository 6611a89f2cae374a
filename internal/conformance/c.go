package conformance

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// checkTimeout bounds a check with all its waits.
const checkTimeout = 10 * time.Minute

// runner runs checks against one target.
type runner struct {
	target  Target
	options Options
	// seen are all answers of the API so far, for the checks that look back.
	mu   sync.Mutex
	seen []fact
}

// C is one check under way. Its methods end the check at the first thing that
// is not as it should be, as those of testing.T do.
type C struct {
	Target
	ctx    context.Context
	runner *runner
	result *Result
}

func (r *runner) run(ctx context.Context, check Check) Result {
	result := Result{ID: check.ID, Section: check.Section, Sentence: check.Sentence, Does: check.Does, Outcome: Passed}
	for _, n := range check.needs {
		if !r.target.has(n) {
			result.Outcome, result.Reason = Skipped, "needs "+string(n)
			return result
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	c := &C{Target: r.target, ctx: ctx, runner: r, result: &result}
	began := time.Now()
	done := make(chan struct{})
	// A goroutine of its own can be ended from anywhere within the check.
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				result.Outcome, result.Failure = Failed, &Failure{Expected: "the check to come to an end", Got: fmt.Sprintf("panic: %v", p)}
			}
		}()
		check.run(c)
	}()
	<-done
	result.Took = time.Since(began)
	return result
}

// fail ends the check: a is the answer that is wrong, nil when there is none.
func (c *C) fail(a *answer, expected, format string, args ...any) {
	var e *Exchange
	if a != nil {
		e = a.exchange()
	}
	c.failAt(e, expected, format, args...)
}

func (c *C) failAt(e *Exchange, expected, format string, args ...any) {
	c.result.Outcome = Failed
	c.result.Failure = &Failure{Expected: expected, Got: fmt.Sprintf(format, args...), Exchange: e}
	runtime.Goexit()
}

// skip ends the check: the target does not have what it takes.
func (c *C) skip(format string, args ...any) {
	c.result.Outcome, c.result.Reason = Skipped, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// status ends the check unless the answer has the status.
func (c *C) status(a *answer, want int) {
	if a.Status != want {
		c.fail(a, fmt.Sprintf("status %d %s", want, http.StatusText(want)), "status %d %s", a.Status, http.StatusText(a.Status))
	}
}

// refused ends the check unless the answer is this error. That every error has
// the right shape is another check's matter.
func (c *C) refused(a *answer, status int, code string) {
	c.status(a, status)
	if got, _ := a.object(c)["error"].(string); got != code {
		c.fail(a, "error "+code, "error %q", got)
	}
}

// equal ends the check unless both are the same.
func (c *C) equal(a *answer, what string, want, got any) {
	if fmt.Sprint(want) != fmt.Sprint(got) {
		c.fail(a, fmt.Sprintf("%s %v", what, want), "%s %v", what, got)
	}
}

// sleep waits; the check ends when its time is over.
func (c *C) sleep(d time.Duration, waitingFor string) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
		c.fail(nil, waitingFor, "not within %s", checkTimeout)
	}
}
