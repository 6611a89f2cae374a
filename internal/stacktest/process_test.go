package stacktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program is a process that says in which run it is and then stays.
func program(t *testing.T) *Process {
	t.Helper()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	return newProcess(t, filepath.Join(t.TempDir(), "log"), sh,
		[]string{"-c", `echo "runs with ${EXTRA:-nothing}"; exec sleep 600`}, []string{"PATH=" + os.Getenv("PATH")})
}

func runs(p *Process) int { return strings.Count(p.Log(), "runs with") }

func waitForRuns(t *testing.T, p *Process, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return runs(p) == n }, 10*time.Second, 5*time.Millisecond)
}

func TestAKilledProcessComesBack(t *testing.T) {
	t.Parallel()
	p := program(t)
	p.Start()
	waitForRuns(t, p, 1)
	first := p.Pid()
	p.Kill()
	waitForRuns(t, p, 2)
	require.NotEqual(t, first, p.Pid())
}

func TestAHaltedProcessStaysAway(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Process){"Halt": (*Process).Halt, "Stop": (*Process).Stop} {
		p := program(t)
		p.Start("EXTRA=this")
		waitForRuns(t, p, 1)
		end(p)
		require.NoDirExists(t, "/proc/"+strconv.Itoa(p.Pid()), name)
		p.Start()
		waitForRuns(t, p, 2)
		require.Equal(t, "runs with this\nruns with nothing\n", p.Log(), name)
		p.Stop()
		p.Stop()
	}
}

func TestAProcessStartsAgainAsItWas(t *testing.T) {
	t.Parallel()
	p := program(t)
	p.Start("EXTRA=this")
	waitForRuns(t, p, 1)
	p.StartAgain() // runs
	p.Halt()
	p.StartAgain()
	waitForRuns(t, p, 2)
	require.Equal(t, "runs with this\nruns with this\n", p.Log())
	p.Signal(syscall.SIGKILL) // not by Kill: it comes back all the same
	waitForRuns(t, p, 3)
	p.Stop()
	p.Signal(syscall.SIGKILL)
}

func TestAProcessRunsAnotherProgramFromItsNextStart(t *testing.T) {
	t.Parallel()
	p := program(t)
	p.Start()
	waitForRuns(t, p, 1)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("#!/bin/sh\necho other; exec sleep 600\n"), 0o755))
	p.Use(other)
	require.Equal(t, 1, runs(p))
	p.Kill()
	require.Eventually(t, func() bool { return strings.HasSuffix(p.Log(), "other\n") }, 10*time.Second, 5*time.Millisecond)
}

func TestMemoryOfAProcess(t *testing.T) {
	t.Parallel()
	m := MemoryOf(t, os.Getpid())
	require.Greater(t, m.Now, int64(1<<20))
	require.GreaterOrEqual(t, m.Peak, m.Now)
}

func TestParseMemory(t *testing.T) {
	t.Parallel()
	m, err := parseMemory("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t1\n")
	require.NoError(t, err)
	require.Equal(t, Memory{Now: 1 << 20, Peak: 2 << 20}, m)
	m, err = parseMemory("Name:\tx\nState:\tZ (zombie)\n")
	require.NoError(t, err)
	require.Zero(t, m)
	_, err = parseMemory("VmRSS: lots\n")
	require.ErrorContains(t, err, "VmRSS")
}

func TestRootIsTheRepository(t *testing.T) {
	t.Parallel()
	require.FileExists(t, filepath.Join(Root(t), "internal", "stacktest", "parts.go"))
}

// Whoever is started again each time would not miss a process that ends by
// itself.
func TestADeathAtWorkIsCounted(t *testing.T) {
	t.Parallel()
	p := program(t)
	p.Start()
	waitForRuns(t, p, 1)
	p.Kill()
	waitForRuns(t, p, 2)
	p.Signal(syscall.SIGTERM)
	waitForRuns(t, p, 3)
	require.Zero(t, p.Deaths(), "those were ours")
	require.NoError(t, syscall.Kill(p.Pid(), syscall.SIGKILL))
	waitForRuns(t, p, 4)
	require.Equal(t, 1, p.Deaths(), "somebody else's, though it had hardly begun")
	p.age(2 * atWork)
	require.NoError(t, syscall.Kill(p.Pid(), syscall.SIGKILL))
	waitForRuns(t, p, 5)
	require.Equal(t, 2, p.Deaths())
	p.Stop()
	require.Equal(t, -1, p.ExitCode(), "sleep knows no SIGTERM")
}

// age lets the present run have begun so long ago.
func (p *Process) age(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = time.Now().Add(-by)
}

// Who cannot start ends with 1, a program of Go that panics with 2.
func TestAnEarlyDeathIsCountedUnlessItCouldNotStart(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	for code, want := range map[string]struct{ early, late int }{"0": {1, 1}, "1": {0, 1}, "2": {1, 1}} {
		p := newProcess(t, filepath.Join(t.TempDir(), "log"), sh,
			[]string{"-c", `trap 'exit ` + code + `' USR1; echo "runs with it"; while :; do sleep 0.01; done`}, []string{"PATH=" + os.Getenv("PATH")})
		p.Start()
		waitForRuns(t, p, 1)
		p.age(0)
		require.True(t, p.Signal(syscall.SIGUSR1))
		waitForRuns(t, p, 2)
		require.Equal(t, want.early, p.Deaths(), "code %s at once", code)
		p.age(2 * atWork)
		require.True(t, p.Signal(syscall.SIGUSR1))
		waitForRuns(t, p, 3)
		require.Equal(t, want.late, p.Deaths()-want.early, "code %s at work", code)
		p.Stop()
	}
}

func TestAnExitCodeIsKept(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	for _, code := range []string{"0", "3"} {
		p := newProcess(t, filepath.Join(t.TempDir(), "log"), sh,
			[]string{"-c", `trap 'exit ` + code + `' TERM; echo "runs with it"; while :; do sleep 0.01; done`}, []string{"PATH=" + os.Getenv("PATH")})
		p.Start()
		waitForRuns(t, p, 1)
		p.Stop()
		require.Equal(t, code, strconv.Itoa(p.ExitCode()))
	}
}
