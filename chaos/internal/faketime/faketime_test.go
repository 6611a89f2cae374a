package faketime

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheClockIsMovedWhileAProgramRuns(t *testing.T) {
	t.Parallel()
	if missing := Missing(); missing != "" {
		t.Skip(missing)
	}
	c := New(t, -10*time.Minute)
	// One process that tells the time of every line it reads.
	cmd := exec.CommandContext(t.Context(), "perl", "-e", `$| = 1; while (<STDIN>) { print time(), "\n" }`)
	cmd.Env = append(os.Environ(), c.Env()...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	ask := func() time.Time {
		_, err := in.Write([]byte("\n"))
		require.NoError(t, err)
		line := make([]byte, 32)
		n, err := out.Read(line)
		require.NoError(t, err)
		unix, err := strconv.ParseInt(strings.TrimSpace(string(line[:n])), 10, 64)
		require.NoError(t, err)
		return time.Unix(unix, 0)
	}
	for _, by := range []time.Duration{-10 * time.Minute, 10 * time.Minute, 0, -time.Second} {
		c.Set(by)
		require.Equal(t, by, c.By())
		require.WithinDuration(t, time.Now().Add(by), ask(), 2*time.Second)
	}
}

func TestWhatTheClockShowed(t *testing.T) {
	t.Parallel()
	c := New(t, -time.Minute)
	before := time.Now()
	c.Set(time.Minute)
	during := c.steps[1].began
	for moment, want := range map[time.Time][2]time.Duration{
		before:                    {-time.Minute, -time.Minute},
		during:                    {-time.Minute, time.Minute},
		time.Now():                {time.Minute, time.Minute},
		before.Add(-time.Hour):    {-time.Minute, -time.Minute},
		time.Now().Add(time.Hour): {time.Minute, time.Minute},
	} {
		earliest, latest := c.At(moment)
		require.Equal(t, moment.Add(want[0]), earliest)
		require.Equal(t, moment.Add(want[1]), latest)
	}
}
