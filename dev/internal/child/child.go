package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Spec says how to run one long-lived process.
type Spec struct {
	Name string
	Path string
	Args []string
	Env  []string
	Dir  string
	// As is the account to run under; nil means ours.
	As *syscall.Credential
	// Orphan is the signal that the kernel sends when the supervisor dies.
	Orphan syscall.Signal
	// Stop is how to end it: signals in order, each with its patience.
	Stop []Stop
	// Log is the file that stdout and stderr are appended to, Pid the pid file.
	Log, Pid string
	// Reports gives the process a pipe as descriptor ReportFD on which it says
	// what it is doing and, at last, that it is ready.
	Reports bool
}

// Stop is one step in ending a process: a signal and how long it may take.
type Stop struct {
	Signal   syscall.Signal
	Patience time.Duration
}

// Child is a running process.
type Child struct {
	Spec    Spec
	Started time.Time

	cmd   *exec.Cmd
	done  chan struct{}
	err   error // set before done is closed
	ready chan struct{}
}

// Start runs the process. Each line that it reports goes to doing, which may be nil.
func (s *Spawner) Start(spec Spec, doing func(string)) (*Child, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	defer log.Close()

	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Attr(spec.Orphan, spec.As)
	c := &Child{
		Spec: spec, Started: time.Now(), cmd: cmd,
		done: make(chan struct{}), ready: make(chan struct{}),
	}
	var reports *os.File
	if spec.Reports {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("pipe for %s: %w", spec.Name, err)
		}
		defer write.Close()
		cmd.ExtraFiles, reports = []*os.File{write}, read
	}
	if err := s.start(cmd); err != nil {
		if reports != nil {
			reports.Close()
		}
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if reports != nil {
		go c.listen(reports, doing)
	}
	if err := writePid(spec.Pid, cmd.Process.Pid); err != nil {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait()
		return nil, err
	}
	go c.reap()
	return c, nil
}

// reap waits for the end of the process. What it leaves behind in its group is
// killed before the process is reaped, while the group's number is still its.
func (c *Child) reap() {
	for {
		err := unix.Waitid(unix.P_PID, c.PID(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	killGroup(c.PID())
	c.err = c.cmd.Wait()
	close(c.done)
}

// listen reads what the process reports until it closes the pipe or ends.
func (c *Child) listen(from io.ReadCloser, doing func(string)) {
	defer from.Close()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == reportReady:
			close(c.ready)
			return
		case doing != nil:
			doing(line)
		}
	}
}

// PID is the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Ready is closed when the process has reported that it is ready.
func (c *Child) Ready() <-chan struct{} { return c.ready }

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err says how the process ended; call it after Done only.
func (c *Child) Err() error { return c.err }

// ExitCode is the exit code in the shell's way: 128 + n after signal n.
func (c *Child) ExitCode() int { return exitCode(c.err) }

func exitCode(err error) int {
	var exit *exec.ExitError
	if err == nil {
		return 0
	}
	if !errors.As(err, &exit) {
		return 1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// Halt ends the process by the steps of its Spec, each until its patience is
// over or hurry is closed, and then by SIGKILL. It returns how many steps were
// needed beyond the first.
func (c *Child) Halt(hurry <-chan struct{}) (forced int) {
	return c.halt(func(signal syscall.Signal) { _ = c.cmd.Process.Signal(signal) }, hurry)
}

func (c *Child) halt(send func(syscall.Signal), hurry <-chan struct{}) (forced int) {
	defer os.Remove(c.Spec.Pid)
	for _, step := range c.Spec.Stop {
		select {
		case <-c.done:
			return forced
		default:
			send(step.Signal)
		}
		patience := time.NewTimer(step.Patience)
		select {
		case <-c.done:
			patience.Stop()
			return forced
		case <-patience.C:
		case <-hurry:
			patience.Stop()
		}
		forced++
	}
	send(syscall.SIGKILL)
	<-c.done
	return forced
}

// writePid replaces the pid file in one step: a script never reads half of it.
func writePid(path string, pid int) error {
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.WriteFile(next, []byte(strconv.Itoa(pid)+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the pid file: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("write the pid file: %w", err)
	}
	return nil
}
