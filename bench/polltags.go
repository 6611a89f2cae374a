package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/taskloom/taskloom/bench/internal/load"
)

// taggedTasks are the tasks whose entity tags a poller knows.
const taggedTasks = 1000

// tags compares polls that send the entity tag of an earlier answer with polls
// that do not. Nothing changes meanwhile, as is so between most polls.
func (p *polls) tags(ctx context.Context, what polled, with []load.Request) error {
	without := make([]load.Request, len(with))
	for i, r := range with {
		r.Header = http.Header{"Authorization": r.Header["Authorization"]}
		without[i] = r
	}
	// There and back: half of the polls of each side in every sample.
	plan := load.Plan{Clients: pollClients, Requests: uint64(p.etagPolls / 2)} //nolint:gosec // at least 2
	bare := &pollRun{polls: p, plan: plan, next: inTurn(without), server: p.product.api}
	tagged := &pollRun{polls: p, plan: plan, next: inTurn(with), server: p.product.api}
	bare.value = func(load.Result) float64 { return bare.lastCPU() }
	tagged.value = func(load.Result) float64 { return tagged.lastCPU() }
	m := &measure{Case: fmt.Sprintf("%d polls of %s with If-None-Match, against without", p.etagPolls, what.name), Unit: "s of CPU"}
	m.Load[0] = loadAverage()
	both, err := p.palindrome(ctx, m.Case, 1, bare.sample, tagged.sample)
	if err != nil {
		return err
	}
	p.compare(m, both[0], both[1])
	m.FloorLatencies, m.OursLatencies = latenciesOf(bare.millis), latenciesOf(tagged.millis)
	p.find(m.Case).add(tagged.tagFigures("with")...)
	p.find(m.Case).add(bare.tagFigures("without")...)
	return nil
}

// tagged asks for each thing once and keeps its entity tag.
func (p *polls) tagged(ctx context.Context, what polled) ([]load.Request, error) {
	numbers := min(taggedTasks, len(p.tasks))
	if what.path(0) == what.path(1) {
		numbers = 1
	}
	out := make([]load.Request, numbers)
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for i := range out {
		r := load.Request{
			Method: http.MethodGet, URL: p.product.base + "/api/v1" + what.path(i), Header: http.Header{"Authorization": {"Bearer " + p.key}},
		}
		req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, http.NoBody)
		if err != nil {
			return nil, err
		}
		req.Header = r.Header
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		tag := res.Header.Get("ETag")
		if err := res.Body.Close(); err != nil || tag == "" {
			return nil, fmt.Errorf("%s has no entity tag: %d", r.URL, res.StatusCode)
		}
		r.Header = http.Header{"Authorization": r.Header["Authorization"], "If-None-Match": {tag}}
		out[i] = r
	}
	return out, nil
}

// inTurn sends one request after the other, from the start again at the end.
func inTurn(requests []load.Request) func() load.Request {
	var n atomic.Int64
	return func() load.Request { return requests[int(n.Add(1))%len(requests)] }
}

// lastCPU is what all processes used in the last sample.
func (r *pollRun) lastCPU() float64 { return r.used[len(r.used)-1].total() }

func (r *pollRun) tagFigures(side string) []figure {
	n := float64(max(1, len(r.millis)))
	return []figure{
		{Name: side + ": answered 304", Value: r.unchanged(), Unit: unitPercent},
		{Name: side + ": bytes received a poll, with headers", Value: float64(r.received) / n, Unit: "B"},
		{Name: side + ": bytes sent a poll, with headers", Value: float64(r.sent) / n, Unit: "B"},
		{Name: side + ": CPU a poll, all processes", Value: r.cpuMillis(), Unit: unitCPU},
		{Name: side + ": CPU a poll, API and Postgres", Value: r.cpuMillis(r.parts()...), Unit: unitCPU},
		{Name: side + ": polls that failed", Value: float64(r.failed), None: true},
	}
}
