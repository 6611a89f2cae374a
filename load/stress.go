package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/taskloom/taskloom/load/internal/record"
	"github.com/taskloom/taskloom/load/internal/slo"
)

const (
	overload = "overload"
	// enough is the share of refusals at which the load grows no more.
	enough = 0.01
	// settleMost is how long the end of a run waits for everything to be well
	// again: longer than is allowed, so that a miss has a number.
	settleMost = 3 * time.Minute
)

// overloads are the steps in which the load grows, as multiples of the peak.
var overloads = []float64{3, 4.5, 7, 10, 15}

// runStress plays the peak for a fifth of the time, three times as much and
// more until requests are refused, and the peak again until all is well.
func runStress(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := busiest.scaled(r.options)
	var g sync.WaitGroup
	base, step := r.dur/5, r.dur/10
	r.enter("peak", r.warmFor())
	r.warm(play, &g, p, r.warmFor())
	r.play(play, &g, p, 0, base)
	at := base
	for i, factor := range overloads {
		name := fmt.Sprintf("%s-%gx", overload, factor)
		length := step
		if i == 0 {
			length = 2 * step
		}
		r.enter(name, at)
		r.play(play, &g, p.times(factor), at, at+length)
		at += length
		if err := r.until(ctx, at); err != nil {
			return err
		}
		refused := r.refusedShare(name)
		r.say("%s: %.1f %% refused", name, 100*refused)
		if refused >= enough {
			break
		}
	}
	r.facts.window.open(r.gate)
	over := r.began.Add(at)
	r.enter("recovery", at)
	r.play(play, &g, p, at, at+max(base, 75*time.Second))
	drained := r.drain(ctx, over)
	if err := r.until(ctx, at+max(base, 75*time.Second)); err != nil {
		return err
	}
	r.noteRecovery(drained, over)
	r.judgeOverload()
	return r.wind(ctx, stop, &g)
}

// refusedShare leaves the one program out that is always refused.
func (r *run) refusedShare(phase string) float64 {
	in := func(take func(record.Class) bool) float64 {
		return float64(r.rec.Select(func(k record.Key) bool {
			return k.Phase == phase && k.Op != "status-naive" && take(k.Class)
		}).N())
	}
	all := in(func(record.Class) bool { return true })
	return in(func(c record.Class) bool { return c == record.Refused }) / max(1, all)
}

// judgeOverload tells how those fared who were admitted while there was too
// much, and those who were not.
func (r *run) judgeOverload() {
	var inside, all float64
	for op, limit := range windowLimits {
		s := r.rec.Select(func(k record.Key) bool {
			return strings.HasPrefix(k.Phase, overload) && k.Op == op && k.Class == record.OK
		})
		inside += s.Within(time.Duration(float64(limit)*r.gate)) * float64(s.N())
		all += float64(s.N())
	}
	if all > 0 {
		r.number(slo.Admitted, 100*inside/all)
	}
	failed := r.rec.Select(func(k record.Key) bool { return strings.HasPrefix(k.Phase, overload) && k.Class == record.Failed }).N()
	r.number("failed at overload", float64(failed))
	if r.rec.Select(func(k record.Key) bool { return strings.HasPrefix(k.Phase, overload) && k.Class == record.Refused }).N() == 0 {
		r.note("nothing was refused, at %g times the peak", overloads[len(overloads)-1])
	}
}

// windowLimits are the objectives that requests are held against one by one.
var windowLimits = func() map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, op := range []string{"claim", "submit", "verdict", "draft", "status", "list"} {
		if o, ok := slo.Get(op, 99); ok {
			out[op] = o.Limit
		}
	}
	return out
}()

// noteRecovery notes how long after a moment everything was well again:
// requests inside their objectives, and the runs not behind.
func (r *run) noteRecovery(drained time.Duration, from time.Time) {
	quick := settledAfter(r.facts.window.all(), from)
	r.number("recovery: runs not behind any more", drained.Seconds())
	r.number("recovery: requests inside again", quick.Seconds())
	worst := max(drained, quick)
	if drained < 0 || quick < 0 {
		worst = settleMost
		r.note("not everything was well again within %v (-1 s stands for never)", settleMost)
	}
	r.number(slo.Recovery, worst.Seconds())
}
