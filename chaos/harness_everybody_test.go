package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/workflows"
)

// heardWithin is how old the heartbeat of a worker that lives may be.
const heardWithin = 6 * time.Second

// everybodyWorks waits until each process that is to run does its part again: what
// one of two does not do the other does, and clients would not notice. A process that
// ends again and again, one whose connections stay broken, and a worker that Temporal
// does not reach are no recovery.
func (r *Run) everybodyWorks(ctx context.Context, healed time.Time) (stage string, err error) {
	workers := 0
	for name, p := range r.processes() {
		stage = name + " stays up"
		err := r.until(ctx, func(context.Context) (bool, error) { return p.AtWork() || !p.Wanted(), nil })
		if err != nil {
			return stage, fmt.Errorf("%w: its log: %s", err, lastWords(p.Log()))
		}
	}
	for _, p := range r.Workers {
		if p.Wanted() {
			workers++
		}
	}
	if err := r.Ready(ctx); err != nil {
		return "each serve is ready", err
	}
	for i, base := range r.bases {
		stage = fmt.Sprintf("an acknowledged call by serve %d", i)
		err := r.until(ctx, func(context.Context) (bool, error) {
			return r.stopped || closed(r.home) || !r.Serves[i].Wanted() || servedBy(r.History.Since(healed), base, healed), nil
		})
		if err != nil {
			return stage, err
		}
	}
	stage = fmt.Sprintf("a heartbeat of %d workers that reach Temporal", workers)
	return stage, r.until(ctx, func(ctx context.Context) (bool, error) {
		n, err := r.Store().WorkersAlive(ctx, workflows.TaskQueue, heardWithin)
		return err == nil && n >= workers, err
	})
}

// servedBy reports whether a server acknowledged a call that was made after a moment.
func servedBy(ops []Op, base string, after time.Time) bool {
	for _, op := range ops {
		if op.Server == base && op.Outcome == OK && op.Call >= after.UnixNano() {
			return true
		}
	}
	return false
}

func TestWhoServes(t *testing.T) {
	t.Parallel()
	healed := time.Now()
	at := func(base string, o Outcome, d time.Duration) Op {
		return Op{Server: base, Outcome: o, Call: healed.Add(d).UnixNano()}
	}
	ops := []Op{at("a", OK, time.Second), at("b", Unknown, time.Second), at("b", Refused, time.Second), at("b", OK, -time.Second)}
	require.True(t, servedBy(ops, "a", healed))
	require.False(t, servedBy(ops, "b", healed), "503 is no service, nor is what was before")
}
