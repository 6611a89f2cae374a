package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// summary is what a run prints at its end.
func (r *Run) summary() string {
	var b strings.Builder
	ops := r.History.Ops()
	byKind, why := map[string]map[Outcome]int{}, map[int]int{}
	for _, op := range ops {
		if op.Outcome == Unknown {
			why[op.Status]++
		}
		if byKind[op.Kind] == nil {
			byKind[op.Kind] = map[Outcome]int{}
		}
		byKind[op.Kind][op.Outcome]++
	}
	fmt.Fprintf(&b, "seed %d, %s: %d faults, %d calls (%d ok, %d refused, %d unknown), %d violations\n", r.Seed,
		time.Since(r.began).Round(time.Second), r.injected(), len(ops), r.History.Count(OK), r.History.Count(Refused), r.History.Count(Unknown), len(r.Violations()))
	for _, k := range slices.Sorted(maps.Keys(byKind)) {
		fmt.Fprintf(&b, "  %-10s %7d ok %6d refused %6d unknown\n", k, byKind[k][OK], byKind[k][Refused], byKind[k][Unknown])
	}
	fmt.Fprintf(&b, "  unknown by status, 0 without an answer: %v\n", why)
	for _, k := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(&b, "  %5d x %s\n", r.faults[k], k)
	}
	for name, p := range map[string]*pgproxy.Proxy{"serve": r.ServeProxy, "worker": r.WorkerProxy} {
		s := p.Stats()
		fmt.Fprintf(&b, "  commits of %s: %d seen, %d cut before, %d cut after; %d connections cut\n", name, s.Commits, s.Before, s.After, s.Severed)
	}
	var quick, full time.Duration
	for _, rec := range r.recoveries {
		if rec.full {
			full = max(full, rec.took)
		} else {
			quick = max(quick, rec.took)
		}
	}
	fmt.Fprintf(&b, "  slowest recovery: %s until served, %s in full", quick.Round(time.Millisecond), full.Round(time.Millisecond))
	return b.String()
}
