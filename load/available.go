package main

import (
	"fmt"
	"slices"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

// promised tells whether the availability of an operation is promised: that of all
// calls but the control's, which has to be answered 404.
func promised(op string) bool { return isCall(op) && op != control }

// workOps are those by which people and programs do their work: claim, submit,
// poll and create, of which a month has 43 minutes in which they may fail.
var workOps = []string{
	"claim", "claim-empty", "claim-review", "claim-review-empty", "submit", "verdict", "status", "list", "create-5000", "create-32mb",
}

// enoughCalls is from how many calls on the share of a single kind is told.
const enoughCalls = 200

// sumAvailability tells how much of what was promised was done. Polls are most of all
// calls, so the kind of which most failed is told beside it, and that of which most
// came too late or was refused.
func (r *run) sumAvailability() {
	r.available(slo.Availability, promised)
	r.available(slo.WorkAvail, func(op string) bool { return slices.Contains(workOps, op) })
	r.worstKind("failed", promised, record.Failed)
	r.worstKind("came too late", func(op string) bool { return slices.Contains(ownWork, op) }, record.Stale)
	r.worstKind("refused", isCall, record.Refused, record.Limited)
}

// available tells how much was done of some operations. An error, no answer and being
// turned away at the door (503) are the same to whoever asked: each of these answers
// counts, also when the call was done when it was sent again. Who asks more than a key
// may is told so by an answer that is as it should be, and counts on neither side.
func (r *run) available(name string, among func(op string) bool) {
	in := func(class ...record.Class) float64 {
		return float64(r.rec.Select(func(k record.Key) bool {
			return counts(k.Phase) && among(k.Op) && slices.Contains(class, k.Class)
		}).N())
	}
	if done, not := in(record.OK, record.Stale), in(record.Failed, record.Refused); done+not > 0 {
		r.number(name, 100*done/(done+not))
	}
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
