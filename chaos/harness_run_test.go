package chaos

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/chaos/internal/faketime"
	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
	"github.com/taskloom/taskloom/internal/alerttest"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// Settings of a run besides its load.
type Settings struct {
	Seed uint64
	Load Load
	// Env, ServeEnv and WorkerEnv are NAME=value settings for all processes,
	// for the two of `serve`, for the two of `worker`.
	Env, ServeEnv, WorkerEnv []string
	// Route is called when the parts run, before the processes start, and
	// returns settings that win over all others: a TEMPORAL_ADDRESS that leads
	// through a proxy, say. Nil adds none.
	Route func(s *stacktest.Stack) []string
	// Connections is Postgres' max_connections; 0 is the usual 200.
	Connections int
	// Binary is the program of the processes, bin/taskloom when empty.
	Binary string
	// Clock is that of the database, when it is not the machine's.
	Clock *faketime.Clock
	// RouteEach is Route with settings for the one and for the other.
	RouteEach func(s *stacktest.Stack) (serve, worker []string)
}

// Run is the product under load: two serve, two workers, one Postgres behind
// the ambiguity proxy, Temporal and S3. What it embeds works on it past the
// API. Faults are injected by the test's own goroutine, one at a time.
type Run struct {
	*stacktest.Stack

	Seed    uint64
	Load    Load
	World   *World
	History *History
	// ServeProxy and WorkerProxy are between these processes and Postgres; the
	// test's own connections go around them.
	ServeProxy, WorkerProxy *pgproxy.Proxy
	// Serves and Workers are two each; [0] and [1] are a and b of a schedule.
	Serves, Workers []*stacktest.Process

	t        testing.TB
	settings Settings
	bases    []string          // URLs of Serves
	front    []string          // where clients call: bases, unless a row puts a proxy before them
	metrics  map[string]string // addresses of all processes' metrics, by name
	began    time.Time

	probes *prober
	// before is what people felt before the first fault, openBefore how much
	// of their calls stayed without an answer.
	before     measured
	openBefore float64
	// uploader is set where archives, and admins, are part of the load.
	uploader *uploader
	load     *errgroup.Group
	ctx      context.Context //nolint:containedctx // the load lives as long as the run
	stop     context.CancelFunc
	calm     atomic.Bool   // nothing breaks any more, not even by chance
	home     chan struct{} // closed: people go home
	refill   chan struct{} // closed: no more tasks
	stopped  bool
	// older says that some process was of another version.
	older bool
	// swept says that the sweep has looked at all that was uploaded.
	swept bool

	mu         sync.Mutex
	violations []string
	finished   map[int64]bool
	recoveries []recovery
	faults     map[string]int
	// servePaused is how long a serve stood still at most.
	servePaused time.Duration
}

// startRun brings everything up; the load begins with Work.
func startRun(t testing.TB, s Settings) *Run {
	t.Helper()
	r := &Run{
		Seed: s.Seed, Load: s.Load, World: newWorld(s.Load), History: newHistory(), t: t, settings: s,
		home: make(chan struct{}), refill: make(chan struct{}), finished: map[int64]bool{}, faults: map[string]int{},
	}
	// Ten connections a process: four of them, Temporal and the test share two
	// hundred, where a row has no more (Settings.Connections).
	env := append([]string{"DATABASE_MAX_CONNS=10"}, s.Env...)
	serve := append([]string{"RATE_LIMIT_KEY=off", "RATE_LIMIT_ADDRESS=off", "RATE_LIMIT_FAILED_AUTH=off"}, s.ServeEnv...)
	worker := slices.Clone(s.WorkerEnv)
	route := func(st *stacktest.Stack) (forServe, forWorker []string) {
		r.ServeProxy, forServe = r.proxy(st, 1)
		r.WorkerProxy, forWorker = r.proxy(st, 2)
		if s.Route != nil {
			more := s.Route(st)
			forServe, forWorker = append(forServe, more...), append(forWorker, more...)
		}
		if s.RouteEach != nil {
			moreServe, moreWorker := s.RouteEach(st)
			forServe, forWorker = append(forServe, moreServe...), append(forWorker, moreWorker...)
		}
		serve, worker = append(serve, forServe...), append(worker, forWorker...)
		return forServe, forWorker
	}
	r.Stack = stacktest.Start(t, stacktest.Options{
		Document: r.World.document(t), Connections: s.Connections, Binary: s.Binary, Env: env, ServeEnv: serve, WorkerEnv: worker, Route: route,
	})
	r.World.settle(r.Applied)
	r.prepare()
	second := stacktest.FreeAddr(t)
	r.metrics = map[string]string{
		"serve a": r.Value("METRICS_ADDR"), "serve b": stacktest.FreeAddr(t), "worker a": r.Value("WORKER_METRICS_ADDR"), "worker b": stacktest.FreeAddr(t),
	}
	r.Serves = []*stacktest.Process{r.Serve, r.Stack.Run("serve-b", []string{"serve"},
		append([]string{"ADDR=" + second, "METRICS_ADDR=" + r.metrics["serve b"]}, serve...)...)}
	r.Workers = []*stacktest.Process{r.Worker, r.Stack.Run("worker-b", []string{"worker"},
		append([]string{"METRICS_ADDR=" + r.metrics["worker b"]}, worker...)...)}
	r.bases = []string{r.URL, "http://" + second}
	r.front = r.bases
	r.ctx, r.stop = context.WithCancel(t.Context())
	t.Cleanup(r.stop)
	r.load, r.ctx = errgroup.WithContext(r.ctx)
	r.probes = r.newProber()
	// The first call goes to either server.
	ready, cancel := context.WithTimeout(r.ctx, recoverWithin)
	defer cancel()
	require.NoError(t, r.Ready(ready))
	return r
}

// proxy starts a proxy before Postgres and returns the setting that leads
// through it.
func (r *Run) proxy(s *stacktest.Stack, number uint64) (*pgproxy.Proxy, []string) {
	r.t.Helper()
	u, err := url.Parse(s.Value("DATABASE_URL"))
	require.NoError(r.t, err)
	p, err := pgproxy.Listen(r.t.Context(), u.Host, r.Seed+number)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = p.Close() })
	u.Host = p.Addr()
	return p, []string{"DATABASE_URL=" + u.String()}
}

// processes are those of the product, by name.
func (r *Run) processes() map[string]*stacktest.Process {
	out := map[string]*stacktest.Process{}
	for i := range r.Serves {
		out[fmt.Sprintf("serve %c", 'a'+i)] = r.Serves[i]
	}
	for i := range r.Workers {
		out[fmt.Sprintf("worker %c", 'a'+i)] = r.Workers[i]
	}
	return out
}

// scrape is what all processes tell Prometheus.
func (r *Run) scrape() alerttest.Scrape {
	r.t.Helper()
	s := alerttest.Scrape{}
	for name, addr := range r.metrics {
		s.Add(r.t, name, addr)
	}
	return s
}

// proxies are both of them.
func (r *Run) proxies() []*pgproxy.Proxy { return []*pgproxy.Proxy{r.ServeProxy, r.WorkerProxy} }

// loseShare is how many of the clients' answers are lost.
func (r *Run) loseShare() float64 {
	if r.calm.Load() {
		return 0
	}
	return r.Load.LoseShare
}

// cutShare makes this share of all commits ambiguous.
func (r *Run) cutShare(share float64) {
	for _, p := range r.proxies() {
		p.SetRate(share)
	}
}

// prepare makes leases short, makes task ids tell apart from all others, and
// puts in the switch that delivers outbox rows twice: while it is on, the first
// delete of a row that was delivered only makes it due again within two seconds, so
// that what comes the second time comes in another order, which the seed chooses. It keeps its priority, and so
// its place among its like by when it is due: behind all starts that are newer it could
// wait for as long as people work. And kept counts are not mended,
// as they are every hour: in a long run kept-counts would find nothing, whatever broke
// them. A schema of before them (CHAOS_OLD) has none to mend.
func (r *Run) prepare() {
	r.t.Helper()
	for _, sql := range []string{
		`ALTER TABLE tasks ALTER COLUMN id RESTART WITH 1000000`,
		`CREATE TABLE chaos_switches (twice boolean NOT NULL)`,
		`INSERT INTO chaos_switches VALUES (false)`,
		fmt.Sprintf(`CREATE FUNCTION chaos_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.lease_seconds := %d; RETURN NEW; END $$`,
			r.Load.LeaseSeconds),
		`CREATE TRIGGER chaos_lease BEFORE INSERT ON task_nodes FOR EACH ROW EXECUTE FUNCTION chaos_lease()`,
		`CREATE TABLE chaos_doubles (id bigint PRIMARY KEY)`,
		fmt.Sprintf(`CREATE FUNCTION chaos_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF OLD.attempts = 0 OR NOT (SELECT twice FROM chaos_switches) THEN RETURN OLD; END IF;
			INSERT INTO chaos_doubles VALUES (OLD.id) ON CONFLICT DO NOTHING;
			IF NOT FOUND THEN RETURN OLD; END IF;
			UPDATE outbox SET next_attempt_at = now() + abs(hashint8extended(OLD.id, %d) %% 2000) * interval '1 millisecond', leased_until = NULL WHERE id = OLD.id;
			RETURN NULL;
		END $$`, int64(r.Seed)),
		`CREATE TRIGGER chaos_twice BEFORE DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION chaos_twice()`,
		`DO $$ BEGIN
			IF to_regclass('count_checks') IS NOT NULL THEN UPDATE count_checks SET at = 'infinity'; END IF;
		END $$`,
		// A Postgres that crashes forgets how many dead rows it has, so with a crash
		// every half a minute and a look every minute it would never vacuum.
		`ALTER SYSTEM SET autovacuum_naptime = '5s'`, `SELECT pg_reload_conf()`,
	} { // each by itself: the servers run, and who holds one table and wants another deadlocks with them
		_, err := r.Store().Pool().Exec(r.t.Context(), sql)
		require.NoError(r.t, err)
	}
}

// Work begins the load.
func (r *Run) Work() {
	r.t.Helper()
	r.probes.login(r.ctx)
	r.began = time.Now()
	number := uint64(10)
	for _, o := range r.World.Orgs {
		for i, email := range slices.Concat(o.Contributors, o.Reviewers) {
			number++
			p := &person{client: r.client(o, email, "", number), role: roleContributor, load: r.Load, known: map[string]bool{}}
			if i >= len(o.Contributors) {
				p.role = roleReviewer
			}
			r.load.Go(func() error { return p.live(r.ctx, r.home) })
		}
		number++
		g := &integrator{
			client: r.client(o, "integrator@"+o.Mark+".test", o.Key, number), load: r.Load,
			open: map[int64]string{}, refill: r.refill,
		}
		r.load.Go(func() error { return g.live(r.ctx, r.home) })
	}
	if u := r.uploader; u != nil { // a random run: everybody is there
		r.load.Go(func() error { return u.live(r.ctx, r.home) })
		for i, o := range r.World.Orgs {
			a := &admin{
				client: r.client(o, "admin@"+o.Mark+".test", "", uint64(90+i)), others: []*Organization{r.World.Orgs[1-i], r.World.Probe},
				refill: r.refill,
			}
			for k, email := range o.Visitors {
				a.visitors = append(a.visitors, &person{client: r.client(o, email, "", uint64(200+10*i+k)), role: roleContributor})
			}
			r.load.Go(func() error { return a.live(r.ctx, r.home) })
		}
	}
}

// Violate notes a broken promise. The run goes on, and fails at its end.
func (r *Run) Violate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 200 // the first ones tell, and the first of each promise
	v := fmt.Sprintf(format, args...)
	promise, _, _ := strings.Cut(v, ":")
	seen := slices.ContainsFunc(r.violations, func(other string) bool { return strings.HasPrefix(other, promise+":") })
	if len(r.violations) < most || !seen {
		r.violations = append(r.violations, v)
		r.t.Logf("VIOLATION after %s: %s", time.Since(r.began).Round(time.Millisecond), v)
	}
}

// Violations returns what was noted up to now.
func (r *Run) Violations() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.violations...)
}

func (r *Run) noteFinished(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished[id] = true
}

func (r *Run) finishedBefore(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished[id]
}

// Logf writes a line of the run's story with the time since the load began.
func (r *Run) Logf(format string, args ...any) {
	r.t.Helper()
	r.t.Logf("%8.3fs  %s", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// SQL runs a statement around the proxy, again and again while Postgres is
// away, until ctx ends.
func (r *Run) SQL(ctx context.Context, sql string, args ...any) error {
	for {
		_, err := r.Store().Pool().Exec(ctx, sql, args...)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}

// Count is SQL for one number.
func (r *Run) Count(ctx context.Context, sql string, args ...any) (n int, err error) {
	for {
		err = r.Store().Pool().QueryRow(ctx, sql, args...).Scan(&n)
		if err == nil || ctx.Err() != nil {
			return n, err
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			return n, err
		}
	}
}

// outDir is where a run leaves its schedule and, when it failed, its history.
func outDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CHAOS_OUT")
	if dir == "" {
		dir = filepath.Join(stacktest.Root(t), ".cache", "chaos")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

// verdict ends a run: it prints what happened, keeps the history of a run that
// failed, and fails the test when a promise was broken.
func (r *Run) verdict(name string) {
	r.t.Helper()
	for _, p := range slices.Concat(r.Serves, r.Workers) {
		if n := p.Deaths(); n > 0 {
			r.Violate("a process of the product ended %d times by itself; its log: %s", n, lastWords(p.Log()))
		}
	}
	r.t.Log(r.summary())
	vs := r.Violations()
	if len(vs) == 0 && !r.t.Failed() {
		return
	}
	path := filepath.Join(outDir(r.t), fmt.Sprintf("%s-%d.history.jsonl", name, r.Seed))
	require.NoError(r.t, r.History.Dump(path))
	r.t.Logf("history: %s", path)
	if len(vs) > 0 {
		r.t.Fatalf("%d violations:\n%s", len(vs), strings.Join(vs, "\n"))
	}
}

// lastWords are the lines of a log that tell why a process ended.
func lastWords(log string) string {
	var out []string
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.Contains(line, `"level":"ERROR"`) {
			out = append(out, fmt.Sprintf("%.300s", strings.TrimSpace(line)))
		}
	}
	return strings.Join(out[max(0, len(out)-5):], "; ")
}
