package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

const (
	overload = "overload"
	// enough is the share of refusals at which the load grows no more. As many
	// programs that ask several times as much meet the limits of their keys, which
	// is no overload.
	enough = 0.01
	// settleMost is how long the end of a run waits for everything to be well
	// again: longer than is allowed, so that a miss has a number.
	settleMost = 3 * time.Minute
)

// overloads are the steps in which the load grows, as multiples of the peak.
var overloads = []float64{3, 4.5, 7, 10, 15}

// runStress plays the peak, three times as much and more until requests are
// refused, and the peak again: once there was time to recover, the objectives hold
// as they did before.
func runStress(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := busiest.scaled(r.options)
	var g sync.WaitGroup
	base, step := r.stressBase(), r.dur/10
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
		n, all := r.callsOf(func(phase string) bool { return phase == name }, record.Refused)
		refused := float64(n) / float64(max(1, all))
		r.say("%s: %.1f %% refused", name, 100*refused)
		if refused >= enough {
			break
		}
	}
	r.facts.window.open(r.gate)
	over := r.began.Add(at)
	r.enterRecovery(at)
	end := at + r.stressTail()
	r.play(play, &g, p, at, end)
	drained := r.drain(ctx, over)
	if err := r.until(ctx, end); err != nil {
		return err
	}
	r.noteRecovery(drained, over)
	r.judgeOverload()
	return r.wind(ctx, stop, &g)
}

// judgeOverload tells how those fared who were admitted while there was too
// much, from when they came for the last time, and those who were not.
func (r *run) judgeOverload() {
	f := &r.facts
	f.mu.Lock()
	inside, all := f.inside, f.admitted
	f.mu.Unlock()
	if all > 0 {
		r.number(slo.Admitted, 100*float64(inside)/float64(all))
	}
	during := func(phase string) bool { return strings.HasPrefix(phase, overload) }
	failed, _ := r.callsOf(during, record.Failed)
	refused, _ := r.callsOf(during, record.Refused)
	limited, _ := r.callsOf(during, record.Limited)
	r.number("failed at overload", float64(failed))
	r.number("refused at overload", float64(refused))
	r.number("limited at overload, by key", float64(limited))
	if refused == 0 {
		r.note("nothing was refused, at %g times the peak", overloads[len(overloads)-1])
	}
}

// windowLimits are the objectives that requests are held against one by one.
var windowLimits = func() map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, op := range []string{"claim", "claim-review", "submit", "verdict", "draft", "status", "list"} {
		if o, ok := slo.Get(op, 99); ok {
			out[op] = o.Limit
		}
	}
	return out
}()

// enterRecovery begins the time after an overload or an outage in which no objective
// holds, and what comes after it, when all of them do.
func (r *run) enterRecovery(from time.Duration) {
	r.enter("recovery", from)
	r.enter("after", from+recovering)
}

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
