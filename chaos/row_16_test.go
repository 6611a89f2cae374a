package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestRow16DuplicateDelivery delivers every outbox row twice under load, sends
// one create twelve times at once, hands in under one claim 32 times at once,
// and confirms one upload 32 times at once, and another one 12 times under one
// Idempotency-Key. There is one effect each. Ids of webhooks wait for webhooks.
func TestRow16DuplicateDelivery(t *testing.T) {
	var files *uploads
	RunRow(t, Row{
		Number: 16, Name: "duplicate delivery", Hold: 20 * time.Second,
		Faults: []Fault{DeliveredTwice()},
		Prepare: func(_ context.Context, r *Run) error {
			files = r.newUploads()
			return nil
		},
		During: func(ctx context.Context, r *Run) error {
			id, err := racingCreates(ctx, r, 12)
			if err != nil {
				return err
			}
			if err := racingSubmits(ctx, r, id, 32); err != nil {
				return err
			}
			if err := files.racingConfirms(ctx, 32, ""); err != nil {
				return err
			}
			return files.racingConfirms(ctx, 12, "confirm-once")
		},
		After: func(ctx context.Context, r *Run) error {
			doubles, err := r.Count(ctx, `SELECT count(*) FROM chaos_doubles`)
			if err == nil && doubles < 100 {
				err = fmt.Errorf("only %d rows were delivered twice: this proves nothing", doubles)
			}
			r.Logf("%d rows of the outbox were delivered twice", doubles)
			return err
		},
	})
}

// racingConfirms confirms one upload n times at once: one is accepted, the
// others are told that it was; its rows become tasks once. Under one key all
// get the first answer, or are told that the first one is still at it.
func (u *uploads) racingConfirms(ctx context.Context, n int, key string) error {
	const rows = 20
	up, err := u.put(ctx, zipOf(u.run.t, rows, 2000))
	if err != nil {
		return err
	}
	path := fmt.Sprintf("/api/v1/workflows/%d/tasks/upload/%s/confirm", u.pipeline, up.ID)
	answers := make([]answered, n)
	confirm := func(ctx context.Context, i int) (err error) {
		c := &http.Client{Timeout: 3 * callTimeout, Transport: withKey(key)}
		answers[i], err = ask(ctx, c, http.MethodPost, u.run.bases[i%len(u.run.bases)]+path, u.key, "{}")
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error { return confirm(gctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	again := 0
	for i := range answers {
		if key != "" && answers[i].status == http.StatusConflict { // the first one is still at it
			again++
			if err := confirm(ctx, i); err != nil {
				return err
			}
		}
	}
	statuses := map[int]int{}
	var first []byte
	for _, a := range answers {
		statuses[a.status]++
		u.program.judge(request{method: http.MethodPost, path: path, refusals: []int{http.StatusConflict}}, a.status, a.header(), a.body)
		if a.status == http.StatusAccepted && first == nil {
			first = a.body
		}
		if a.status == http.StatusAccepted && !bytes.Equal(a.body, first) {
			u.run.Violate("I5: the confirmation of one upload was answered with %s and with %s", first, a.body)
		}
	}
	u.run.Logf("%d confirmations of one upload at once under the key %q: %v, %d of them asked once more", n, key, statuses, again)
	accepted := statuses[http.StatusAccepted]
	if key == "" && (accepted != 1 || statuses[http.StatusConflict] != n-1) || key != "" && accepted != n {
		u.run.Violate("I5: %d confirmations of one upload under the key %q were answered %v", n, key, statuses)
	}
	u.made(ctx, u.ended(ctx, up.ID, recoverWithin), rows)
	return nil
}

// withKey sends an Idempotency-Key with every request; "" sends none.
func withKey(key string) http.RoundTripper {
	t := &http.Transport{DisableKeepAlives: true}
	return roundTrips(func(r *http.Request) (*http.Response, error) {
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		return t.RoundTrip(r)
	})
}

type roundTrips func(r *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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
	k, err := who.insist(ctx, roleContributor, id, nodeSolve)
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
