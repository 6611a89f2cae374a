package stacktest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory is what a process holds in main memory, in bytes: now, and the most
// it ever had since it started.
type Memory struct{ Now, Peak int64 }

// Memory returns what the present run holds.
func (p *Process) Memory() Memory {
	p.t.Helper()
	return MemoryOf(p.t, p.Pid())
}

// MemoryOf returns what a process holds: one of the parts, say.
func MemoryOf(t testing.TB, pid int) Memory {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	m, err := parseMemory(string(raw))
	require.NoError(t, err)
	return m
}

// parseMemory reads the lines `VmRSS:     4096 kB` and `VmHWM: …`. A process
// that has just died has none; it holds nothing.
func parseMemory(status string) (m Memory, err error) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.Now
		case "VmHWM":
			into = &m.Peak
		default:
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("read %s of a process: %w", name, err)
		}
		*into = kb << 10
	}
	return m, nil
}
