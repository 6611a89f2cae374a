package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestRow16DuplicateDelivery delivers every outbox row twice under load, sends
// one create twelve times at once, and hands in under one claim 32 times at
// once.
func TestRow16DuplicateDelivery(t *testing.T) {
	RunRow(t, Row{
		Number: 16, Name: "duplicate delivery", Hold: 20 * time.Second,
		Faults: []Fault{DeliveredTwice()},
		During: func(ctx context.Context, r *Run) error {
			id, err := racingCreates(ctx, r, 12)
			if err != nil {
				return err
			}
			return racingSubmits(ctx, r, id, 32)
		},
	})
}

// racingCreates sends the same create from n clients at once and returns the
// task: all of them get its id.
func racingCreates(ctx context.Context, r *Run, n int) (int64, error) {
	o := r.World.Probe
	key := fmt.Sprintf("race-%d", time.Now().UnixNano())
	answers := make([][]int64, n)
	g, gctx := errgroup.WithContext(ctx)
	for i := range n {
		c := &integrator{client: r.client(o, fmt.Sprintf("racer%d@%s.test", i, o.Mark), o.Key, uint64(100+i))}
		g.Go(func() (err error) {
			answers[i], err = c.persist(gctx, key, []string{o.Mark + " race"})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	for _, a := range answers {
		if len(a) != 1 || !slices.Equal(a, answers[0]) {
			r.Violate("I5: one create, sent %d times at once, was answered with %v", n, answers)
		}
	}
	return answers[0][0], nil
}

// racingSubmits hands in the same under one claim n times at once: all are
// acknowledged, once it counts.
func racingSubmits(ctx context.Context, r *Run, id int64, n int) error {
	who := r.probes.contributor
	k, err := who.claimNode(ctx, roleContributor, id, nodeSolve)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range n {
		c := r.client(who.org, who.who, "", uint64(200+i))
		c.http.Jar = who.http.Jar
		g.Go(func() error {
			err := c.submit(gctx, k, object{"answer": who.org.Mark + " race"})
			if errors.Is(err, errRefused) {
				r.Violate("I2: one submission, sent %d times at once, was refused to some", n)
				return nil
			}
			return err
		})
	}
	return g.Wait()
}
