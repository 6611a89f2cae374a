package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

// How long callers come again who are refused, from when a call was due. Polls
// have no patience: they come again with the next poll anyway.
const (
	// patient are those who would only click once more, or save more the next time.
	patient = 10 * time.Second
	// insistent are those whose work would be lost otherwise: what is handed in,
	// and what is created.
	insistent = 2 * time.Minute
)

// retryAfter is after how long an answer asks to come again; 0 when it does not.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	seconds, _ := strconv.Atoi(value) // a date would be as good as a second
	return time.Duration(max(1, seconds)) * time.Second
}

// comeAgain is when a caller who was refused comes again, if ever.
func comeAgain(q request, refused time.Time, a answer) (at time.Time, ok bool) {
	at = refused.Add(max(time.Second, a.again))
	return at, q.patience > 0 && at.Sub(q.due) <= q.patience
}

// ask sends a request and records it from when it was due. A request without
// a due time is due now. Who is refused comes again as long as their patience
// lasts, and all of the wait counts in the latency of what is done at last;
// whose patience ends has failed.
func (r *run) ask(ctx context.Context, q request) answer {
	if q.due.IsZero() {
		q.due = time.Now()
	}
	sent := q.due
	if q.ready.After(sent) {
		sent = q.ready
	}
	for tries := 1; ; tries++ {
		a := r.clients.send(ctx, q)
		if ctx.Err() != nil {
			return a
		}
		now := time.Now()
		r.observe(q, sent, now, a)
		if q.patience == 0 || !a.turnedAway() {
			return a
		}
		var ok bool
		if sent, ok = comeAgain(q, now, a); !ok {
			a.err = fmt.Errorf("refused %d times within %v, last with %s", tries, q.patience, a.cause())
			r.observe(q, q.due, now, a)
			return a
		}
		if wait(ctx, time.Until(sent)) != nil {
			return a
		}
	}
}

// observe records an answer to a call that was due at one time and, after
// refusals or an earlier call of the same caller, sent at another. A refusal is
// told by its own speed and belongs to when it happened.
func (r *run) observe(q request, sent, answered time.Time, a answer) {
	class, since, op := a.class(), q.due, q.op
	if a.turnedAway() {
		since = sent
	}
	if a.status == http.StatusNoContent && q.empty != "" {
		op = q.empty
	}
	k := record.Key{Phase: r.phaseAt(since), Op: op, Class: class}
	r.rec.Record(k, answered.Sub(since), a.status, a.cause())
	r.facts.window.add(k, answered, answered.Sub(since))
	// Who was let in and got an error, and whose patience ended, are not inside.
	if limit, known := windowLimits[op]; known && (class == record.OK || class == record.Failed) && strings.HasPrefix(r.phaseAt(sent), overload) {
		r.facts.admit(class == record.OK && answered.Sub(sent).Seconds() <= r.gate*limit.Seconds())
	}
}

// isCall tells operations that are calls of the API from times that are none of
// a single call or are told of some calls besides, and leaves the one program out
// that always meets its limit.
func isCall(op string) bool {
	return !slices.Contains([]string{"step", "first-row", "status-naive", submitLarge, verdictLarge}, op)
}

// callsOf is how many calls of some phases ended in one of these ways, and how
// many there were at all.
func (r *run) callsOf(phases func(name string) bool, class ...record.Class) (n, all int64) {
	all = r.rec.Select(func(k record.Key) bool { return phases(k.Phase) && isCall(k.Op) }).N()
	n = r.rec.Select(func(k record.Key) bool { return phases(k.Phase) && isCall(k.Op) && slices.Contains(class, k.Class) }).N()
	return n, all
}

// ownWork are the operations on what callers know to be there and to be theirs.
// That of another organization's program must be answered 404, and is not among
// them.
var ownWork = []string{
	"claim", "claim-empty", "claim-review", "claim-review-empty", "submit", "verdict", "draft", "extend", "status", "list", "create-5000", "create-32mb",
}

// sumTooLate tells how many found that what they asked for is not theirs any
// more, or not there.
func (r *run) sumTooLate() {
	of := func(class ...record.Class) int64 {
		return r.rec.Select(func(k record.Key) bool {
			return counts(k.Phase) && slices.Contains(ownWork, k.Op) && (class == nil || slices.Contains(class, k.Class))
		}).N()
	}
	if all := of(); all > 0 {
		r.number(slo.TooLate, 100*float64(of(record.Stale))/float64(all))
	}
}

// sumRefused tells how many were refused where nobody should be.
func (r *run) sumRefused() {
	if n, all := r.callsOf(counts, record.Refused, record.Limited); all > 0 {
		r.number(slo.Refused, 100*float64(n)/float64(all))
	}
}
