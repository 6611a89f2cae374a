package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is Linux's unit of CPU time towards programs, on every architecture.
const tick = 10 * time.Millisecond

// process is the CPU time of one process with all its threads: its own, and
// that of children which have ended.
type process struct {
	parent      int
	own, reaped time.Duration
}

// processes is every process of the machine at one moment.
type processes map[int]process

func readProcesses() (processes, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := processes{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		p, err := parseStat(string(raw))
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		all[pid] = p
	}
	return all, nil
}

// tree is the CPU time of a process and of all that descends from it.
func (all processes) tree(root int) time.Duration {
	children := map[int][]int{}
	for pid, p := range all {
		children[p.parent] = append(children[p.parent], pid)
	}
	var sum time.Duration
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		p := all[queue[0]]
		sum += p.own + p.reaped
		queue = append(queue, children[queue[0]]...)
	}
	return sum
}

// parseStat reads /proc/pid/stat: what follows the name, which may hold
// anything, is separated by spaces.
func parseStat(line string) (process, error) {
	const parent, own, reaped, enough = 1, 11, 13, 15
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	if end < 0 || len(fields) < enough {
		return process{}, fmt.Errorf("%q is no line of a process", line)
	}
	var n [enough]int64
	for _, i := range []int{parent, own, own + 1, reaped, reaped + 1} {
		v, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("field %d of %q is no number", i, line)
		}
		n[i] = v
	}
	return process{
		parent: int(n[parent]), own: time.Duration(n[own]+n[own+1]) * tick, reaped: time.Duration(n[reaped]+n[reaped+1]) * tick,
	}, nil
}

// busy is the time that all cores together have worked since the machine
// started, for whomever.
func busy() (time.Duration, error) {
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
