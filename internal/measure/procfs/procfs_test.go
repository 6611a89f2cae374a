package procfs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		want   Memory
		bad    bool
	}{
		"both":    {status: "Name:\tx\nVmHWM:\t    8 kB\nVmRSS:\t    4 kB\n", want: Memory{Now: 4096, Peak: 8192}},
		"parts":   {status: "VmRSS:\t 12 kB\nRssAnon:\t 4 kB\nRssFile:\t 6 kB\nRssShmem:\t 2 kB\n", want: Memory{Now: 12 << 10, Own: 4 << 10, Files: 6 << 10, Shared: 2 << 10}},
		"dead":    {status: "Name:\tx\nState:\tZ (zombie)\n"},
		"no unit": {status: "VmRSS:\t4\n", bad: true},
		"no size": {status: "VmRSS:\tmany kB\n", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseMemory(c.status)
			require.Equal(t, c.bad, err != nil)
			require.Equal(t, c.want, got)
		})
	}
}

func TestParseFreeMemory(t *testing.T) {
	t.Parallel()
	free, err := parseFreeMemory("MemTotal:  12 kB\nMemFree:   8 kB\nMemAvailable: 9 kB\n")
	require.NoError(t, err)
	require.Equal(t, int64(8<<10), free)
	_, err = parseFreeMemory("MemTotal:  12 kB\n")
	require.ErrorContains(t, err, "MemFree")
	_, err = parseFreeMemory("MemFree:  many kB\n")
	require.ErrorContains(t, err, "many kB")
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	got, err := parseStat("7 (a ) (b) S 3 7 7 0 -1 4194560 1 2 3 4 100 50 7 3 20 0 1 0 5 6 7\n")
	require.NoError(t, err)
	require.Equal(t, Process{Parent: 3, Own: 1500 * time.Millisecond, Reaped: 100 * time.Millisecond}, got)
	for _, bad := range []string{"", "7 (x) S 3", "7 (x) S p 7 7 0 -1 4194560 1 2 3 4 100 50 7 3 20 0"} {
		_, err := parseStat(bad)
		require.Error(t, err, bad)
	}
}

func TestParseBusy(t *testing.T) {
	t.Parallel()
	got, err := parseBusy("cpu  100 10 50 9999 888 1 2 3 70 8\ncpu0 1\n")
	require.NoError(t, err)
	require.Equal(t, 1660*time.Millisecond, got)
	for _, bad := range []string{"", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 x 4 5 6 7 8"} {
		_, err := parseBusy(bad)
		require.Error(t, err, bad)
	}
}

func TestTreeCountsDescendants(t *testing.T) {
	t.Parallel()
	table := Table{
		1: {Own: time.Hour},
		5: {Parent: 1, Own: time.Second, Reaped: 2 * time.Second},
		6: {Parent: 5, Own: 4 * time.Second},
		9: {Parent: 6, Own: 8 * time.Second},
	}
	require.Equal(t, 15*time.Second, table.Tree(5))
	require.Zero(t, table.Tree(77))
	require.Equal(t, []int{5, 6, 9}, table.Family(5))
}

func TestOfThisMachine(t *testing.T) {
	t.Parallel()
	m, err := MemoryOf(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, m.Now)
	require.GreaterOrEqual(t, m.Peak, m.Now)
	require.Positive(t, m.Own)
	require.Equal(t, m.Now, m.Own+m.Files+m.Shared)

	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, cmd.Start())
	both := Together([]int{os.Getpid(), cmd.Process.Pid})
	require.Greater(t, both, m.Own)
	require.NoError(t, ResetPeak(cmd.Process.Pid))
	table, err := Read()
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), table[cmd.Process.Pid].Parent)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed, as planned
	busy, err := Busy()
	require.NoError(t, err)
	require.Positive(t, busy)
}
