package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/grpcproxy"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/internal/store"
)

// throughGRPC leads the product's calls to Temporal through a proxy.
func throughGRPC(t *testing.T, s *Settings, into **grpcproxy.Proxy) {
	t.Helper()
	s.Route = func(st *stacktest.Stack) []string {
		p, err := grpcproxy.Listen(t.Context(), st.Value("TEMPORAL_ADDRESS"), s.Seed)
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Close() })
		*into = p
		return []string{"TEMPORAL_ADDRESS=" + p.Addr()}
	}
}

// awayFor is how long Temporal is down, and how long it is gray.
func awayFor() time.Duration { return holdFor(20 * time.Second) }

// frozenFor is how long Temporal is frozen: a minute in the matrix.
func frozenFor() time.Duration { return min(awayFor(), time.Minute) }

// TestRow04TemporalDownOrGray takes Temporal away, freezes it, and lets three
// of ten calls fail and one of ten succeed without its answer: for ten minutes,
// one, and ten at CHAOS_SCALE=30. Create, claim, submit and poll go on at their
// pace; confirming an upload is answered within two seconds, with 503 once
// Temporal's absence is known; afterwards everything that waited is drained
// within the deadline, and the workers' breakers close.
func TestRow04TemporalDownOrGray(t *testing.T) {
	a := &temporalAway{}
	RunRow(t, Row{
		Number: 4, Name: "Temporal down or gray",
		Settings: func(s *Settings) {
			// Its people run out of work after a while, since no step opens a review;
			// those who knock go on. More tasks would only be more to finish in the
			// end.
			lightly(&s.Load)
			throughGRPC(t, s, &a.proxy)
		},
		Faults: []Fault{
			a.fault("Temporal down", true, awayFor(), func(*Run) (func(context.Context) error, error) {
				a.proxy.Down()
				return a.proxy.Up, nil
			}),
			a.fault("SIGSTOP of temporal", true, frozenFor(), func(r *Run) (func(context.Context) error, error) {
				pid := r.Pid(partTemporal)
				return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
			}),
			a.fault("30 % of the calls to Temporal unavailable, 10 % without their answer", false, awayFor(), func(*Run) (func(context.Context) error, error) {
				a.proxy.Set(grpcproxy.Faults{Unavailable: 0.3, Lost: 0.1})
				return func(context.Context) error {
					a.proxy.Set(grpcproxy.Faults{})
					return nil
				}, nil
			}),
		},
		Prepare: func(ctx context.Context, r *Run) error {
			a.files = r.newUploads()
			var err error
			a.knocking, err = newKnocking(ctx, a.files)
			return err
		},
		After: a.check,
	})
}

// temporalAway is what this row remembers of the times without Temporal.
type temporalAway struct {
	proxy    *grpcproxy.Proxy
	files    *uploads
	knocking *knocking
	outages  []*outage
	asked    []upload // confirmed while it was away
}

// outage is one of those times.
type outage struct {
	name          string
	began, healed time.Time
	// gone says that no call came through.
	gone bool
}

// fault is an outage with people who go on all the while. Whether clients are
// served is looked at by their pace: the load itself runs out of work.
func (a *temporalAway) fault(name string, gone bool, hold time.Duration, breaks func(r *Run) (func(context.Context) error, error)) Fault {
	var ready upload // for the confirmation: its archive is stored
	f := Fault{Name: name, Hold: hold, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		var err error
		if ready, err = a.files.put(ctx, zipOf(r.t, rowsConfirmed, 100)); err != nil {
			return nil, err
		}
		heal, err := breaks(r)
		if err != nil {
			return heal, fmt.Errorf("%s: %w", name, err)
		}
		o := &outage{name: name, gone: gone, began: time.Now()}
		a.outages = append(a.outages, o)
		stop := a.knocking.start(name)
		return func(ctx context.Context) error {
			err := stop()
			if gone {
				err = errors.Join(err, o.waited(ctx, r))
			}
			r.Logf("p99 during %s: %s", name, r.latencies(o.began, time.Now()))
			o.healed = time.Now() // a try that comes through belongs to what follows
			return errors.Join(err, heal(ctx))
		}, nil
	}}
	if gone { // else a confirmation may well succeed
		f.During = func(ctx context.Context, _ *Run) error {
			a.files.answered(ctx, ready)
			up, err := a.files.refused(ctx)
			a.asked = append(a.asked, ready, up)
			return err
		}
	}
	return f
}

// rowsConfirmed are the rows of an upload that is confirmed meanwhile.
const rowsConfirmed = 3

// notWaiting counts commands that Temporal may have heard of: their event has no
// row in the outbox. A claim's may have gone when a later event of its task stands
// for it.
const notWaiting = `SELECT count(*) FROM unnest($1::uuid[], $2::text[]) AS c (claim, done) WHERE NOT EXISTS (
	SELECT FROM task_events e JOIN outbox o ON o.task_id = e.task_id
	WHERE e.claim_id = c.claim AND (e.kind = c.done OR c.done = 'hand in' AND e.kind IN ('submit', 'review'))
		AND (o.seq = e.seq OR c.done = 'claim' AND o.seq > e.seq AND o.priority <= $3))`

// waited checks, at the moment before the outage is healed, that each command
// which was acknowledged since it began waits in the outbox.
func (o *outage) waited(ctx context.Context, r *Run) error {
	claims, done := commandsSince(r.History.Ops(), o.began)
	rows, err := r.Count(ctx, `SELECT count(*) FROM outbox`)
	if err != nil {
		return err
	}
	told, err := r.Count(ctx, notWaiting, claims, done, store.UrgencyClaimed)
	if err != nil {
		return err
	}
	r.Logf("%s after %s: %d rows wait in the outbox, %d commands were acknowledged (the matrix has 4,800 signals in 10 minutes)",
		o.name, time.Since(o.began).Round(time.Second), rows, len(claims))
	if len(claims) == 0 || told > 0 {
		return fmt.Errorf("%s proves nothing: %d of %d acknowledged commands do not wait in the outbox; was Temporal reached all the same?",
			o.name, told, len(claims))
	}
	return nil
}

// commandsSince are the claims, submissions, verdicts and releases that were
// sent for the first time since then and acknowledged, each with the claim that it
// was for. One that was sent again is one command.
func commandsSince(ops []Op, since time.Time) (claims, done []string) {
	kinds := map[string]string{opClaim: "claim", opSubmit: "hand in", opReview: "hand in", opRelease: "release"}
	type command struct{ claim, done string }
	first, acked := map[command]int64{}, map[command]bool{}
	for _, op := range ops {
		if kinds[op.Kind] == "" || op.Claim == "" {
			continue
		}
		c := command{op.Claim, kinds[op.Kind]}
		if at, again := first[c]; !again || op.Call < at {
			first[c] = op.Call
		}
		acked[c] = acked[c] || op.Outcome == OK
	}
	for c, at := range first {
		if acked[c] && at >= since.UnixNano() {
			claims, done = append(claims, c.claim), append(done, c.done)
		}
	}
	return claims, done
}

// check looks at what became of all that was done without Temporal.
func (a *temporalAway) check(ctx context.Context, r *Run) error {
	s := a.proxy.Stats()
	r.Logf("%d calls to Temporal, %d refused, %d without their answer", s.Calls, s.Refused, s.Lost)
	if s.Refused == 0 || s.Lost == 0 {
		return errors.New("the proxy failed no call; was Temporal reached around it?")
	}
	for _, up := range a.asked {
		a.files.completes(ctx, up, rowsConfirmed, recoverWithin)
	}
	if err := a.knocking.finished(ctx); err != nil {
		return err
	}
	return a.breakersMove(r)
}

// answered checks that the confirmation of an upload has an answer in time
// while nobody may have noticed yet that Temporal is away: whichever it is.
func (u *uploads) answered(ctx context.Context, up upload) {
	began := time.Now()
	status, body, err := u.confirm(ctx, up)
	took := time.Since(began)
	if err != nil || took > confirmWithin+slack {
		u.run.Violate("confirming an upload at the moment when Temporal went away was answered %d after %s: %.200s (%v)", status, took, body, err)
	}
	u.run.Logf("confirming an upload at once: %d after %s", status, took.Round(time.Millisecond))
}

// refused checks that the confirmation of an upload, the one call that
// needs Temporal, says within two seconds that it cannot be done now.
func (u *uploads) refused(ctx context.Context) (upload, error) {
	up, err := u.put(ctx, zipOf(u.run.t, rowsConfirmed, 100))
	if err != nil {
		return up, err
	}
	// The health of the parts is remembered for two seconds.
	if err := wait(ctx, 2*confirmWithin); err != nil {
		return up, err
	}
	began := time.Now()
	status, body, err := u.confirm(ctx, up)
	took := time.Since(began)
	if err != nil {
		return up, err
	}
	if status != http.StatusServiceUnavailable || took > confirmWithin+500*time.Millisecond {
		u.run.Violate("confirming an upload without Temporal was answered %d after %s: %.200s", status, took, body)
	}
	u.run.Logf("confirming an upload: %d after %s", status, took.Round(time.Millisecond))
	return up, nil
}
