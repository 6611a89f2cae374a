package chaos

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/grpcproxy"
	"github.com/taskloom/taskloom/internal/stacktest"
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

// awayFor is how long Temporal is away.
func awayFor() time.Duration { return holdFor(20 * time.Second) }

// TestRow04TemporalDownOrGray takes Temporal away, freezes it, and lets three
// of ten calls fail and one of ten succeed without its answer, for ten minutes
// at CHAOS_SCALE=30. Create, claim, submit and poll go on; confirming an upload
// is answered 503 within two seconds; afterwards everything is drained within
// the deadline.
func TestRow04TemporalDownOrGray(t *testing.T) {
	var proxy *grpcproxy.Proxy
	down := Fault{Name: "Temporal down", Serves: true, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
		proxy.Down()
		return proxy.Up, nil
	}}
	frozen := Fault{Name: "SIGSTOP of temporal", Serves: true, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		pid := r.Pid(partTemporal)
		return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
	}}
	gray := Fault{Name: "30 % of the calls to Temporal unavailable, 10 % without their answer", Serves: true, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
		proxy.Set(grpcproxy.Faults{Unavailable: 0.3, Lost: 0.1})
		return func(context.Context) error {
			proxy.Set(grpcproxy.Faults{})
			return nil
		}, nil
	}}
	var files *uploads
	away := 0
	RunRow(t, Row{
		Number: 4, Name: "Temporal down or gray",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			// Enough that people have something to do all the time.
			s.Load.Backlog = max(s.Load.Backlog, 5*int(awayFor().Seconds()))
			throughGRPC(t, s, &proxy)
		},
		Faults: []Fault{down, frozen, gray},
		Hold:   awayFor(),
		Prepare: func(_ context.Context, r *Run) error {
			files = r.newUploads()
			return nil
		},
		During: func(ctx context.Context, _ *Run) error {
			away++
			if away == 3 {
				return nil // gray: a confirmation may succeed
			}
			return files.refused(ctx)
		},
		After: func(_ context.Context, r *Run) error {
			s := proxy.Stats()
			r.Logf("%d calls to Temporal, %d refused, %d without their answer", s.Calls, s.Refused, s.Lost)
			if s.Refused == 0 || s.Lost == 0 {
				return errors.New("the proxy failed no call; was Temporal reached around it?")
			}
			return nil
		},
	})
}

// refused checks that the confirmation of an upload, the one call that
// needs Temporal, says within two seconds that it cannot be done now.
func (u *uploads) refused(ctx context.Context) error {
	const patience = 2 * time.Second
	up, err := u.put(ctx, zipOf(u.run.t, 3, 100))
	if err != nil {
		return err
	}
	// The health of the parts is remembered for two seconds.
	if err := wait(ctx, 2*patience); err != nil {
		return err
	}
	began := time.Now()
	status, body, err := u.confirm(ctx, up)
	took := time.Since(began)
	if err != nil {
		return err
	}
	if status != http.StatusServiceUnavailable || took > patience+500*time.Millisecond {
		u.run.Violate("confirming an upload without Temporal was answered %d after %s: %.200s", status, took, body)
	}
	u.run.Logf("confirming an upload: %d after %s", status, took.Round(time.Millisecond))
	return nil
}
