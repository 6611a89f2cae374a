package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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

// look takes the CPU time of the parts, of children and of this program.
func look(children []*child) (usage, error) {
	pids := map[string]int{}
	for _, part := range []string{partPostgres, partTemporal, partS3} {
		if pid := partPid(part); pid != 0 {
			pids[part] = pid
		}
	}
	for _, c := range children {
		if pid := c.Pid(); pid != 0 {
			pids[c.Name] = pid
		}
	}
	table, err := procfs.Read()
	if err != nil {
		return nil, err
	}
	all, err := procfs.Busy()
	if err != nil {
		return nil, err
	}
	u := usage{usageClient: table[os.Getpid()].Own.Seconds()}
	u[usageOthers] = all.Seconds() - u[usageClient]
	for name, pid := range pids {
		u[name] = table.Tree(pid).Seconds()
		u[usageOthers] -= u[name]
	}
	return u, nil
}

// since is what was used from an earlier look until this one.
func (u usage) since(before usage) usage {
	out := usage{}
	for name, v := range u {
		out[name] = max(0, v-before[name])
	}
	return out
}

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
