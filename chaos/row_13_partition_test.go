package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
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
// connections stay open. The API is served on, a worker that is cut off is
// missed within fifteen seconds, and everything goes on after the heal.
func TestRow13Partition(t *testing.T) {
	row := Row{Number: 13}
	row.skip(t)
	mustNotSkip(t)
	if missing := netns.Missing(); missing != "" {
		t.Skip(missing)
	}
	ns := netns.New(t, os.Getpid()%200)
	var db *cluster.Cluster
	var temporal *grpcproxy.Proxy
	fault := func(name string, inject func() error) Fault {
		return Fault{Name: name, Serves: true, Starves: true, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
			return func(context.Context) error { return ns.Heal() }, inject()
		}}
	}
	RunRow(t, Row{
		Number: 13, Name: "partition",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			db = cluster.Start(t, cluster.Options{Allow: ns.Subnet})
			s.Env = append(s.Env, "DATABASE_URL="+db.URL())
			s.Route = func(st *stacktest.Stack) []string {
				var err error
				temporal, err = grpcproxy.ListenAt(t.Context(), ns.Host, st.Value("TEMPORAL_ADDRESS"), s.Seed)
				require.NoError(t, err)
				t.Cleanup(func() { _ = temporal.Close() })
				return nil
			}
		},
		Prepare: func(ctx context.Context, r *Run) error {
			r.workInside(ns, "DATABASE_URL="+db.URLAt(ns.Host), "TEMPORAL_ADDRESS="+temporal.Addr())
			for _, w := range r.Workers {
				w.Stop()
			}
			return r.alive(ctx, 1)
		},
		Faults: []Fault{
			fault("worker to Postgres dropped", func() error { return ns.DropTo(db.Port) }),
			fault("Postgres to worker dropped", func() error { return ns.DropFrom(db.Port) }),
			fault("worker to Temporal dropped", func() error { return ns.DropTo(portOf(t, temporal.Addr())) }),
			fault("the worker's link down", ns.Down),
		},
		During: func(ctx context.Context, r *Run) error {
			ctx, cancel := context.WithTimeout(ctx, missedWithin)
			defer cancel()
			if err := r.alive(ctx, 0); err != nil {
				r.Violate("a worker that is cut off still counts as one that can take work: %v", err)
			}
			return nil
		},
		Hold: holdFor(10 * time.Second),
	})
}

// workInside runs a worker in the namespace until the test is over.
func (r *Run) workInside(ns *netns.Namespace, env ...string) {
	r.t.Helper()
	log := must(os.Create(filepath.Join(r.Dir, "worker-inside.log")))(r.t)
	cmd := ns.Command(stacktest.Binary(r.t, "taskloom"), "worker")
	// It needs no files, and could not reach them.
	cmd.Env = slices.DeleteFunc(r.Env(), func(e string) bool { return strings.HasPrefix(e, "S3_") })
	cmd.Env = append(append(cmd.Env, "METRICS_ADDR=127.0.0.1:9090"), env...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(r.t, cmd.Start())
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if raw, err := os.ReadFile(log.Name()); err == nil && r.t.Failed() {
			r.t.Logf("last lines of the worker inside:\n%s", raw[max(0, len(raw)-3000):])
		}
	})
	require.NoError(r.t, r.alive(r.t.Context(), 3))
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

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return must(strconv.Atoi(port))(t)
}
