package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/taskloom/taskloom/bench/internal/load"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// createClients create at a time.
const createClients = 64

// createManyPart creates tasks with many clients at a time. The worker does not
// run: what it makes of new tasks is measured by flow.
func createManyPart(ctx context.Context, b *bench) error {
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return err
	}
	d, err := b.deploy(ctx, w.url, manyAtOnce)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.startServe(ctx); err != nil {
		return err
	}
	for _, n := range []int{1, 100} {
		if err := b.createMany(ctx, w, d, n); err != nil {
			return fmt.Errorf("%d tasks a request: %w", n, err)
		}
	}
	return nil
}

func (b *bench) createMany(ctx context.Context, w *world, d *deployment, n int) error {
	request := load.Request{
		Method: http.MethodPost, URL: fmt.Sprintf("%s/api/v1/workflows/%d/tasks", d.base, w.pipelineID),
		Header: http.Header{"Authorization": {"Bearer " + w.key}, "Content-Type": {"application/json"}},
		Body:   mathcheck.CreateBody(n, mathcheck.Small),
	}
	next := func() load.Request { return request }
	if _, err := load.Run(ctx, load.Plan{Clients: createClients, For: b.sample / 5}, next); err != nil { // warm
		return err
	}
	f := b.find(fmt.Sprintf("%d x 650 B a request, %d clients", n, createClients))
	var rate, p50, p99, millis []float64
	failed := 0
	for range b.rounds {
		if err := w.clear(ctx); err != nil {
			return err
		}
		before, err := b.usage(d.api)
		if err != nil {
			return err
		}
		r, err := load.Run(ctx, load.Plan{Clients: createClients, For: b.sample}, next)
		if err != nil {
			return err
		}
		after, err := b.usage(d.api)
		if err != nil {
			return err
		}
		created, err := w.count(ctx, `SELECT count(*) FROM tasks`)
		if err != nil {
			return err
		}
		if answered := int64(n * r.Statuses[http.StatusOK]); created < answered {
			return fmt.Errorf("%d tasks were said to be created, %d are there", answered, created)
		}
		rate = append(rate, float64(created)/r.Seconds)
		p50, p99 = append(p50, percentile(r.Millis, 50)), append(p99, percentile(r.Millis, 99))
		millis = append(millis, r.Millis...)
		failed += r.Failed
		u := after.since(before)
		b.say("  %d a request: %.0f tasks/s, p50 %.1f ms, p99 %.1f ms, %d failed %s, %.1f s of CPU",
			n, rate[len(rate)-1], p50[len(p50)-1], p99[len(p99)-1], r.Failed, r.FirstFailure, u.total())
	}
	all := latenciesOf(millis)
	f.add(
		figure{Name: "tasks, median of the rounds", Value: spreadOf(rate).Median, Unit: "tasks/s"},
		figure{Name: "tasks, least", Value: spreadOf(rate).Min, Unit: "tasks/s"},
		figure{Name: "tasks, most", Value: spreadOf(rate).Max, Unit: "tasks/s"},
		figure{Name: "p50", Value: all.P50, Unit: unitMillis},
		figure{Name: "p95", Value: all.P95, Unit: unitMillis},
		figure{Name: "p99", Value: all.P99, Unit: unitMillis},
		figure{Name: "p99.9", Value: all.P999, Unit: unitMillis},
		figure{Name: "p99, best to worst round", Value: spreadOf(p99).Max / spreadOf(p99).Min, Unit: "times"},
		figure{Name: "requests", Value: float64(all.N)},
		figure{Name: "requests that failed", Value: float64(failed), None: true})
	return w.clear(ctx)
}
