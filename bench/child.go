package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a child has to end after it was asked to.
const stopTimeout = time.Minute

// child is a program that runs beside the bench and never outlives it. Its log
// is a file of its own.
type child struct {
	name, path string
	args, env  []string
	log        string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the present run has ended
}

// newChild prepares a child; start starts it.
func (b *bench) newChild(name, path string, env []string, args ...string) (*child, error) {
	dir, err := b.directory()
	if err != nil {
		return nil, err
	}
	return &child{name: name, path: path, args: args, env: env, log: filepath.Join(dir, name+".log")}, nil
}

// directory is a place for files that goes with the run.
func (b *bench) directory() (string, error) {
	if b.dir != "" {
		return b.dir, nil
	}
	dir, err := os.MkdirTemp("", "taskloom-bench-")
	if err != nil {
		return "", fmt.Errorf("make a temporary directory: %w", err)
	}
	b.dir = dir
	b.later(func() { _ = os.RemoveAll(dir) })
	return dir, nil
}

func (c *child) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", c.name, err)
	}
	defer log.Close() // the child has its own
	cmd := exec.CommandContext(context.Background(), c.path, c.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, log, log
	// In a group of its own, so that Ctrl-C reaches it through us alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // whoever waits for something of it finds out
		close(done)
	}()
	c.cmd, c.done = cmd, done
	return nil
}

// pid is the process of the present run; 0 when there is none.
func (c *child) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return 0
	}
	select {
	case <-c.done:
		return 0
	default:
		return c.cmd.Process.Pid
	}
}

// kill is kill -9; it returns when the process is gone.
func (c *child) kill() { c.end(syscall.SIGKILL) }

// stop asks the process to end and waits until it has. Stopping twice is fine.
func (c *child) stop() { c.end(syscall.SIGTERM) }

func (c *child) end(s syscall.Signal) {
	if c.pid() == 0 {
		return
	}
	_ = c.cmd.Process.Signal(s)
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// complain adds the end of the log to an error.
func (c *child) complain(err error) error {
	const most = 2000
	raw, readErr := os.ReadFile(c.log)
	if err == nil || readErr != nil {
		return err
	}
	return fmt.Errorf("%w\n%s ended its log with:\n%s", err, c.name, bytes.TrimSpace(raw[max(0, len(raw)-most):]))
}

// freeAddr is an address of this machine that nobody listens on.
func freeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

var errEnded = errors.New("the process has ended")
