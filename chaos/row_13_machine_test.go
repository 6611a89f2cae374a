package chaos

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestRow13AMachineOfTwoIsCutOff puts a serve and a worker into a network namespace,
// as a machine of two, and cuts it off as the only worker before. The other machine
// has one of each. People are served on there; where Temporal alone is away, at both,
// at their pace. A node that somebody holds who works at the machine that is cut off is
// claimed by another contributor when the lease is out, and the late submission, which
// is sent there all the while, is refused and kept as a draft. The other worker has the
// work of the one that is cut off, which is missed within fifteen seconds.
func TestRow13AMachineOfTwoIsCutOff(t *testing.T) {
	p := &partition{}
	w := &knocking{}
	cut := func(name string, how func() error) Fault {
		return Fault{
			Name: name, Serves: true,
			Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
				began := time.Now()
				return func(context.Context) error {
					err := p.ns.Heal()
					r.stoodStill(began)
					return err
				}, how()
			},
			During: func(ctx context.Context, r *Run) error {
				var g errgroup.Group
				g.Go(func() error { return r.missed(ctx, 1) })
				g.Go(func() error { return r.othersTakeOver(ctx, pausedWithin, pausedWithin) })
				return g.Wait()
			},
		}
	}
	var zombies []*zombieAPI
	held := func(f Fault) Fault {
		z := &zombieAPI{at: 1, insists: true}
		zombies = append(zombies, z)
		return z.during(f)
	}
	RunRow(t, Row{
		Number: 13, Name: "a machine of two is cut off",
		Settings: p.settings(t),
		Prepare: func(ctx context.Context, r *Run) error {
			const inside = ":8080"
			p.moves(r, r.Workers[1])
			p.moves(r, r.Serves[1], "ADDR="+p.ns.Inside+inside, "METRICS_ADDR=127.0.0.1:9091",
				"RATE_LIMIT_KEY=off", "RATE_LIMIT_ADDRESS=off", "RATE_LIMIT_FAILED_AUTH=off")
			r.bases[1] = "http://" + p.ns.Inside + inside
			soon, cancel := context.WithTimeout(ctx, recoverWithin)
			defer cancel()
			if err := errors.Join(r.Ready(soon), r.alive(soon, 2)); err != nil {
				return err
			}
			return w.begin(ctx, r.newUploads())
		},
		Faults: []Fault{
			held(cut("a machine to Postgres dropped", p.toPostgres)), held(cut("Postgres to a machine dropped", p.fromPostgres)),
			w.during(cut("a machine to Temporal dropped", p.toTemporal)), held(cut("a machine's link down", p.down)),
		},
		Hold: holdFor(10 * time.Second),
		After: func(ctx context.Context, r *Run) error {
			ctx, cancel := context.WithTimeout(ctx, recoverWithin)
			defer cancel()
			err := w.finished(ctx)
			for _, z := range zombies {
				err = errors.Join(err, z.check(ctx, r))
			}
			return err
		},
	})
}
