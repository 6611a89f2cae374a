package chaos

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// unavailableWithin is how long a request may take that cannot be served
// because Postgres is away.
const unavailableWithin = 2 * time.Second

// TestRow06PostgresCrash stops Postgres at once, kills it, keeps it away for a
// while, and ends two connections a second. The processes go on by themselves;
// who asks meanwhile is told 503, soon.
func TestRow06PostgresCrash(t *testing.T) {
	away := PartAway(partPostgres)
	away.Hold = holdFor(10 * time.Second)
	RunRow(t, Row{
		Number: 6, Name: "Postgres crash",
		Faults: []Fault{
			PartKilled(partPostgres, syscall.SIGQUIT), PartKilled(partPostgres, syscall.SIGKILL), away,
			backendsKilledFor(holdFor(10 * time.Second)),
		},
		After: unavailableIsTold,
	})
}

// backendsKilledFor ends two connections every second.
func backendsKilledFor(d time.Duration) Fault {
	f := BackendsKilled(2, 0)
	f.Name = "pg_terminate_backend, two a second"
	f.During = func(ctx context.Context, r *Run) error {
		for second := range uint64(d / time.Second) {
			if err := r.pause(ctx, time.Second); err != nil {
				return err
			}
			if _, err := BackendsKilled(2, r.Seed+second).again(missedFor).Inject(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
	return f
}

// unavailableIsTold looks at the calls that failed on the server's side: all
// with 503, and hardly any late. On a busy machine some are: one in a hundred
// of those that failed. Calls that got no answer at all are late, too.
func unavailableIsTold(_ context.Context, r *Run) error {
	failed, late := 0, 0
	for _, op := range r.History.Ops() {
		hung := op.Status == 0 && op.Outcome == Unknown
		if op.Status < http.StatusInternalServerError && !hung {
			continue
		}
		failed++
		if op.Status != http.StatusServiceUnavailable && !hung {
			r.Violate("%s of %s was answered with %d instead of 503: %s", op.Kind, op.Who, op.Status, op.Error)
		}
		if took := time.Duration(op.Return - op.Call); took > unavailableWithin {
			late++
			r.Logf("%s of %s was answered with %d after %s", op.Kind, op.Who, op.Status, took)
		}
	}
	if failed == 0 {
		return errors.New("no call met Postgres' absence: this proves nothing")
	}
	r.Logf("%d calls were not served, %d of them heard of it later than %s", failed, late, unavailableWithin)
	if late > 1+failed/100 {
		r.Violate("%d of %d calls that Postgres' absence kept from being served heard of it later than %s", late, failed, unavailableWithin)
	}
	return nil
}
