// Package stacktest gives tests the whole product as production runs it:
// Postgres, Temporal and S3 of their own, which come back when they die, and
// `taskloom serve` and `taskloom worker` as processes that a test can kill,
// stop and start again. A test that needs a database only takes
// internal/dbtest, which is far cheaper.
package stacktest

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/measure/process"
	"github.com/taskloom/taskloom/internal/store"
)

// startDeadline bounds every wait for a part or a process.
const startDeadline = 60 * time.Second

// Options say what to start.
type Options struct {
	// Document is applied before the processes start (docs/apply.md); nothing
	// is applied when it is empty.
	Document []byte
	// Env are NAME=value settings for every command and process, ServeEnv and
	// WorkerEnv for that process alone.
	Env, ServeEnv, WorkerEnv []string
	// Connections is Postgres' max_connections; 0 is the usual 200.
	Connections int
	// Binary is the program that the processes run, bin/taskloom when empty: a
	// build with a bug in it, say.
	Binary string
	// Route is called when the parts run and the database is migrated, before
	// the processes start, and returns more settings for the one and the other:
	// a DATABASE_URL that leads through a proxy, say.
	Route func(s *Stack) (serve, worker []string)
}

// Stack is a running product. It ends with its test.
type Stack struct {
	// URL is where the API listens: http://127.0.0.1:41234.
	URL string
	// Dir is the stack's directory, with a log of every process.
	Dir string
	// Applied is what Options.Document made.
	Applied Applied
	Serve   *Process
	Worker  *Process

	t        testing.TB
	binary   string
	env      []string
	store    func() *store.Store
	temporal func() client.Client
}

// Start brings up a stack and waits until all of it is ready.
func Start(t testing.TB, o Options) *Stack {
	t.Helper()
	for _, name := range []string{"taskloom", "taskloom-dev"} {
		require.FileExists(t, Binary(t, name), "run `make build` first; `make test` does")
	}
	// A directory that the unprivileged user of Postgres can enter.
	dir, err := os.MkdirTemp("/var/tmp", "taskloom-stack-") //nolint:usetesting // TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))

	s := &Stack{t: t, Dir: dir, binary: cmp.Or(o.Binary, Binary(t, "taskloom"))}
	s.env = append(startParts(t, dir, o.Connections), o.Env...)
	s.URL = "http://" + s.Value("ADDR")
	s.store = sync.OnceValue(s.openStore)
	s.temporal = sync.OnceValue(s.openTemporal)
	s.Taskloom(nil, "migrate")
	if len(o.Document) > 0 {
		s.Applied = s.Apply(o.Document)
	}
	if o.Route != nil {
		serve, worker := o.Route(s)
		o.ServeEnv, o.WorkerEnv = slices.Concat(o.ServeEnv, serve), slices.Concat(o.WorkerEnv, worker)
	}
	s.Serve = s.Run("serve", []string{"serve"}, o.ServeEnv...)
	s.Worker = s.Run("worker", []string{"worker"}, append([]string{"METRICS_ADDR=" + s.Value("WORKER_METRICS_ADDR")}, o.WorkerEnv...)...)
	s.WaitReady()
	return s
}

// Env returns the environment that makes every taskloom command work with this
// stack.
func (s *Stack) Env() []string { return slices.Clone(s.env) }

// Value returns a variable of Env, "" when it is not there.
func (s *Stack) Value(name string) string {
	for _, e := range slices.Backward(s.env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// Run keeps one more process of the product running: a second worker, say. Its
// log is Dir/NAME.log.
func (s *Stack) Run(name string, args []string, env ...string) *Process {
	s.t.Helper()
	p := newProcess(s.t, filepath.Join(s.Dir, name+".log"), s.binary, args, s.env)
	p.Start(env...)
	return p
}

// WaitReady waits until the API says that all parts are there.
func (s *Stack) WaitReady() {
	s.t.Helper()
	c := &http.Client{Timeout: 5 * time.Second}
	require.Eventually(s.t, func() bool {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+"/readyz", http.NoBody)
		if err != nil {
			return false
		}
		res, err := c.Do(req)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, startDeadline, 50*time.Millisecond, "the API is not ready; logs in %s", s.Dir)
}

// Store is the stack's database, past the API: for looking, and for the kind of
// change that no door of the product allows.
func (s *Stack) Store() *store.Store { return s.store() }

// Temporal is a client of the stack's Temporal server.
func (s *Stack) Temporal() client.Client { return s.temporal() }

// FreeAddr is an address of this machine that nobody listens on.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := process.FreeAddr(t.Context())
	require.NoError(t, err)
	return addr
}

func (s *Stack) openStore() *store.Store {
	s.t.Helper()
	st, err := store.Open(s.t.Context(), s.Value("DATABASE_URL"), store.Options{MaxConns: 4})
	require.NoError(s.t, err)
	s.t.Cleanup(st.Close)
	return st
}

func (s *Stack) openTemporal() client.Client {
	s.t.Helper()
	tc, err := client.NewLazyClient(client.Options{HostPort: s.Value("TEMPORAL_ADDRESS"), Logger: silent{}})
	require.NoError(s.t, err)
	s.t.Cleanup(tc.Close)
	return tc
}

// silent keeps the Temporal client's talk about broken connections out of the
// test's output.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
