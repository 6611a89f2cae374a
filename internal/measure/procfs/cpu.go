package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is Linux's unit of CPU time towards programs, on every architecture.
const tick = 10 * time.Millisecond

// Process is the CPU time of one process, with all its threads.
type Process struct {
	Parent int
	// Own is its own time, Reaped that of children which have ended.
	Own, Reaped time.Duration
}

// Table is every process of the machine at one moment.
type Table map[int]Process

// Read looks at all processes. One that ends meanwhile is left out.
func Read() (Table, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	t := Table{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		p, err := parseStat(string(raw))
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		t[pid] = p
	}
	return t, nil
}

// Tree is the CPU time of a process and of all that descends from it.
func (t Table) Tree(root int) time.Duration {
	var sum time.Duration
	for _, pid := range t.Family(root) {
		sum += t[pid].Own + t[pid].Reaped
	}
	return sum
}

// Family is a process and all that descends from it, itself first.
func (t Table) Family(root int) []int {
	children := map[int][]int{}
	for pid, p := range t {
		children[p.Parent] = append(children[p.Parent], pid)
	}
	family := []int{root}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family
}

// parseStat reads /proc/pid/stat: what follows the name, which may hold
// anything, is separated by spaces.
func parseStat(line string) (Process, error) {
	const parent, own, reaped, enough = 1, 11, 13, 15
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	if end < 0 || len(fields) < enough {
		return Process{}, fmt.Errorf("%q is no line of a process", line)
	}
	var n [enough]int64
	for _, i := range []int{parent, own, own + 1, reaped, reaped + 1} {
		v, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return Process{}, fmt.Errorf("field %d of %q is no number", i, line)
		}
		n[i] = v
	}
	return Process{
		Parent: int(n[parent]), Own: time.Duration(n[own]+n[own+1]) * tick, Reaped: time.Duration(n[reaped]+n[reaped+1]) * tick,
	}, nil
}

// Busy is the time that all cores together have worked since the machine
// started, for whomever.
func Busy() (time.Duration, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read CPU time of the machine: %w", err)
	}
	return parseBusy(string(raw))
}

// parseBusy adds the first line up without idling and waiting for disks, and
// without guests, which count as user time already.
func parseBusy(stat string) (time.Duration, error) {
	const idle, iowait, guest = 3, 4, 8
	first, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(first)
	if len(fields) < guest || fields[0] != "cpu" {
		return 0, fmt.Errorf("%q is no line of all cores", first)
	}
	var sum time.Duration
	for i, f := range fields[1:] {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("field %d of %q is no number", i, first)
		}
		if i != idle && i != iowait && i < guest {
			sum += time.Duration(v) * tick
		}
	}
	return sum, nil
}
