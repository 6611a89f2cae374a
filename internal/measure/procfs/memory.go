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
type Memory struct {
	Now, Peak int64
	// Own, Files and Shared make up Now: what is its own, pages of files, and what
	// processes share in memory.
	Own, Files, Shared int64
}

// MemoryOf returns what a process holds.
func MemoryOf(pid int) (Memory, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	return parseMemory(string(raw))
}

// Together is what processes hold in main memory that share with each other, in
// bytes: what is each one's own, and of the rest what the process holds that has
// most of it. Pages that a child has not written since it was forked count as its
// own, and of files only the largest share counts, so it is no exact figure. It reads counters; adding up proportional shares (smaps) would have
// the kernel walk all pages of each process, 0.4 s for the fifty of a Postgres.
// A process that has just died holds nothing.
func Together(pids []int) int64 {
	var own, files, shared int64
	for _, pid := range pids {
		if m, err := MemoryOf(pid); err == nil {
			own, files, shared = own+m.Own, max(files, m.Files), max(shared, m.Shared)
		}
	}
	return own + files + shared
}

// ResetPeak lets the peak begin anew at what the process holds now.
func ResetPeak(pid int) error {
	const peak = "5" // proc(5), /proc/pid/clear_refs
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peak), 0o200)
}

// parseMemory reads the lines `VmRSS:     4096 kB`, `VmHWM: …` and the parts of
// VmRSS. A process that has just died has none; it holds nothing.
func parseMemory(status string) (m Memory, err error) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.Now
		case "VmHWM":
			into = &m.Peak
		case "RssAnon":
			into = &m.Own
		case "RssFile":
			into = &m.Files
		case "RssShmem":
			into = &m.Shared
		default:
			continue
		}
		if *into, err = parseKB(name, value); err != nil {
			return Memory{}, err
		}
	}
	return m, nil
}

// FreeMemory is the main memory that nobody uses, not for files either, in bytes.
func FreeMemory() (int64, error) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read free memory: %w", err)
	}
	return parseFreeMemory(string(raw))
}

// parseFreeMemory reads the line `MemFree:   4096 kB`.
func parseFreeMemory(meminfo string) (int64, error) {
	const free = "MemFree"
	for line := range strings.Lines(meminfo) {
		if name, value, _ := strings.Cut(line, ":"); name == free {
			return parseKB(name, value)
		}
	}
	return 0, fmt.Errorf("/proc/meminfo has no line %s", free)
}

// parseKB reads `  4096 kB` as bytes.
func parseKB(name, value string) (int64, error) {
	kb, ok := strings.CutSuffix(strings.TrimSpace(value), " kB")
	n, err := strconv.ParseInt(kb, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s is %q, not a number of kB", name, value)
	}
	return n << 10, nil
}
