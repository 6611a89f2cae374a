// Package faketime moves the clock of programs that read it through libc, while
// they run: of Postgres, say. Programs in Go read it past libc and keep theirs.
// It needs libfaketime (Debian: faketime).
package faketime

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Clock is the clock of the programs that run with its Env: the machine's, moved
// by an offset. What measures durations (CLOCK_MONOTONIC) goes on evenly.
type Clock struct {
	t         testing.TB
	dir, file string

	mu    sync.Mutex
	steps []step
}

// step is one change of the offset. It took effect at some moment between began
// and ended.
type step struct {
	began, ended time.Time
	by           time.Duration
}

// library is where Debian has it, on every architecture.
func library() string {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// Missing says what is not here that a Clock needs, "" when all is.
func Missing() string {
	if library() == "" {
		return "libfaketime is missing; make system CHAOS=yes installs it"
	}
	return ""
}

// New makes a clock that is moved by an offset of whole seconds. Its file goes
// with the test.
func New(t testing.TB, by time.Duration) *Clock {
	t.Helper()
	// A directory that other accounts can enter: servers have their own.
	dir, err := os.MkdirTemp("/var/tmp", "taskloom-clock-") //nolint:usetesting // TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	c := &Clock{t: t, dir: dir, file: filepath.Join(dir, "offset")}
	c.Set(by)
	return c
}

// Env are NAME=value for a program that is to have this clock.
func (c *Clock) Env() []string {
	return []string{
		"LD_PRELOAD=" + library(), "FAKETIME_TIMESTAMP_FILE=" + c.file,
		// The file is read at every look at the clock.
		"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1",
	}
}

// Set moves the clock to the machine's plus an offset of whole seconds, at once.
func (c *Clock) Set(by time.Duration) {
	c.t.Helper()
	began := time.Now()
	next := c.file + ".next"
	// By renaming: a file that is half written would be no offset.
	require.NoError(c.t, os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int64(by/time.Second)), 0o600))
	require.NoError(c.t, os.Chmod(next, 0o644))
	require.NoError(c.t, os.Rename(next, c.file))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = append(c.steps, step{began, time.Now(), by})
}

// By is the offset now.
func (c *Clock) By() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps[len(c.steps)-1].by
}

// At returns what the clock showed at a moment of the machine's, at the earliest
// and at the latest: they differ only where the offset was just being changed.
func (c *Clock) At(moment time.Time) (earliest, latest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, after := c.steps[0].by, c.steps[0].by
	for _, s := range c.steps[1:] {
		if !moment.Before(s.ended) {
			before, after = s.by, s.by
		} else if !moment.Before(s.began) {
			after = s.by
		}
	}
	return moment.Add(min(before, after)), moment.Add(max(before, after))
}
