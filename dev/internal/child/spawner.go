// Package child runs the processes of a stack so that none of them outlives
// it: each one gets a signal from the kernel when the supervisor dies, has a
// process group of its own, appends to a log and says in a pid file who it is.
package child

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Spawner starts every process from one OS thread that never ends. The
// parent-death signal is tied to the thread that forked, not to the process:
// a child started from a thread that Go retires later would be killed then.
type Spawner struct {
	calls chan func()
}

// NewSpawner returns a Spawner; its thread lives as long as the program.
func NewSpawner() *Spawner {
	s := &Spawner{calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for call := range s.calls {
			call()
		}
	}()
	return s
}

func (s *Spawner) start(cmd *exec.Cmd) error {
	started := make(chan error)
	s.calls <- func() { started <- cmd.Start() }
	return <-started
}

// Attr is what every process of a stack starts with: its own process group, so
// that Ctrl-C in a terminal reaches the supervisor alone, and the signal that
// it gets when the supervisor is gone.
func Attr(orphan syscall.Signal, as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphan, Credential: as}
}

// Run starts cmd and waits for it. When ctx ends first the whole process group
// is killed.
func (s *Spawner) Run(ctx context.Context, cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = Attr(syscall.SIGKILL, nil)
	}
	if err := s.start(cmd); err != nil {
		return err
	}
	var ended error
	done := make(chan struct{})
	go func() {
		ended = cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		return ended
	case <-ctx.Done():
		killGroup(cmd.Process.Pid)
		<-done
		return ctx.Err()
	}
}

// killGroup ends a process group at once; one that is gone already is fine.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}

// How says in words how a process ended: "exit status 1", "signal: killed".
func How(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "exit status 0"
	case errors.As(err, &exit):
		return exit.ProcessState.String()
	default:
		return fmt.Sprint(err)
	}
}
