package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fact is something that is told of a machine.
type fact struct{ name, says string }

// shape is what a page begins with.
func (m *machine) shape() []fact {
	product, _, _ := strings.Cut(m.Product, ",")
	return []fact{
		{"CPU", m.CPU},
		{"cores", fmt.Sprintf("%d cores", m.Cores)},
		{"memory", fmt.Sprintf("%.1f GB", m.MemoryGB)},
		{"kernel", "kernel " + m.Kernel},
		{"Postgres", "Postgres " + m.Postgres},
		{"Go", m.Go},
		{"Node.js", "Node.js " + m.Node},
		{"Python", m.Python},
		{"product", product},
	}
}

// facts are the shape, how Linux shares the processors, Postgres's settings, and what
// lscpu says. The versions of what takes part stand with it.
func (m *machine) facts() (all []fact) {
	all = append(m.shape(), fact{"sched_autogroup_enabled", "sched_autogroup_enabled " + cmp.Or(m.Autogroup, "unknown")})
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if name != "port" && name != "unix_socket_directories" { // of the place, and another one each time
			all = append(all, fact{name, strings.TrimSpace(name + " " + m.Settings[name])})
		}
	}
	for _, line := range m.LSCPU {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !strings.Contains(name, "scaling") { // of the moment
			all = append(all, fact{"lscpu " + name, "lscpu: " + name + " " + strings.TrimSpace(value)})
		}
	}
	return all
}

// says are facts by their names, in the order in which they are told.
func (m *machine) says() (names []string, says map[string]string) {
	says = map[string]string{}
	for _, f := range m.facts() {
		names = append(names, f.name)
		says[f.name] = f.says
	}
	return names, says
}

// machines tells in a line what all races ran on, and returns what they differ in, to
// be told of each.
func (r *results) machines() (line string, differ []string) {
	var known []map[string]string
	var names []string
	var first *machine
	unknown := false
	for _, x := range r.Races {
		for _, run := range x.Runs {
			if run.Machine == nil {
				unknown = true
				continue
			}
			of, says := run.Machine.says()
			names, known, first = append(names, of...), append(known, says), cmp.Or(first, run.Machine)
		}
	}
	if first == nil {
		return "What they ran on, the machine, its versions and its settings, was kept with none of these races.", nil
	}
	for _, name := range names {
		if !slices.Contains(differ, name) && slices.ContainsFunc(known, func(says map[string]string) bool { return says[name] != known[0][name] }) {
			differ = append(differ, name)
		}
	}
	var same []string
	for _, f := range first.shape() {
		if !slices.Contains(differ, f.name) {
			same = append(same, f.says)
		}
	}
	line = strings.Join(same, ", ") + "."
	if unknown {
		line = "Where a race does not say that this was not kept: " + line
	}
	return line, differ
}

// longest is how much of a fact stands on a page, in characters: what a processor can
// do fills it alone. The raw data has all of it.
const longest = 60

// on is what a run has of its own among what differs.
func (b begun) on(differ []string) string {
	if b.Machine == nil {
		return "; what it ran on was not kept"
	}
	_, says := b.Machine.says()
	var own []string
	for _, name := range differ {
		fact := []rune(cmp.Or(says[name], name+" not set"))
		if len(fact) > longest {
			fact = append(fact[:longest], '…')
		}
		own = append(own, string(fact))
	}
	if len(own) == 0 {
		return ""
	}
	return "; " + strings.Join(own, ", ")
}
