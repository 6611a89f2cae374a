package main

import (
	"fmt"
	"slices"

	"github.com/taskloom/taskloom/load/internal/record"
	"github.com/taskloom/taskloom/load/internal/slo"
)

// promised tells whether the availability of an operation is promised: that of all
// calls but the control's, which has to be answered 404.
func promised(op string) bool { return isCall(op) && op != control }

// enoughCalls is from how many calls on the share of a single kind is told.
const enoughCalls = 200

// sumAvailability tells how much of what was promised failed. Polls are most of all
// calls, so the kind of which most failed is told beside it, and that of which most
// came too late or was refused.
func (r *run) sumAvailability() {
	in := func(class ...record.Class) float64 {
		return float64(r.rec.Select(func(k record.Key) bool {
			return counts(k.Phase) && promised(k.Op) && slices.Contains(class, k.Class)
		}).N())
	}
	if done, failed := in(record.OK, record.Stale), in(record.Failed); done+failed > 0 {
		r.number(slo.Availability, 100*done/(done+failed))
	}
	r.worstKind("failed", promised, record.Failed)
	r.worstKind("came too late", func(op string) bool { return slices.Contains(ownWork, op) }, record.Stale)
	r.worstKind("refused", isCall, record.Refused, record.Limited)
}

// worstKind tells which kind of call most often ended in one of these ways, below an
// overload.
func (r *run) worstKind(ended string, among func(op string) bool, class ...record.Class) {
	all, bad := map[string]int64{}, map[string]int64{}
	for _, l := range r.rec.Lines() {
		if !counts(l.Phase) || !among(l.Op) {
			continue
		}
		all[l.Op] += l.N
		if slices.Contains(class, l.Class) {
			bad[l.Op] += l.N
		}
	}
	worst, share := "", 0.0
	for op, n := range bad {
		if of := 100 * float64(n) / float64(all[op]); all[op] >= enoughCalls && (of > share || of == share && op < worst) {
			worst, share = op, of
		}
	}
	if worst != "" {
		r.number(fmt.Sprintf("%s most, %% of %s", ended, worst), share)
	}
}
