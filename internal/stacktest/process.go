package stacktest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// restartPause keeps a process that cannot start from being tried in a busy
	// loop.
	restartPause = 100 * time.Millisecond
	// atWork is how long a process has run that has begun to work. Ending before with
	// cannotStart is how it says that it cannot start, because Postgres is away for
	// example.
	atWork      = 5 * time.Second
	cannotStart = 1
)

// Process is a program that is started again whenever it dies, until it is
// stopped.
type Process struct {
	t    testing.TB
	path string
	args []string
	env  []string
	log  *os.File

	mu     sync.Mutex
	last   []string // what the last Start was given
	cmd    *exec.Cmd
	killed bool          // by us: no reason to pause before it is back
	began  time.Time     // the present run
	deaths int           // not by us, and not for want of what it needs to start
	exit   int           // of the last run that ended, -1 when a signal ended it
	wanted bool          // a death is followed by a new start
	down   chan struct{} // closed when nobody brings it back any more
}

// newProcess prepares a process; Start starts it. It is stopped when the test
// is over, and its last lines are shown when the test failed.
func newProcess(t testing.TB, log, path string, args, env []string) *Process {
	t.Helper()
	f, err := os.Create(log)
	require.NoError(t, err)
	p := &Process{t: t, path: path, args: args, env: env, log: f}
	t.Cleanup(func() {
		p.Stop()
		if raw, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("last lines of %s:\n%s", filepath.Base(log), tail(raw))
		}
		_ = f.Close()
	})
	return p
}

// Start starts a process that is stopped, with these NAME=value settings on top
// of its environment; those of an earlier start are gone.
func (p *Process) Start(env ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.False(p.t, p.wanted, "%s is running; stop it first", p.path)
	p.last = slices.Clone(env)
	full := append(slices.Clone(p.env), env...)
	require.NoError(p.t, p.launch(full))
	p.wanted, p.down = true, make(chan struct{})
	go p.keep(full, p.cmd, p.down)
}

// Use lets the next start, also that after a death, run another program: another
// version of the product.
func (p *Process) Use(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.path = path
}

// StartAgain starts a process that is stopped as it was started last; one that
// runs is left alone.
func (p *Process) StartAgain() {
	p.t.Helper()
	p.mu.Lock()
	wanted, env := p.wanted, p.last
	p.mu.Unlock()
	if !wanted {
		p.Start(env...)
	}
}

// Signal sends a signal to the present run, such as SIGSTOP and SIGCONT, and
// reports whether there was one. A process that is stopped or just dead is left
// alone.
func (p *Process) Signal(sig syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted {
		return false
	}
	p.killed = p.killed || sig == syscall.SIGKILL || sig == syscall.SIGTERM
	return p.cmd.Process.Signal(sig) == nil
}

// Wanted reports whether the process is to run: it was started, and nobody has
// stopped it since.
func (p *Process) Wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// AtWork reports whether the present run has lasted longer than one that cannot
// start, so that a process that ends again and again is never at work.
func (p *Process) AtWork() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted && time.Since(p.began) > atWork
}

// Deaths is how often the process ended by itself, or by somebody's signal that did not
// come from here: a panic at its start, too, and not that it could not start. It was
// started again each time, so nobody else may have noticed.
func (p *Process) Deaths() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deaths
}

// launch wants mu held.
func (p *Process) launch(env []string) error {
	cmd := exec.CommandContext(context.Background(), p.path, p.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, p.log, p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd, p.killed, p.began = cmd, false, time.Now()
	return cmd.Start()
}

// keep brings the process back until it is not wanted any more.
func (p *Process) keep(env []string, cmd *exec.Cmd, down chan struct{}) {
	defer close(down)
	for {
		_ = cmd.Wait() // it was killed or stopped, as planned
		p.mu.Lock()
		p.exit = cmd.ProcessState.ExitCode()
		killed := p.killed
		early := p.exit == cannotStart && time.Since(p.began) <= atWork
		if p.wanted && !killed && !early {
			p.deaths++
		}
		p.mu.Unlock()
		if !killed {
			<-time.After(restartPause)
		}
		p.mu.Lock()
		if !p.wanted {
			p.mu.Unlock()
			return
		}
		err := p.launch(env)
		cmd = p.cmd
		p.mu.Unlock()
		if err != nil {
			p.t.Errorf("restart %s: %v", p.path, err)
			return
		}
	}
}

// Kill is kill -9; the process comes back at once.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	_ = p.cmd.Process.Kill()
}

// Halt is kill -9, and the process stays away until Start.
func (p *Process) Halt() {
	p.t.Helper()
	if down := p.unwant(syscall.SIGKILL); down != nil {
		<-down
	}
}

// Stop asks the process to end, waits until it has, and leaves it so until
// Start. Stopping twice is fine.
func (p *Process) Stop() {
	p.t.Helper()
	down := p.unwant(syscall.SIGTERM)
	if down == nil {
		return
	}
	select {
	case <-down:
	case <-time.After(startDeadline):
		p.t.Errorf("%s did not stop within %s of SIGTERM", p.path, startDeadline)
		p.Kill()
		<-down
	}
}

// unwant sends a last signal; nil when the process is stopped already.
func (p *Process) unwant(sig syscall.Signal) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted {
		return nil
	}
	p.wanted, p.killed = false, true
	_ = p.cmd.Process.Signal(sig)
	return p.down
}

// ExitCode is that of the last run that ended: 0 in order, -1 by a signal.
func (p *Process) ExitCode() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Pid returns the process id of the present run.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Log returns what the process has written, over all its runs.
func (p *Process) Log() string {
	p.t.Helper()
	raw, err := os.ReadFile(p.log.Name())
	require.NoError(p.t, err)
	return string(raw)
}
