// Package process runs programs beside a measurement: each with a log of its
// own, and none outlives the program that started it.
package process

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
	"sync"
	"syscall"
	"time"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// StopTimeout is how long a process has to end after it was asked to.
const StopTimeout = time.Minute

// ErrEnded says that a process that should be running is not.
var ErrEnded = errors.New("the process has ended")

// Process is a program that is started, and may be started again.
type Process struct {
	Name, Path string
	Dir        string // where it runs; here when empty
	Args, Env  []string
	Log        string // the file that its output is added to

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the present run has ended
}

// Start starts it. The log is added to.
func (p *Process) Start() error { return p.start(nil, nil) }

// StartPiped starts it and returns its input and its output; the log has only
// what it writes to standard error.
func (p *Process) StartPiped() (in io.WriteCloser, out io.ReadCloser, err error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	err = p.start(inRead, outWrite)
	err = errors.Join(err, inRead.Close(), outWrite.Close()) // the process has its own
	return inWrite, outRead, err
}

func (p *Process) start(in, out *os.File) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", p.Name, err)
	}
	defer log.Close() // the process has its own
	cmd := exec.CommandContext(context.Background(), p.Path, p.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.Env, p.Dir, log, log
	if in != nil {
		cmd.Stdin, cmd.Stdout = in, out
	}
	// In a group of its own, so that Ctrl-C reaches it through us alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // whoever waits for something of it finds out
		close(done)
	}()
	p.cmd, p.done = cmd, done
	return nil
}

// Pid is the process of the present run; 0 when there is none.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	select {
	case <-p.done:
		return 0
	default:
		return p.cmd.Process.Pid
	}
}

// Done is closed when the present run has ended; nil when there was none.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Kill is kill -9 of it and of all that it has started; it returns when the
// process is gone.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop asks the process to end and waits until it has. Stopping twice is fine.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(s syscall.Signal) {
	pid := p.Pid()
	if pid == 0 {
		return
	}
	if s == syscall.SIGKILL {
		_ = syscall.Kill(-pid, s)
	}
	_ = p.cmd.Process.Signal(s)
	select {
	case <-p.done:
	case <-time.After(StopTimeout):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // whatever is left of its group
	<-p.done
}

// Complain adds the end of the log to an error.
func (p *Process) Complain(err error) error {
	const most = 2000
	raw, readErr := os.ReadFile(p.Log)
	if err == nil || readErr != nil {
		return err
	}
	return fmt.Errorf("%w\n%s ended its log with:\n%s", err, p.Name, bytes.TrimSpace(raw[max(0, len(raw)-most):]))
}

// Peak is the most main memory that it held since the last ResetPeak, in bytes.
func (p *Process) Peak() (int64, error) {
	held, err := procfs.MemoryOf(p.Pid())
	return held.Peak, err
}

// ResetPeak lets the peak begin anew.
func (p *Process) ResetPeak() error { return procfs.ResetPeak(p.Pid()) }

// AwaitOK waits until a GET of url answers 200, as long as ctx lasts and the
// process lives. The client bounds a single request.
func (p *Process) AwaitOK(ctx context.Context, c *http.Client, url string) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		status, err := get(ctx, c, url)
		switch {
		case status == http.StatusOK:
			return nil
		case p.Pid() == 0:
			return p.Complain(fmt.Errorf("%s: %w", p.Name, ErrEnded))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return p.Complain(fmt.Errorf("%s does not answer 200: %d, %w", url, status, errors.Join(err, ctx.Err())))
		}
	}
}

func get(ctx context.Context, c *http.Client, url string) (int, error) {
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

// FreeAddr is an address of this machine that nobody listens on.
func FreeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
