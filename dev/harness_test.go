package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
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

	"github.com/taskloom/taskloom/dev/internal/envfile"
)

const (
	startPatience = 60 * time.Second
	stopPatience  = 40 * time.Second
)

// home is a directory like the root of the repository, with a state directory
// and an address of its own.
type home struct {
	root, state, addr string
	as                *syscall.Credential // who runs taskloom-dev; nil: we
	stdin             *os.File            // for the next process; nil: none
}

// newHome makes a home that everybody may enter, so that Postgres can run
// under an account of its own when the tests run as root.
func newHome(t *testing.T) *home {
	t.Helper()
	root, err := os.MkdirTemp("", "taskloom-test-") //nolint:usetesting // t.TempDir lies in a directory that its owner alone may enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o755))
	for _, dir := range []string{"bin", "dev"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	script := fmt.Sprintf("#!/bin/sh\nexport %s=taskloom\nexec %s \"$@\"\n", asVar, self)
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "taskloom"), []byte(script), 0o755))
	demo, err := os.ReadFile("demo.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "dev", "demo.yaml"), demo, 0o644))
	return &home{root: root, state: filepath.Join(root, ".dev"), addr: freeAddr(t)}
}

// freeAddr is an address that was free a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// process is a taskloom-dev under test.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
}

// output collects what a process prints and wakes up who waits for it.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// dev starts taskloom-dev in the home with more variables in its environment.
func (h *home) dev(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return h.start(t, self, env, args...)
}

func (h *home) start(t *testing.T, program string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, out: &output{changed: make(chan struct{}, 1)}, done: make(chan struct{})}
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir = h.root
	p.cmd.Env = append(os.Environ(), asVar+"=taskloom-dev", "DEV_DIR="+h.state, "ADDR="+h.addr)
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if h.stdin != nil {
		p.cmd.Stdin = h.stdin
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: h.as}
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of %v:\n%s", args, p.out)
		}
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// up starts the product and waits for its banner.
func (h *home) up(t *testing.T, env ...string) *process {
	t.Helper()
	p := h.dev(t, env, "up")
	p.waitFor("Ctrl-C stops everything")
	return p
}

// waitFor waits until the process has printed something.
func (p *process) waitFor(text string) {
	p.t.Helper()
	deadline := time.NewTimer(startPatience)
	defer deadline.Stop()
	for !strings.Contains(p.out.String(), text) {
		select {
		case <-p.out.changed:
		case <-p.done:
			if !strings.Contains(p.out.String(), text) {
				require.Failf(p.t, "ended early", "waited for %q; it printed:\n%s", text, p.out)
			}
		case <-deadline.C:
			require.Failf(p.t, "took too long", "waited for %q; it printed:\n%s", text, p.out)
		}
	}
}

// exit waits for the end of the process and returns its exit code.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(stopPatience):
		require.Failf(p.t, "does not end", "it printed:\n%s", p.out)
		return -1
	}
}

// interrupt is Ctrl-C.
func (p *process) interrupt() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGINT))
}

// env reads the environment file.
func (h *home) env(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.state, "env"))
	require.NoError(t, err)
	return envfile.Parse(string(text))
}

// pid reads a part's pid file.
func (h *home) pid(t *testing.T, part string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.state, part+".pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// kill kills one part, as hard as can be.
func (h *home) kill(t *testing.T, part string) {
	t.Helper()
	require.NoError(t, syscall.Kill(h.pid(t, part), syscall.SIGKILL))
}

// processes lists what runs for this home: whatever has it in its command
// line, its environment or its working directory.
func (h *home) processes(t *testing.T) []string {
	t.Helper()
	var found []string
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(line) == 0 { // gone, or a zombie
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(line)+string(environ)+cwd, h.root) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// goneSoon waits until no process of the home is left.
func (h *home) goneSoon(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(h.processes(t)) == 0 }, 20*time.Second, 50*time.Millisecond,
		"processes are left: %v", lazy(func() string { return strings.Join(h.processes(t), "\n") }))
}

// lazy is a message that is made when it is printed.
type lazy func() string

func (l lazy) String() string { return l() }

// eventually retries do until it succeeds.
func eventually(t *testing.T, what string, do func() error) {
	t.Helper()
	err := errors.New("not tried")
	require.Eventually(t, func() bool {
		err = do()
		return err == nil
	}, 30*time.Second, 50*time.Millisecond, "%s: %v", what, lazy(func() string { return fmt.Sprint(err) }))
}
