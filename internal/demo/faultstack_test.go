package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/store"
)

// stack is the product as production runs it: Postgres, Temporal and S3 that
// come back when they die, and the API and the worker as processes that this
// test brings back.
type stack struct {
	t    *testing.T
	dir  string
	env  []string
	addr string
	db   string
	st   *store.Store
	tc   client.Client

	serve, worker *process
}

const (
	binary    = "../../bin/taskloom"
	binaryDev = "../../bin/taskloom-dev"
	// startDeadline bounds every wait for a part.
	startDeadline = 60 * time.Second
)

func newStack(t *testing.T) *stack {
	t.Helper()
	for _, b := range []string{binary, binaryDev} {
		require.FileExists(t, b, "run `make build` first; `make test` does")
	}
	dev, err := filepath.Abs(binaryDev)
	require.NoError(t, err)
	// A directory that the unprivileged user of Postgres can enter.
	dir, err := os.MkdirTemp("/var/tmp", "taskloom-fault-") //nolint:usetesting // TempDir is closed to other users
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	s := &stack{t: t, dir: dir}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	// The command under exec prints its environment and waits for its input
	// to end: that is how long the parts live.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), dev, "exec", "--dir", dir, "--restart", "--", "sh", "-c", "env; echo READY; cat >/dev/null")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	log := &logBuffer{}
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Logf("parts: %v\n%s", err, log)
		}
	})
	s.readEnv(out)
	s.migrate()
	s.serve = startProcess(t, dir, "serve", s.env)
	s.worker = startProcess(t, dir, "worker", append(s.env, "METRICS_ADDR="+s.value("WORKER_METRICS_ADDR")))
	s.ready()
	return s
}

func (s *stack) readEnv(out io.Reader) {
	s.t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "READY" {
		if name, _, ok := strings.Cut(lines.Text(), "="); ok && strings.ToUpper(name) == name {
			s.env = append(s.env, lines.Text())
		}
	}
	require.NoError(s.t, lines.Err())
	s.addr, s.db = "http://"+s.value("ADDR"), s.value("DATABASE_URL")
	require.NotEmpty(s.t, s.db, "the parts did not start; see the log above")
}

func (s *stack) value(name string) string {
	for _, e := range s.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

func (s *stack) migrate() {
	s.t.Helper()
	for _, args := range [][]string{{"migrate"}, {"apply", "-f", "-", "--output", "json"}} {
		cmd := exec.CommandContext(s.t.Context(), binary, args...)
		cmd.Env, cmd.Stdin = s.env, bytes.NewReader(Document)
		out, err := cmd.CombinedOutput()
		require.NoError(s.t, err, "%v: %s", args, out)
	}
	var err error
	s.st, err = store.Open(s.t.Context(), s.db, store.Options{MaxConns: 4})
	require.NoError(s.t, err)
	s.t.Cleanup(s.st.Close)
	s.tc, err = client.NewLazyClient(client.Options{HostPort: s.value("TEMPORAL_ADDRESS"), Logger: silent{}})
	require.NoError(s.t, err)
	s.t.Cleanup(s.tc.Close)
}

// ready waits until the API says that all parts are there.
func (s *stack) ready() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.addr+"/readyz", http.NoBody)
		if err != nil {
			return false
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, startDeadline, 50*time.Millisecond, "the API is not ready; logs in %s", s.dir)
}

// pid returns the process of one of the parts.
func (s *stack) pid(part string) int {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, part+".pid"))
	require.NoError(s.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(s.t, err)
	return pid
}

// process is a command of the product that is started again when it is
// killed.
type process struct {
	t    *testing.T
	name string
	env  []string
	log  *os.File

	mu      sync.Mutex
	cmd     *exec.Cmd
	stopped bool
	done    chan struct{}
}

func startProcess(t *testing.T, dir, name string, env []string) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	require.NoError(t, err)
	p := &process{t: t, name: name, env: env, log: log, done: make(chan struct{})}
	require.NoError(t, p.start())
	go p.keep()
	t.Cleanup(p.stop)
	return p
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.CommandContext(context.Background(), binary, p.name)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, p.log, p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd = cmd
	return cmd.Start()
}

// keep brings the process back until stop.
func (p *process) keep() {
	defer close(p.done)
	for {
		_ = p.cmd.Wait() // it was killed, as planned
		p.mu.Lock()
		stopped := p.stopped
		p.mu.Unlock()
		if stopped {
			return
		}
		if err := p.start(); err != nil {
			p.t.Errorf("restart %s: %v", p.name, err)
			return
		}
	}
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Kill()
}

func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-time.After(startDeadline):
		p.t.Errorf("%s did not stop within %s of SIGTERM", p.name, startDeadline)
		p.kill()
		<-p.done
	}
	if p.t.Failed() {
		if raw, err := os.ReadFile(p.log.Name()); err == nil {
			p.t.Logf("last lines of %s:\n%s", p.name, tail(raw))
		}
	}
	_ = p.log.Close()
}

func tail(raw []byte) []byte {
	const most = 4000
	return raw[max(0, len(raw)-most):]
}

// logBuffer collects output of a process.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// silent keeps the Temporal client's talk about broken connections out of the
// test's output.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

// command runs the product's command line and decodes its JSON.
func (s *stack) command(out any, args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), binary, args...)
	cmd.Env = s.env
	raw, err := cmd.Output()
	require.NoError(s.t, err, "%v: %s", args, raw)
	require.NoError(s.t, json.Unmarshal(raw, out), "%s", raw)
}
