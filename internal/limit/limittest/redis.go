// Package limittest gives tests a real Redis that they can kill, start again
// and make hang.
package limittest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startDeadline bounds the wait for an answer to the first PING,
// answerDeadline that for any one answer.
const (
	startDeadline  = 20 * time.Second
	answerDeadline = 5 * time.Second
)

// Redis is a redis-server on a port of its own that keeps nothing.
type Redis struct {
	t    testing.TB
	path string
	port string
	cmd  *exec.Cmd
}

// NewRedis starts a server that lives as long as the test.
func NewRedis(t testing.TB) *Redis {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	require.NoError(t, err, "the tests of rate limits need redis-server; `make system` installs it")
	r := &Redis{t: t, path: path, port: freePort(t)}
	t.Cleanup(r.Kill)
	r.Start()
	return r
}

// URL is where the server listens, in its database 0.
func (r *Redis) URL() string { return "redis://127.0.0.1:" + r.port + "/0" }

// Start starts the server, again after Kill, and waits until it answers.
func (r *Redis) Start() {
	r.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(r.t.Context()), r.path, //nolint:gosec // found in PATH
		"--port", r.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", r.t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(r.t, cmd.Start())
	r.cmd = cmd
	require.Eventually(r.t, r.answers, startDeadline, 10*time.Millisecond, "redis-server does not answer at port %s", r.port)
}

// Kill ends the server without a goodbye.
func (r *Redis) Kill() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was killed
	r.cmd = nil
}

// Do sends one command of words without spaces and returns the first line of
// the answer.
func (r *Redis) Do(command string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), answerDeadline)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+r.port)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerDeadline)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line), err
}

func (r *Redis) answers() bool {
	answer, err := r.Do("PING")
	return err == nil && answer == "+PONG"
}

// Hanging is the URL of a Redis that takes connections and never answers.
func Hanging(t testing.TB) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var held []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			held = append(held, conn)
		}
		for _, conn := range held {
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return "redis://" + l.Addr().String()
}

// freePort is a port that nobody listens at.
func freePort(t testing.TB) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}
