package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/bench/internal/load"
	"github.com/taskloom/taskloom/internal/measure/process"
)

const (
	// pollClients ask at a time where it is about capacity, as race 5 has it.
	pollClients = 20
	// polledTasks are the tasks whose status is asked for, spread over all.
	polledTasks = 5000
	// pollAim and pollCPU are race 5's.
	pollAim = 3
	pollCPU = 2
)

// polls is the product and the floor on one database.
type polls struct {
	*bench
	*world
	product   *deployment
	floor     *process.Process
	floorBase string
	tasks     []int64
}

// pollsPart compares polls of a status and of a list in a pipeline of many
// tasks with the same SQL behind a bare server.
func pollsPart(ctx context.Context, b *bench) error {
	w, err := b.largeWorld(ctx)
	if err != nil {
		return err
	}
	// Parts before this one may have created tasks whose runs nobody began: the
	// worker shall not begin them now.
	if err := w.exec(ctx, `TRUNCATE outbox`); err != nil {
		return err
	}
	p := &polls{bench: b, world: w}
	if p.product, err = b.deploy(ctx, w.url, manyAtOnce); err != nil {
		return err
	}
	defer p.product.stop()
	if err := p.product.start(ctx); err != nil {
		return err
	}
	if p.floor, p.floorBase, err = b.startPollFloor(ctx, w); err != nil {
		return err
	}
	defer p.floor.Stop()
	if err := p.chooseTasks(ctx); err != nil {
		return err
	}
	watched := watchMemory(ctx, time.Second, p.product.api, p.product.worker)
	defer watched.stop()
	for _, what := range []polled{{"a status", p.statusPath}, {"a list of 200", p.listPath}} {
		if err := p.all(ctx, what); err != nil {
			return fmt.Errorf("%s: %w", what.name, err)
		}
	}
	watched.into(b.find("memory over all of it"))
	return nil
}

// all is what is measured of one thing that is asked for.
func (p *polls) all(ctx context.Context, what polled) error {
	if err := p.same(ctx, what); err != nil {
		return err
	}
	if err := p.capacity(ctx, what); err != nil {
		return err
	}
	known, err := p.tagged(ctx, what)
	if err != nil {
		return err
	}
	for _, rate := range p.rates {
		if err := p.latency(ctx, what, rate, "", p.ours(what)); err != nil {
			return err
		}
		if err := p.latency(ctx, what, rate, " with If-None-Match", inTurn(known)); err != nil {
			return err
		}
	}
	return p.tags(ctx, what, known)
}

// polled is one thing that is asked for.
type polled struct {
	name string
	path func(number int) string
}

func (p *polls) statusPath(number int) string {
	return fmt.Sprintf("/workflows/%d/tasks/%d", p.pipelineID, p.tasks[number%len(p.tasks)])
}

func (p *polls) listPath(int) string {
	return fmt.Sprintf("/workflows/%d/tasks?limit=%d", p.pipelineID, pageSize)
}

// chooseTasks takes tasks from all over the pipeline, in no order.
func (p *polls) chooseTasks(ctx context.Context) error {
	rows, _ := p.store.Pool().Query(ctx, `SELECT id FROM (SELECT id, ntile($2) OVER (ORDER BY id) AS part FROM tasks WHERE pipeline_id = $1) t
		GROUP BY part, id HAVING id = min(id) ORDER BY md5(id::text) LIMIT $2`, p.pipelineID, polledTasks)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	p.tasks = ids
	return err
}

// requests asks one side for one thing, each time for the next.
func (p *polls) requests(base string, header http.Header, what polled) func() load.Request {
	var number atomic.Int64
	return func() load.Request {
		return load.Request{Method: http.MethodGet, URL: base + what.path(int(number.Add(1))), Header: header}
	}
}

func (p *polls) ours(what polled) func() load.Request {
	return p.requests(p.product.base+"/api/v1", http.Header{"Authorization": {"Bearer " + p.key}}, what)
}

func (p *polls) theirs(what polled) func() load.Request {
	return p.requests(p.floorBase, http.Header{}, what)
}

// same keeps the floor honest: both must tell the same.
func (p *polls) same(ctx context.Context, what polled) error {
	var both [2]struct {
		floorTask

		Tasks   []floorTask `json:"tasks"`
		HasMore bool        `json:"has_more"`
	}
	path := what.path(0)
	floor := newAPIClient(p.floorBase, "")
	if _, err := floor.decode(ctx, http.MethodGet, path, nil, &both[0]); err != nil {
		return err
	}
	if _, err := p.client().decode(ctx, http.MethodGet, "/api/v1"+path, nil, &both[1]); err != nil {
		return err
	}
	if one, other := fmt.Sprint(both[0]), fmt.Sprint(both[1]); one != other {
		return fmt.Errorf("the floor answers %.300s, the API %.300s", one, other)
	}
	return nil
}

func (p *polls) client() *apiClient { return newAPIClient(p.product.base, p.key) }

// capacity lets clients ask as fast as they are answered.
func (p *polls) capacity(ctx context.Context, what polled) error {
	plan := load.Plan{Clients: pollClients, For: p.sample}
	rate := func(r load.Result) float64 { return float64(len(r.Millis)) / r.Seconds }
	floor := &pollRun{polls: p, plan: plan, next: p.theirs(what), server: p.floor, value: rate}
	ours := &pollRun{polls: p, plan: plan, next: p.ours(what), server: p.product.api, value: rate}
	m := &measure{Case: fmt.Sprintf("%s, %d clients as fast as they can", what.name, pollClients), Unit: unitRate, noiseRounds: 1}
	return p.raceRuns(ctx, m, floor, ours)
}

// latency asks at a constant rate, whether or not earlier polls are answered: the
// product with the given requests, the floor, which knows no entity tags, always
// for the whole. The value of a sample is its p99, from when polls were due.
func (p *polls) latency(ctx context.Context, what polled, rate int, how string, next func() load.Request) error {
	plan := load.Plan{Every: time.Second / time.Duration(rate), For: p.sample}
	p99 := func(r load.Result) float64 { return percentile(r.Millis, 99) }
	floor := &pollRun{polls: p, plan: plan, next: p.theirs(what), server: p.floor, value: p99}
	ours := &pollRun{polls: p, plan: plan, next: next, server: p.product.api, value: p99}
	m := &measure{Case: fmt.Sprintf("p99 of %s at %d/s%s", what.name, rate, how), Unit: unitMillis, Aim: pollAim, noiseRounds: 1}
	return p.raceRuns(ctx, m, floor, ours)
}

func (p *polls) raceRuns(ctx context.Context, m *measure, floor, ours *pollRun) error {
	for _, r := range []*pollRun{floor, ours} { // both warm
		if _, err := load.Run(ctx, load.Plan{Clients: r.plan.Clients, Every: r.plan.Every, For: p.sample / 5}, r.next); err != nil {
			return err
		}
	}
	if err := p.race(ctx, m, floor.sample, ours.sample); err != nil {
		return err
	}
	m.FloorLatencies, m.OursLatencies = latenciesOf(floor.millis), latenciesOf(ours.millis)
	m.Extra = map[string]float64{"floor_failed": float64(floor.failed), "ours_failed": float64(ours.failed)}
	mean(floor.used).into(m.Extra, "floor")
	mean(ours.used).into(m.Extra, "ours")
	found := p.find(m.Case)
	found.add(
		figure{Name: "polls that failed", Value: float64(ours.failed), None: true},
		figure{Name: "polls that failed, the floor", Value: float64(floor.failed)},
		figure{Name: "answered 304", Value: ours.unchanged(), Unit: unitPercent},
		figure{Name: "CPU a poll, all processes", Value: ours.cpuMillis(), Unit: unitCPU, Most: pollCPU},
		figure{Name: "CPU a poll, all processes, the floor", Value: floor.cpuMillis(), Unit: unitCPU},
		figure{Name: "CPU a poll, API and Postgres", Value: ours.cpuMillis(ours.parts()...), Unit: unitCPU},
		figure{Name: "CPU a poll, API and Postgres, the floor", Value: floor.cpuMillis(floor.parts()...), Unit: unitCPU})
	if m.Unit == unitMillis { // an open loop: so much of its latencies is the client's
		found.add(
			figure{Name: "sent late, p99", Value: latenciesOf(ours.late).P99, Unit: unitMillis},
			figure{Name: "sent late, p99, the floor", Value: latenciesOf(floor.late).P99, Unit: unitMillis})
	}
	return nil
}

// pollRun is one side of a race.
type pollRun struct {
	*polls

	plan   load.Plan
	next   func() load.Request
	server *process.Process
	value  func(load.Result) float64

	millis, late   []float64
	failed         int
	statuses       map[int]int
	sent, received int64
	used           []usage
}

func (r *pollRun) sample(ctx context.Context) (float64, error) {
	before, err := r.usage(r.server, r.product.worker)
	if err != nil {
		return 0, err
	}
	got, err := load.Run(ctx, r.plan, r.next)
	if err != nil {
		return 0, err
	}
	after, err := r.usage(r.server, r.product.worker)
	if err != nil {
		return 0, err
	}
	if len(got.Millis) == 0 {
		return 0, fmt.Errorf("all %d polls of %s failed, one with: %s", got.Failed, r.server.Name, got.FirstFailure)
	}
	r.used = append(r.used, after.since(before))
	r.millis, r.late = append(r.millis, got.Millis...), append(r.late, got.Late...)
	r.failed += got.Failed
	r.sent, r.received = r.sent+got.Sent, r.received+got.Received
	if r.statuses == nil {
		r.statuses = map[int]int{}
	}
	for status, n := range got.Statuses {
		r.statuses[status] += n
	}
	return r.value(got), nil
}

// cpuMillis is what one poll costs the named processes; all of them when none is
// named. All of them are the client too, and what the worker and the other parts
// of the stack do when nothing is asked of them: the slower the polls come, the
// more of that falls on each.
func (r *pollRun) cpuMillis(names ...string) float64 {
	var seconds float64
	for _, u := range r.used {
		seconds += u.of(names...)
	}
	return 1000 * seconds / float64(max(1, len(r.millis)))
}

// parts are the processes that answer.
func (r *pollRun) parts() []string { return []string{r.server.Name, "postgres"} }

// unchanged is how many of a hundred answers said that nothing has changed.
func (r *pollRun) unchanged() float64 {
	return 100 * float64(r.statuses[http.StatusNotModified]) / float64(max(1, len(r.millis)))
}
