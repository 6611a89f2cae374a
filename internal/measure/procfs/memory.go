// Package procfs reads what Linux tells of processes: memory and CPU time.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process holds in main memory, in bytes: now, and the most
// since it started or since ResetPeak.
type Memory struct{ Now, Peak int64 }

// MemoryOf returns what a process holds.
func MemoryOf(pid int) (Memory, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	return parseMemory(string(raw))
}

// ShareOf is what a process holds in main memory, in bytes, with its part of
// what it shares with others: the shares of several processes may be added up.
func ShareOf(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, nil
}

// ResetPeak lets the peak begin anew at what the process holds now.
func ResetPeak(pid int) error {
	const peak = "5" // proc(5), /proc/pid/clear_refs
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peak), 0o200)
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
		kb, ok := strings.CutSuffix(strings.TrimSpace(value), " kB")
		n, err := strconv.ParseInt(kb, 10, 64)
		if !ok || err != nil {
			return Memory{}, fmt.Errorf("%s is %q, not a number of kB", name, value)
		}
		*into = n << 10
	}
	return m, nil
}
