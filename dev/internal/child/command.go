package child

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// StartCommand runs a command of the caller's: it keeps our stdin, stdout and
// stderr. A terminal's stdin is withheld, since a process outside the
// terminal's foreground group is stopped when it reads from it.
func (s *Spawner) StartCommand(spec Spec, withhold bool) (*Child, error) {
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	if !withhold {
		cmd.Stdin = os.Stdin
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = Attr(spec.Orphan, spec.As)
	c := &Child{Spec: spec, Started: time.Now(), cmd: cmd, done: make(chan struct{}), ready: make(chan struct{})}
	if err := s.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if err := writePid(spec.Pid, cmd.Process.Pid); err != nil {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait()
		return nil, err
	}
	go c.reap()
	return c, nil
}

// HaltGroup is Halt with signals for the whole process group, as a terminal
// sends them.
func (c *Child) HaltGroup(hurry <-chan struct{}) {
	c.halt(func(signal syscall.Signal) { _ = syscall.Kill(-c.PID(), signal) }, hurry)
}
