package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// stopTimeout is how long a child has to end after it was asked to.
	stopTimeout = 30 * time.Second
	// readyTimeout bounds the start of a server.
	readyTimeout = 2 * time.Minute
)

var errEnded = errors.New("the process has ended")

// child is a program that runs beside this one and never outlives it. Its log
// is a file of its own; its output is one as well unless it is piped.
type child struct {
	name, path string
	dir        string
	args, env  []string
	log        string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the present run has ended
}

// newChild prepares a child; start starts it.
func (r *room) newChild(name, path string, env []string, args ...string) *child {
	return &child{name: name, path: path, args: args, env: env, log: filepath.Join(r.dir, name+".log")}
}

func (c *child) start() error { return c.launch(nil, nil) }

// piped starts the child and returns its input and output.
func (c *child) piped() (in io.WriteCloser, out io.ReadCloser, err error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	err = c.launch(inRead, outWrite)
	err = errors.Join(err, inRead.Close(), outWrite.Close()) // the child has its own
	return inWrite, outRead, err
}

func (c *child) launch(in, out *os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", c.name, err)
	}
	defer log.Close() // the child has its own
	cmd := exec.CommandContext(context.Background(), c.path, c.args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, log, log
	if in != nil {
		cmd.Stdin, cmd.Stdout = in, out
	}
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

// kill is kill -9 of the whole group; it returns when the process is gone.
func (c *child) kill() { c.end(syscall.SIGKILL) }

// stop asks the process to end and waits until it has. Stopping twice is fine.
func (c *child) stop() { c.end(syscall.SIGTERM) }

func (c *child) end(s syscall.Signal) {
	pid := c.pid()
	if pid == 0 {
		return
	}
	if s == syscall.SIGKILL {
		_ = syscall.Kill(-pid, s)
	}
	_ = c.cmd.Process.Signal(s)
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // whatever it has left behind
	<-c.done
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

// awaitOK waits for a 200 of a child.
func awaitOK(ctx context.Context, of *child, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c := &http.Client{Timeout: 5 * time.Second}
	defer c.CloseIdleConnections()
	for {
		status, err := getStatus(ctx, c, url)
		switch {
		case status == http.StatusOK:
			return nil
		case of.pid() == 0:
			return of.complain(fmt.Errorf("%s: %w", of.name, errEnded))
		}
		if waited := wait(ctx, 50*time.Millisecond); waited != nil {
			return of.complain(fmt.Errorf("%s does not answer 200: %d, %w", url, status, errors.Join(err, waited)))
		}
	}
}

func getStatus(ctx context.Context, c *http.Client, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
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

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
