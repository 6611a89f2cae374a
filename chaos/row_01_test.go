package chaos

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// KilledAtCommit kills the processes of a kind at the moment when a commit of
// one of them is decided: it has not reached Postgres, or Postgres has it and
// the process has not heard of it. A kill by chance hardly ever hits there.
func KilledAtCommit(of string, where pgproxy.Cut) Fault {
	return Fault{
		Name: fmt.Sprintf("kill -9 of %s %s its commit", of, where),
		Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			victims := r.Serves
			if of == ofWorker {
				victims = r.Workers
			}
			hit := make(chan struct{})
			r.proxyOf(of).CutNextThen(where, func() {
				for _, p := range victims {
					p.Signal(syscall.SIGKILL)
				}
				close(hit)
			})
			select {
			case <-hit:
				return halt(victims), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(floorPatience):
				return nil, fmt.Errorf("%s made no commit in %s", of, floorPatience)
			}
		},
	}
}

func TestRow01APIKilled(t *testing.T) {
	RunRow(t, Row{
		Number: 1, Name: "API killed mid-command", Hold: time.Second,
		Faults: []Fault{
			ServeKilled(targetA), KilledAtCommit(ofServe, pgproxy.Before), ServeKilled(targetB),
			KilledAtCommit(ofServe, pgproxy.After), ServeKilled(targetBoth),
		},
	})
}
