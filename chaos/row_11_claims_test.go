package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// claimingPeople claim without a pause for claimingFor: more than the load
	// asks for, so that what is measured is what is possible.
	claimingPeople = 4
	claimingFor    = 10 * time.Second
	// claimedAtOnce are held by each of them before they are given back, so that
	// not always the same few tasks are claimed, of whose runs each would hear of
	// one claim after the other.
	claimedAtOnce = 10
	// claimable tasks are there: enough that a claim never finds none.
	claimable = 100
)

// claimers measure how many claims a second are possible.
type claimers struct {
	run    *Run
	people []*client
}

// capacity is what they found.
type capacity struct {
	perSecond float64
	took      measured
}

// newClaimers makes their tenant. It is for Row.Prepare.
func newClaimers(ctx context.Context, r *Run) (*claimers, error) {
	files := r.newUploads()
	if _, err := files.createPlain(ctx, claimable); err != nil {
		return nil, err
	}
	c := &claimers{run: r}
	o := &Organization{Mark: "qfiles", Pipeline: files.plain, tasks: map[int64]bool{}}
	for i := range claimingPeople {
		p := r.client(o, "c0@qfiles.test", "", uint64(50+i))
		if err := p.login(ctx); err != nil {
			return nil, fmt.Errorf("log in %s: %w", p.who, err)
		}
		c.people = append(c.people, p)
	}
	return c, nil
}

// measure lets everybody claim and give back, and tells how it went.
func (c *claimers) measure(ctx context.Context, when string) (capacity, error) {
	var mu sync.Mutex
	took := measured{}
	began := time.Now()
	until := began.Add(claimingFor)
	var g errgroup.Group
	for _, p := range c.people {
		g.Go(func() error {
			for time.Now().Before(until) {
				mine, err := claimSome(ctx, p)
				if err != nil {
					return err
				}
				mu.Lock()
				took[opClaim] = append(took[opClaim], mine...)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return capacity{}, fmt.Errorf("measure claims %s: %w", when, err)
	}
	n := len(took[opClaim])
	if n == 0 {
		return capacity{}, fmt.Errorf("not one claim was served %s: there is nothing to compare", when)
	}
	out := capacity{perSecond: float64(n) / time.Since(began).Seconds(), took: took}
	var dead, live int
	err := c.run.Store().Pool().QueryRow(ctx, `SELECT coalesce(sum(n_dead_tup), 0), coalesce(sum(n_live_tup), 0) FROM pg_stat_user_tables`).Scan(&dead, &live)
	c.run.Logf("%s: %.1f claims/s, p99 %s, %d dead rows beside %d", when, out.perSecond, quantile(took[opClaim], 0.99).Round(time.Millisecond), dead, live)
	return out, err
}

// claimSome claims the next tasks, gives them back, and returns how long each
// claim that was served took.
func claimSome(ctx context.Context, p *client) ([]time.Duration, error) {
	var took []time.Duration
	var held []*claim
	for range claimedAtOnce {
		began := time.Now()
		k, err := p.claimNext(ctx, roleContributor)
		switch {
		case errors.Is(err, errUnknown): // refused by a full server: no claim
			continue
		case err != nil:
			return took, err
		case k == nil:
			return took, errors.New("there is nothing to claim")
		}
		took = append(took, time.Since(began))
		held = append(held, k)
	}
	for _, k := range held {
		if err := p.release(ctx, k); err != nil && !errors.Is(err, errRefused) { // the lease ran out
			return took, err
		}
	}
	return took, nil
}
