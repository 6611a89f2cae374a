package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/internal/measure/process"
	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// usage is CPU seconds by process. "client" is the bench itself; "others" is
// what the machine did for everybody else, and should be little.
type usage map[string]float64

const (
	usageClient = "client"
	usageOthers = "others"
)

// usage looks at the parts of the stack, at children and at the bench. Of parts
// that another machine runs nothing is known.
func (b *bench) usage(children ...*process.Process) (usage, error) {
	pids := map[string]int{}
	for _, part := range []string{"postgres", "temporal", "s3"} {
		raw, err := os.ReadFile(filepath.Join(os.Getenv("DEV_DIR"), part+".pid"))
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
			pids[part] = pid
		}
	}
	if len(pids) == 0 && !b.blind {
		b.blind = true
		b.note("DEV_DIR names no running stack, so the CPU time of Postgres, Temporal and S3 is not counted")
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
	busy, err := procfs.Busy()
	if err != nil {
		return nil, err
	}
	u := usage{usageClient: table[os.Getpid()].Own.Seconds()}
	u[usageOthers] = busy.Seconds() - u[usageClient]
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

// total adds up all of ours.
func (u usage) total() float64 { return u.of() }

// of adds processes up; all but others when none is named.
func (u usage) of(names ...string) float64 {
	var sum float64
	for _, name := range names {
		sum += u[name]
	}
	if len(names) > 0 {
		return sum
	}
	for name, v := range u {
		if name != usageOthers {
			sum += v
		}
	}
	return sum
}

// into notes the figures of one side.
func (u usage) into(extra map[string]float64, side string) {
	for name, v := range u {
		extra[side+"_cpu_seconds_"+name] = v
	}
}

// mean averages over samples.
func mean(us []usage) usage {
	out := usage{}
	for _, u := range us {
		for name, v := range u {
			out[name] += v / float64(len(us))
		}
	}
	return out
}
