package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// usage is CPU seconds by process with its children. "client" is this program;
// "others" is what the machine did for everybody else, and should be little.
type usage map[string]float64

const (
	usageClient = "client"
	usageOthers = "others"
)

// parts of the stack, as their pid files are called.
const (
	partPostgres = "postgres"
	partTemporal = "temporal"
	partS3       = "s3"
)

// partPid is the process of a part of the stack; 0 when there is none.
func partPid(part string) int {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("DEV_DIR"), part+".pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 when it is no number
	return pid
}

// meter adds up what processes use from its first look until its last. It knows
// each by its pid and its start: a program that is killed and started again is
// two processes of one name, and both count. What a process does between a look
// and its death is lost.
type meter struct {
	mu        sync.Mutex
	looked    bool
	processes map[identity]*metered
	// busy and client are the machine's CPU time and this program's, at the first
	// look and at the last.
	busy, client [2]float64
}

// identity is a process: pids are given again.
type identity struct {
	pid   int
	start string // in ticks since the machine started
}

// metered is what a process had used when the meter began, and at the last look.
type metered struct {
	name         string
	before, last float64
}

func newMeter() *meter { return &meter{processes: map[identity]*metered{}} }

// look takes the CPU time of the parts, of children and of this program.
func (m *meter) look(children []*child) error {
	pids := map[int]string{}
	for _, part := range []string{partPostgres, partTemporal, partS3} {
		if pid := partPid(part); pid != 0 {
			pids[pid] = part
		}
	}
	for _, c := range children {
		if pid := c.Pid(); pid != 0 {
			pids[pid] = c.Name
		}
	}
	table, err := procfs.Read()
	if err != nil {
		return err
	}
	all, err := procfs.Busy()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for pid, name := range pids {
		if start := startOf(pid); start != "" {
			m.note(identity{pid, start}, name, table.Tree(pid).Seconds())
		}
	}
	m.total(all.Seconds(), table[os.Getpid()].Own.Seconds())
	return nil
}

// note keeps what a process has used since it started. Who comes after the first
// look started after it.
func (m *meter) note(of identity, name string, seconds float64) {
	p := m.processes[of]
	if p == nil {
		p = &metered{name: name}
		if !m.looked {
			p.before = seconds
		}
		m.processes[of] = p
	}
	p.last = max(p.last, seconds) // less when a child ended while /proc was read
}

// startOf is when a process started; nothing when there is none.
func startOf(pid int) string {
	// Among what follows the name, which may hold anything.
	const start = 19
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // empty when it has ended
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) <= start {
		return ""
	}
	return fields[start]
}

// total ends a look.
func (m *meter) total(busy, client float64) {
	if !m.looked {
		m.busy[0], m.client[0] = busy, client
	}
	m.looked, m.busy[1], m.client[1] = true, busy, client
}

// usage is what was used from the first look until the last.
func (m *meter) usage() usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := usage{usageClient: m.client[1] - m.client[0]}
	for _, p := range m.processes {
		u[p.name] += p.last - p.before
	}
	others := m.busy[1] - m.busy[0]
	for _, v := range u {
		others -= v
	}
	u[usageOthers] = max(0, others)
	return u
}

// mostOthers is the share of what is charged up to which the machine's other work is
// of no account.
const mostOthers = 0.1

// strange is how much the machine did for others, to what a contender pays for.
func (u usage) strange(uses []string) float64 { return ratio(u[usageOthers], u.charged(uses)) }

// charged is what a contender pays for: everything but the machine's other work
// and the parts of the stack that it does not use.
func (u usage) charged(uses []string) float64 {
	var sum float64
	for name, v := range u {
		part := name == partPostgres || name == partTemporal || name == partS3
		if name != usageOthers && (!part || slices.Contains(uses, name)) {
			sum += v
		}
	}
	return sum
}
