package chaos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/retryproxy"
	"github.com/taskloom/taskloom/internal/stacktest"
)

const (
	// drainWithinSIGTERM is how long a process may take to end in order.
	drainWithinSIGTERM = 30 * time.Second
	// restartEvery is the pace of the matrix, rollingRounds times four processes
	// its number of restarts.
	restartEvery  = 20 * time.Second
	rollingRounds = 5
	// overloadShare of all calls may be told to come again while nothing restarts:
	// with more, the run says something about the machine.
	overloadShare = 0.001
	// drainDelay is the DRAIN_DELAY of serve: many times what the proxy takes to notice.
	drainDelay = time.Second
)

// TestRow19RollingRestarts ends each process with SIGTERM and starts it again,
// one every twenty seconds, twenty times, under load. Clients behind a proxy that
// sends again what it may see no failure. Each process ends in order, stage by stage,
// within thirty seconds.
func TestRow19RollingRestarts(t *testing.T) {
	d := &deploys{}
	RunRow(t, Row{
		Number: 19, Name: "deploy under load", Rounds: rollingRounds,
		Settings: func(s *Settings) {
			// More than is worked through in a round, so that the traffic does not stop.
			s.Load.Backlog, s.Load.ThinkMS = 60, 500
			s.ServeEnv = append(s.ServeEnv, "DRAIN_DELAY="+drainDelay.String())
		},
		Prepare: d.stand,
		// Each round ends with a full recovery; in between, clients must be served.
		Faults: []Fault{{Name: "SIGTERM of each process in turn", Serves: true, Inject: d.round}},
		After:  d.check,
	})
}

// deploys remembers the restarts.
type deploys struct {
	proxy    *retryproxy.Proxy
	restarts []restart
	next     time.Time // the earliest moment of the next one
}

// restart is one process that ends and starts again. It is over when all are
// ready.
type restart struct {
	name         string
	began, ended time.Time
}

// stand puts the proxy before both servers: clients know of no other.
func (d *deploys) stand(ctx context.Context, r *Run) (err error) {
	if d.proxy, err = retryproxy.Listen(ctx, r.bases...); err != nil {
		return err
	}
	r.t.Cleanup(func() { _ = d.proxy.Close() })
	r.front = []string{d.proxy.URL()}
	return nil
}

// round restarts every process.
func (d *deploys) round(ctx context.Context, r *Run) (func(context.Context) error, error) {
	for i := range r.Serves {
		for _, kind := range serveOrWorker {
			p := r.Serves[i]
			if kind == ofWorker {
				p = r.Workers[i]
			}
			if err := d.restart(ctx, r, fmt.Sprintf("%s %d", kind, i), kind, p); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil //nolint:nilnil // everything runs again
}

// restart ends one process in order and starts it again, when it is time for it
// and there is traffic that would notice.
func (d *deploys) restart(ctx context.Context, r *Run, name, kind string, p *stacktest.Process) error {
	if err := r.pause(ctx, time.Until(d.next)); err != nil {
		return err
	}
	if err := r.Floor(ctx); err != nil {
		return err
	}
	said := len(p.Log())
	one := restart{name: name, began: time.Now()}
	d.next = one.began.Add(restartEvery)
	p.Stop()
	took := time.Since(one.began)
	if took > drainWithinSIGTERM {
		r.Violate("I10: %s took %s to end after SIGTERM", name, took)
	}
	if code := p.ExitCode(); code != 0 {
		r.Violate("%s ended with exit code %d after SIGTERM", name, code)
	}
	if problem := endedInOrder(kind, p.Log()[said:]); problem != "" {
		r.Violate("%s did not end in order: %s", name, problem)
	}
	p.StartAgain()
	if err := r.Ready(ctx); err != nil {
		return err
	}
	one.ended = time.Now()
	d.restarts = append(d.restarts, one)
	r.Logf("restart %d: %s ended in %s, all is ready after %s", len(d.restarts), name, took.Round(time.Millisecond), one.ended.Sub(one.began).Round(time.Millisecond))
	r.Recover(ctx, "the restart of "+name, false, recoverWithin)
	return nil
}

// What the processes say at their end, in this order: each stage when it is over.
var lastSaid = map[string][]string{
	ofServe:  {`"Shutting down."`, requestsEnded, `"Connections are closed."`, `"Stopped."`},
	ofWorker: {`"The dispatcher has stopped."`, `"The worker has stopped."`, `"Connections are closed."`, `"Stopped."`},
}

const (
	requestsEnded = `"Requests have ended."`
	// cutOffSaid is what only those say that could not wait for their requests,
	// closedPool what those do whose pool ended before them.
	cutOffSaid = "Requests that did not finish are cut off."
	closedPool = "closed pool"
)

// endedInOrder returns what is wrong with the end of a log, "" when nothing is.
func endedInOrder(kind, log string) string {
	for _, never := range []string{cutOffSaid, closedPool} {
		if strings.Contains(log, never) {
			return never
		}
	}
	if _, after, _ := strings.Cut(log, requestsEnded); strings.Contains(after, `"msg":"request"`) {
		return "a request ended after all had"
	}
	rest := log
	for _, line := range lastSaid[kind] {
		_, after, found := strings.Cut(rest, line)
		if !found {
			return fmt.Sprintf("it did not say %s where it belongs; its last words: %q", line, log[max(0, len(log)-500):])
		}
		rest = after
	}
	return ""
}

// check looks at the calls that failed behind the proxy: there are none, but for those
// that were told to come again while nothing restarted.
func (d *deploys) check(_ context.Context, r *Run) error {
	if want := rollingRounds * (len(r.Serves) + len(r.Workers)); len(d.restarts) != want {
		return fmt.Errorf("%d restarts instead of %d", len(d.restarts), want)
	}
	overloaded, ops := 0, r.History.Ops()
	for _, op := range ops {
		switch during := d.during(op); {
		case op.Outcome != Unknown:
		case op.Status == http.StatusServiceUnavailable && !during:
			overloaded++
			r.Logf("%s of %s was answered 503 while nothing restarted: %s", op.Kind, op.Who, op.Error)
		default:
			r.Violate("%s of %s failed behind the proxy, during a restart: %v: %d %s", op.Kind, op.Who, during, op.Status, op.Error)
		}
	}
	s := d.proxy.Stats()
	r.Logf("%d restarts; of %d calls the proxy sent some to another server %d times and had no answer for %d; %d were told to come again while nothing restarted",
		len(d.restarts), len(ops), s.Again, s.Failed, overloaded)
	if float64(overloaded) > overloadShare*float64(len(ops)) {
		return fmt.Errorf("invalid run: %d of %d calls were told to come again while nothing restarted: the machine is too small for this load (%s)", overloaded, len(ops), loadOfMachine())
	}
	return nil
}

// during tells whether a call met a restart.
func (d *deploys) during(op Op) bool {
	for _, one := range d.restarts {
		if op.Return >= one.began.UnixNano() && op.Call <= one.ended.UnixNano() {
			return true
		}
	}
	return false
}
