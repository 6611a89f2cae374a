package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// Fault is something that breaks, and how it is healed.
type Fault struct {
	// Name says it in the run's story: "kill -9 of worker a".
	Name string
	// Inject breaks it and returns at once with what heals it: nil where it
	// heals by itself. An error says that it could not be broken, and ends the
	// run: it is never a violation.
	Inject func(ctx context.Context, r *Run) (heal func(ctx context.Context) error, err error)
	// During runs once it is broken, before the time for which it is held
	// begins; nil where there is nothing to see. It calls r.Violate for a
	// broken promise.
	During func(ctx context.Context, r *Run) error
	// Serves says that clients are served on while it is broken: their calls
	// go on being acknowledged, or it is a violation. Rows look at it.
	Serves bool
	// Starves says that no worker moves tasks on meanwhile, so that clients run
	// out of work: what is asked of them is that something is acknowledged.
	Starves bool
	// Hold and Deadline are those of this fault alone; the row's when 0.
	Hold, Deadline time.Duration
}

// errMissed says that there was nothing to break: the fault does not count. It comes
// from who breaks, and then nothing is healed, or from who heals.
var errMissed = errors.New("there was nothing to break")

// The targets of a schedule.
const (
	targetA    = "a"
	targetB    = "b"
	targetBoth = "both"
)

var oneOrBoth = []string{targetA, targetB, targetBoth}

// chosen are the processes that a target names.
func chosen(of []*stacktest.Process, target string) []*stacktest.Process {
	switch target {
	case targetA:
		return of[:1]
	case targetB:
		return of[1:2]
	}
	return of
}

// ServeKilled is kill -9 of serve processes; they stay away until healed.
func ServeKilled(target string) Fault {
	return Fault{Name: "kill -9 of serve " + target, Serves: target != targetBoth, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		return halt(chosen(r.Serves, target)), nil
	}}
}

// WorkerKilled is kill -9 of worker processes; they stay away until healed.
func WorkerKilled(target string) Fault {
	return Fault{
		Name: "kill -9 of worker " + target, Serves: true, Starves: target == targetBoth,
		Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
			return halt(chosen(r.Workers, target)), nil
		},
	}
}

func halt(ps []*stacktest.Process) func(context.Context) error {
	for _, p := range ps {
		p.Halt()
	}
	return func(context.Context) error {
		for _, p := range ps {
			p.StartAgain()
		}
		return nil
	}
}

// ServePaused is SIGSTOP of serve processes, SIGCONT heals: what they were at
// goes on as if nothing had happened.
func ServePaused(target string) Fault {
	return Fault{Name: "SIGSTOP of serve " + target, Serves: target != targetBoth, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		began := time.Now()
		heal, err := suspend(chosen(r.Serves, target))
		return func(ctx context.Context) error {
			err := heal(ctx)
			r.stoodStill(began)
			return err
		}, err
	}}
}

// stoodStill notes that a serve did so since then: see lateBy.
func (r *Run) stoodStill(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servePaused = max(r.servePaused, time.Since(since))
}

// WorkerPaused is SIGSTOP of worker processes, SIGCONT heals.
func WorkerPaused(target string) Fault {
	return Fault{
		Name: "SIGSTOP of worker " + target, Serves: true, Starves: target == targetBoth,
		Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
			return suspend(chosen(r.Workers, target))
		},
	}
}

func suspend(ps []*stacktest.Process) (heal func(context.Context) error, err error) {
	err = errMissed // where another fault holds all of them down
	for _, p := range ps {
		if p.Signal(syscall.SIGSTOP) {
			err = nil
		}
	}
	return func(context.Context) error {
		for _, p := range ps {
			p.Signal(syscall.SIGCONT)
		}
		return nil
	}, err
}

// PartKilled sends SIGKILL to postgres, temporal or s3, which its supervisor
// starts again. Postgres may get SIGQUIT instead: an immediate stop.
func PartKilled(part string, sig syscall.Signal) Fault {
	return Fault{
		Name: fmt.Sprintf("%s of %s", signalName(sig), part), Serves: part != partPostgres,
		Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
			if !r.Signal(part, sig) {
				return nil, errMissed
			}
			return nil, nil //nolint:nilnil // its supervisor heals it
		},
	}
}

// PartPaused is SIGSTOP of temporal or s3: connections stay, nobody answers.
func PartPaused(part string) Fault {
	return Fault{Name: "SIGSTOP of " + part, Serves: true, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		return pauseProcess(r.Pid(part))
	}}
}

// pauseProcess sends SIGSTOP, and SIGCONT to heal. A process that another fault has
// killed is missed; one that is killed while it stands still needs no healing.
func pauseProcess(pid int) (heal func(context.Context) error, err error) {
	switch err := syscall.Kill(pid, syscall.SIGSTOP); {
	case errors.Is(err, syscall.ESRCH):
		return nil, errMissed
	case err != nil:
		return nil, fmt.Errorf("pause process %d: %w", pid, err)
	}
	return func(context.Context) error {
		if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil
	}, nil
}

// A part may be killed just before it is paused, or while it is.
func TestWhoIsKilledNeedsNoHealing(t *testing.T) {
	t.Parallel()
	sleeps := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, sleeps.Start())
	heal, err := pauseProcess(sleeps.Process.Pid)
	require.NoError(t, err)
	require.NoError(t, sleeps.Process.Kill())
	require.Error(t, sleeps.Wait())
	require.NoError(t, heal(t.Context()))
	_, err = pauseProcess(sleeps.Process.Pid)
	require.ErrorIs(t, err, errMissed)
}

// PartAway kills a part and keeps what would start it again from doing so until
// it is healed.
func PartAway(part string) Fault {
	return Fault{Name: part + " away", Serves: part != partPostgres, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		pid := r.Pid(part)
		keeper, err := parentOf(pid)
		if err == nil {
			err = syscall.Kill(keeper, syscall.SIGSTOP)
		}
		if err != nil {
			return nil, fmt.Errorf("hold what keeps %s: %w", part, err)
		}
		r.t.Cleanup(func() { _ = syscall.Kill(keeper, syscall.SIGCONT) }) // or the end of the test would wait for it
		return func(context.Context) error { return syscall.Kill(keeper, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGKILL)
	}}
}

// parentOf is who started a process.
func parentOf(pid int) (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if s, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strconv.Atoi(strings.TrimSpace(s))
		}
	}
	return 0, fmt.Errorf("process %d names no parent", pid)
}

// The parts of a stack.
const (
	partPostgres = "postgres"
	partTemporal = "temporal"
	partS3       = "s3"
)

func signalName(sig syscall.Signal) string {
	if sig == syscall.SIGQUIT {
		return "immediate stop"
	}
	return "kill -9"
}

// BackendsKilled ends n connections in Postgres, Temporal's among them: those at places
// that the seed chooses, in the order of programs and of age.
func BackendsKilled(n int, seed uint64) Fault {
	return Fault{Name: fmt.Sprintf("pg_terminate_backend of %d", n), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		ended, err := r.Count(ctx, `SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
			ORDER BY hashint8extended(row_number() OVER (ORDER BY datname, application_name, backend_start, pid), $2) LIMIT $1) b`, n, int64(seed))
		if err == nil && ended == 0 {
			err = errMissed
		}
		return nil, err
	}}
}

// The processes that a proxy stands before.
const (
	ofServe  = "serve"
	ofWorker = "worker"
)

var serveOrWorker = []string{ofServe, ofWorker}

func (r *Run) proxyOf(of string) *pgproxy.Proxy {
	if of == ofWorker {
		return r.WorkerProxy
	}
	return r.ServeProxy
}

// ConnectionsCut cuts all connections of serve or of worker to Postgres.
func ConnectionsCut(of string) Fault {
	return Fault{Name: "all connections of " + of + " to Postgres cut", Serves: true, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		r.proxyOf(of).Sever()
		return nil, nil //nolint:nilnil // the processes connect again
	}}
}

// CommitsCut makes the next n commits of serve or of worker ambiguous. With all, it has
// broken nothing unless each of them came, however many others the proxy cuts by chance.
func CommitsCut(of string, where pgproxy.Cut, n int, all bool) Fault {
	name := fmt.Sprintf("%d connections of %s cut %s their commit", n, of, where)
	return Fault{Name: name, Serves: true, Starves: of == ofWorker, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
		p := r.proxyOf(of)
		p.CutNext(where, n)
		return func(context.Context) error {
			defer p.CutNext(pgproxy.None, 0)
			if left := p.Pending(); left == n || all && left > 0 {
				return errMissed // nobody committed, or too few did
			}
			return nil
		}, nil
	}}
}

// DeliveredTwice lets every outbox row be delivered twice while it holds.
func DeliveredTwice() Fault {
	return Fault{Name: "outbox rows delivered twice", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			return r.SQL(ctx, `UPDATE chaos_switches SET twice = false`)
		}, r.SQL(ctx, `UPDATE chaos_switches SET twice = true`)
	}}
}

// randomFault is a kind of fault with what a schedule may choose about it.
type randomFault struct {
	name    string
	weight  int
	hold    span // milliseconds
	count   span
	targets []string
	fault   func(s Step) Fault
}

// randomFaults is the table that schedules draw from. Names stay: files of
// schedules have them. The order matters to what a seed leads to.
var randomFaults = []randomFault{
	{"kill serve", 4, span{0, 1500}, span{}, oneOrBoth, func(s Step) Fault { return ServeKilled(s.Target) }},
	{"kill worker", 5, span{0, 3000}, span{}, oneOrBoth, func(s Step) Fault { return WorkerKilled(s.Target) }},
	{"kill temporal", 2, span{}, span{}, nil, func(Step) Fault { return PartKilled(partTemporal, syscall.SIGKILL) }},
	{"stop postgres", 3, span{}, span{}, nil, func(Step) Fault { return PartKilled(partPostgres, syscall.SIGQUIT) }},
	{"kill postgres", 2, span{}, span{}, nil, func(Step) Fault { return PartKilled(partPostgres, syscall.SIGKILL) }},
	{"pause serve", 4, span{500, 7000}, span{}, oneOrBoth, func(s Step) Fault { return ServePaused(s.Target) }},
	{"pause worker", 3, span{500, 7000}, span{}, oneOrBoth, func(s Step) Fault { return WorkerPaused(s.Target) }},
	{"pause temporal", 2, span{500, 5000}, span{}, nil, func(Step) Fault { return PartPaused(partTemporal) }},
	{"kill backends", 4, span{}, span{1, 12}, nil, func(s Step) Fault { return BackendsKilled(s.Count, s.Seed) }},
	{"terminate runs", 3, span{}, span{1, 10}, nil, func(s Step) Fault { return RunsTerminated(s.Count, 1, s.Seed) }},
	{"reset runs", 3, span{}, span{1, 5}, nil, func(s Step) Fault { return RunsReset(s.Count, 1, s.Seed) }},
	{"deliver twice", 3, span{500, 4000}, span{}, nil, func(Step) Fault { return DeliveredTwice() }},
	{"kill s3", 1, span{}, span{}, nil, func(Step) Fault { return PartKilled(partS3, syscall.SIGKILL) }},
	{"cut before commits", 3, span{200, 2000}, span{1, 20}, serveOrWorker, func(s Step) Fault { return CommitsCut(s.Target, pgproxy.Before, s.Count, false) }},
	{"cut after commits", 3, span{200, 2000}, span{1, 20}, serveOrWorker, func(s Step) Fault { return CommitsCut(s.Target, pgproxy.After, s.Count, false) }},
	{"cut connections", 2, span{}, span{}, serveOrWorker, func(s Step) Fault { return ConnectionsCut(s.Target) }},
}

func findFault(kind string) (randomFault, bool) {
	i := slices.IndexFunc(randomFaults, func(f randomFault) bool { return f.name == kind })
	if i < 0 {
		return randomFault{}, false
	}
	return randomFaults[i], true
}
