package stacktest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "module github.com/taskloom/taskloom\n"

// Root returns the directory of the repository, from the package under test.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(raw, []byte(module)) {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "the test does not run within the repository")
		dir = parent
	}
}

// Binary returns the path of a program that `make build` made.
func Binary(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(Root(t), "bin", name)
}

// Planted builds the product with the bugs of internal/planted in it.
func Planted(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "taskloom")
	cmd := exec.CommandContext(t.Context(), "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-tags", "planted", "-o", program, "./cmd/taskloom")
	cmd.Dir = Root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// startParts runs Postgres, Temporal and S3 until the test is over and returns
// the environment that names them. connections is Postgres' max_connections, 0
// the usual.
func startParts(t testing.TB, dir string, connections int) []string {
	t.Helper()
	// The command under exec prints its environment and waits for its input to
	// end: that is how long the parts live.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), Binary(t, "taskloom-dev"),
		"exec", "--dir", dir, "--restart", "--connections", strconv.Itoa(connections), "--", "sh", "-c", `env -0; printf 'READY\0'; cat >/dev/null`)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	log := &logBuffer{}
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("parts: %v\n%s", err, tail([]byte(log.String())))
		}
	})
	env, ready := readEnv(t, out)
	require.True(t, ready, "the parts did not start:\n%s", log)
	return env
}

// readEnv reads what `env -0` prints, up to READY.
func readEnv(t testing.TB, out io.Reader) (env []string, ready bool) {
	t.Helper()
	for r := bufio.NewReader(out); ; {
		pair, err := r.ReadString(0)
		if err != nil {
			return env, false
		}
		pair = strings.TrimSuffix(pair, "\x00")
		if pair == "READY" {
			return env, true
		}
		env = append(env, pair)
	}
}

// Pid returns the process of a part: postgres, temporal or s3.
func (s *Stack) Pid(part string) int {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Dir, part+".pid"))
	require.NoError(s.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(s.t, err)
	return pid
}

// Signal sends a signal to a part, which is brought back when it dies of it, and
// reports whether there was one. A part that is dead already is left alone.
func (s *Stack) Signal(part string, sig syscall.Signal) bool {
	s.t.Helper()
	return syscall.Kill(s.Pid(part), sig) == nil
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

// tail keeps a log that is shown to a size that is read.
func tail(raw []byte) []byte {
	const most = 4000
	return raw[max(0, len(raw)-most):]
}
