package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/taskloom/taskloom/internal/stacktest"
)

const (
	// drainWithinSIGTERM is how long a process may take to end in order.
	drainWithinSIGTERM = 30 * time.Second
	rollingRounds      = 2
)

// TestRow19RollingRestarts ends each process with SIGTERM and starts it again,
// one after the other and round after round, under load. Clients that send a
// call once more to the other server, as a retrying proxy does, see no failure:
// no call needs a third try.
func TestRow19RollingRestarts(t *testing.T) {
	restart := func(name string, of func(r *Run) *stacktest.Process) Fault {
		return Fault{Name: "SIGTERM of " + name, Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			p := of(r)
			began := time.Now()
			p.Stop()
			if took := time.Since(began); took > drainWithinSIGTERM {
				r.Violate("I10: %s took %s to end after SIGTERM", name, took)
			} else {
				r.Logf("%s ended in %s", name, took.Round(time.Millisecond))
			}
			p.StartAgain()
			return nil, r.Ready(ctx)
		}}
	}
	RunRow(t, Row{
		Number: 19, Name: "deploy under load", Rounds: rollingRounds,
		Faults: []Fault{
			restart("serve a", func(r *Run) *stacktest.Process { return r.Serves[0] }),
			restart("worker a", func(r *Run) *stacktest.Process { return r.Workers[0] }),
			restart("serve b", func(r *Run) *stacktest.Process { return r.Serves[1] }),
			restart("worker b", func(r *Run) *stacktest.Process { return r.Workers[1] }),
		},
		After: func(_ context.Context, r *Run) error {
			tries := map[int64]int{}
			again := 0
			for _, op := range r.History.Ops() {
				if op.Outcome != Unknown {
					continue
				}
				if tries[op.Intent]++; tries[op.Intent] == 1 {
					again++
				} else {
					r.Violate("%s of %s failed %d times, on both servers: %s", op.Kind, op.Who, tries[op.Intent], op.Error)
				}
			}
			r.Logf("%d calls were sent twice, none more often than that", again)
			return nil
		},
	})
}
