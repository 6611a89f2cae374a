package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/chaos/internal/grpcproxy"
	"github.com/taskloom/taskloom/chaos/internal/netns"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/workflows"
)

// missedWithin is how long a worker that is cut off may count as one that can
// take work.
const missedWithin = 15 * time.Second

// TestRow13Partition puts the only worker into a network namespace of its own
// and cuts it off: from Postgres in one direction and in the other, from
// Temporal, and from everything. Packets are dropped without a word, so that
// connections stay open. People are served on at their pace, a worker that is cut
// off is missed within fifteen seconds, and everything goes on after the heal.
func TestRow13Partition(t *testing.T) {
	p := &partition{}
	w := &knocking{}
	fault := func(name string, cut func() error) Fault {
		return w.during(Fault{Name: name, Serves: true, Starves: true, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
			return func(context.Context) error { return p.ns.Heal() }, cut()
		}})
	}
	RunRow(t, Row{
		Number: 13, Name: "partition",
		Settings: p.settings(t),
		Prepare: func(ctx context.Context, r *Run) error {
			p.moves(r, r.Workers[1])
			if err := r.alive(ctx, 2); err != nil {
				return err
			}
			r.Workers[0].Stop()
			if err := r.alive(ctx, 1); err != nil {
				return err
			}
			return w.begin(ctx, r.newUploads())
		},
		Faults: []Fault{
			fault("worker to Postgres dropped", p.toPostgres), fault("Postgres to worker dropped", p.fromPostgres),
			fault("worker to Temporal dropped", p.toTemporal), fault("the worker's link down", p.down),
		},
		During: func(ctx context.Context, r *Run) error { return r.missed(ctx, 0) },
		Hold:   holdFor(10 * time.Second),
		After:  func(ctx context.Context, _ *Run) error { return w.finished(ctx) },
	})
}

// partition is a network namespace that processes of the product run in, and what
// they reach from there.
type partition struct {
	ns       *netns.Namespace
	db       *cluster.Cluster
	temporal *grpcproxy.Proxy
}

// settings make it, where that can be, for a row that was asked for.
func (p *partition) settings(t *testing.T) func(s *Settings) {
	t.Helper()
	return func(s *Settings) {
		t.Helper()
		mustNotSkip(t)
		if missing := netns.Missing(); missing != "" {
			t.Skip(missing)
		}
		p.ns = netns.New(t, os.Getpid()%200)
		lightly(&s.Load)
		p.db = cluster.Start(t, cluster.Options{Allow: p.ns.Subnet})
		s.Env = append(s.Env, "DATABASE_URL="+p.db.URL())
		s.Route = func(st *stacktest.Stack) []string {
			var err error
			p.temporal, err = grpcproxy.ListenAt(t.Context(), p.ns.Host, st.Value("TEMPORAL_ADDRESS"), s.Seed)
			require.NoError(t, err)
			t.Cleanup(func() { _ = p.temporal.Close() })
			return nil
		}
	}
}

// moves lets a process go on inside. It does without files, which it could not reach.
func (p *partition) moves(r *Run, process *stacktest.Process, env ...string) {
	r.t.Helper()
	process.Stop()
	process.Use(p.ns.Program(stacktest.Binary(r.t, "taskloom")))
	inside := []string{"DATABASE_URL=" + p.db.URLAt(p.ns.Host), "TEMPORAL_ADDRESS=" + p.temporal.Addr(), "METRICS_ADDR=127.0.0.1:9090"}
	for _, e := range r.Env() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "S3_") {
			inside = append(inside, name+"=")
		}
	}
	process.Start(append(inside, env...)...)
}

func (p *partition) toPostgres() error   { return p.ns.DropTo(p.db.Port) }
func (p *partition) fromPostgres() error { return p.ns.DropFrom(p.db.Port) }
func (p *partition) down() error         { return p.ns.Down() }

func (p *partition) toTemporal() error {
	_, port, err := net.SplitHostPort(p.temporal.Addr())
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	return errors.Join(err, p.ns.DropTo(number))
}

// missed checks that a worker that is cut off no longer counts as one that can take
// work: as many are left.
func (r *Run) missed(ctx context.Context, left int) error {
	ctx, cancel := context.WithTimeout(ctx, missedWithin)
	defer cancel()
	if err := r.alive(ctx, left); err != nil {
		r.Violate("a worker that is cut off still counts as one that can take work: %v", err)
	}
	return nil
}

// alive waits until that many workers count as able to take work.
func (r *Run) alive(ctx context.Context, n int) error {
	const missedBeats = 6 * time.Second // three, as serve has it
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	for {
		have, err := r.Store().WorkersAlive(ctx, workflows.TaskQueue, missedBeats)
		if err == nil && have == n {
			return nil
		}
		if wait(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("%d workers are alive instead of %d (%w)", have, n, errors.Join(ctx.Err(), err))
		}
	}
}

// must ends the test when the row itself cannot go on.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}
