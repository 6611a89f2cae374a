package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// chaosWork is how long an item is worked on, so that there is always one in
	// the hands of a worker that dies.
	chaosWork = 500 * time.Millisecond
	// chaosSlots are items that one of the two workers works on at a time: one
	// worker alone can do the load.
	chaosSlots = 20
	// chaosName is how our own connections are told from the contender's.
	chaosName = "race-observer"
	// recovered is the share of the baseline that ends a fault.
	recovered = 0.9
	// rateOver is what a rate is taken over.
	rateOver = 3 * time.Second
	// healedOver is what it is taken over at least once a fault is healed.
	healedOver = 10 * time.Second
	// patience is how long a caller tries again before it gives an item up.
	patience = 30 * time.Second
)

// chaosSystem is a queue with two workers of its own, in processes that can be
// killed.
type chaosSystem interface {
	// send puts an item in and returns what it is called in effects; no error says
	// that it is acknowledged, and that nobody else is told of the same item. Items
	// whose fate is not known are not sent again under the same number.
	send(ctx context.Context, n int64) (item int64, err error)
	// effects is the query for the name and the count of effects of every item.
	effects() string
	// hands are those of the given items, which are not done, that a worker has begun.
	hands(ctx context.Context, i int, open []int64) ([]int64, error)
	workers() []*child
	// startWorker starts the worker of an index.
	startWorker(ctx context.Context, i int) error
	databaseURL() string
	children() []*child
	end(r *room)
}

// chaosContender breaks what a queue stands on.
type chaosContender struct {
	in      info
	prepare func(ctx context.Context, r *room) error
	open    func(ctx context.Context, r *room) (chaosSystem, error)
}

func (c *chaosContender) info() info { return c.in }

func (c *chaosContender) setup(ctx context.Context, r *room) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, r)
}

func (c *chaosContender) close(*room) {}

// havoc is one sample.
type havoc struct {
	r      *room
	system chaosSystem
	s      *sample
	meter  *meter

	mu       sync.Mutex
	acked    map[int64]time.Time
	doubled  int // acknowledgements of an item that somebody else had one for
	sent     int64
	unknown  int
	orphans  map[int64]bool // items of a killed worker that nobody has done in time
	killedAt time.Time
	// held is how many items the killed worker had begun and not finished.
	held int
	// rescued is how long after that everything was done that was there then, or
	// how long that was waited for.
	rescued time.Duration
	// left is how many of those were not done at the first look after that.
	left int

	progress []progress // by mu

	keeping  sync.Mutex // held by whoever starts a worker
	away     bool       // the first worker is dead on purpose
	restarts int
}

func (c *chaosContender) sample(ctx context.Context, r *room) (*sample, error) {
	system, err := c.open(ctx, r)
	if system != nil {
		defer system.end(r)
	}
	if err != nil {
		return nil, err
	}
	if err := settle(ctx, system.databaseURL()); err != nil {
		return nil, err
	}
	h := &havoc{r: r, system: system, s: newSample(), meter: newMeter(), acked: map[int64]time.Time{}, orphans: map[int64]bool{}}
	for i := range system.workers() {
		if err := system.startWorker(ctx, i); err != nil {
			return nil, err
		}
	}
	keeping, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		h.keep(keeping)
	}()
	defer func() {
		stop()
		<-kept
	}()
	seconds, cpu, err := h.s.metered("all", c.in, h.meter, system.children, func() error { return h.run(ctx) })
	h.s.Values["cpu_per_s"] = ratio(cpu, seconds)
	return h.s, err
}

// run sends at a constant rate, looks at the baseline, and lets the faults come
// one after the other.
func (h *havoc) run(ctx context.Context) error {
	sending, stop := context.WithCancel(ctx)
	var senders sync.WaitGroup
	senders.Go(func() { h.load(sending) })
	senders.Go(func() { h.follow(sending) })
	defer func() {
		stop()
		senders.Wait()
	}()
	if err := wait(ctx, 5*time.Second); err != nil { // warm
		return err
	}
	baseline, err := h.rate(ctx, h.r.chaosPhase)
	if err != nil {
		return err
	}
	if baseline < float64(h.r.chaosRate)/2 {
		return fmt.Errorf("the baseline is %.1f items/s of %d that are sent: too little to say anything", baseline, h.r.chaosRate)
	}
	h.s.Values["baseline_per_s"] = baseline
	for _, f := range faults {
		if err := h.suffer(ctx, f, baseline); err != nil {
			return fmt.Errorf("%s: %w", f.says, err)
		}
	}
	stop()
	senders.Wait()
	return h.settle(ctx)
}

// keep brings workers back that end by themselves, as whoever runs them in
// earnest does.
func (h *havoc) keep(ctx context.Context) {
	for wait(ctx, time.Second) == nil {
		// What is killed has been looked at a second ago at most.
		if err := h.meter.look(h.system.children()); err != nil {
			h.r.say("    CPU time was not looked at: %v", err)
		}
		h.keeping.Lock()
		for i, w := range h.system.workers() {
			if w.Pid() != 0 || i == 0 && h.away || ctx.Err() != nil {
				continue
			}
			h.restarts++
			h.r.say("    worker %d has ended and is started again", i)
			if err := h.system.startWorker(ctx, i); err != nil {
				h.r.say("    it does not start: %v", err) // the next time, perhaps
				h.system.workers()[i].Kill()
			}
		}
		h.keeping.Unlock()
	}
}

// suffer causes a fault, heals it, and waits for the baseline.
func (h *havoc) suffer(ctx context.Context, f fault, baseline float64) error {
	if f.before != nil {
		if err := f.before(ctx, h); err != nil {
			return err
		}
	}
	caused := time.Now()
	heal, err := f.cause(ctx, h)
	if err != nil {
		return err
	}
	var watch errgroup.Group
	watched, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		_ = watch.Wait() // where it matters it has been waited for
	}()
	if f.name == faultKill { // its items may be done long before all else is looked at
		watch.Go(func() error { return h.awaitOrphans(watched) })
	}
	lasts := h.r.chaosPhase
	if f.name == faultHeld {
		lasts = h.r.chaosHeld
	}
	if err := wait(ctx, lasts); err != nil {
		return errors.Join(err, heal(context.WithoutCancel(ctx)))
	}
	if err := heal(ctx); err != nil {
		return err
	}
	healed := time.Now()
	if err := h.look(ctx); err != nil {
		return err
	}
	h.s.Values[f.name+"_worst"] = ratio(h.worst(caused, healed), baseline)
	over := healed
	if f.momentary {
		over = caused
	}
	took, err := h.awaitRate(ctx, over, recovered*baseline)
	if err != nil {
		return err
	}
	h.s.Values[f.name+"_to90_s"] = took.Seconds()
	after, err := h.rate(ctx, max(healedOver, h.r.chaosPhase/3))
	if err != nil {
		return err
	}
	h.s.Values[f.name+"_healed"] = ratio(after, baseline)
	h.r.say("    %s: %.1f s to 90 %%, then %.0f %% of the baseline", f.says, took.Seconds(), 100*h.s.Values[f.name+"_healed"])
	if f.name != faultKill {
		return nil
	}
	if err := watch.Wait(); err != nil {
		return err
	}
	h.tellRescue()
	return nil
}

// load is an open loop of items.
func (h *havoc) load(ctx context.Context) {
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(h.r.chaosRate))
	defer tick.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-ctx.Done():
			all.Wait()
			return
		case <-tick.C:
		}
		all.Go(func() {
			// The last ones may still arrive when no more are sent.
			one, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
			defer cancel()
			item, err := h.system.send(one, n)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.sent++
			if err != nil {
				h.unknown++
				return
			}
			if _, ok := h.acked[item]; ok {
				h.doubled++
			}
			h.acked[item] = time.Now()
		})
	}
}

// settle waits for what is left, as long as there is less and less of it, and
// counts what was lost or done twice. The items of the killed worker that nobody
// has taken up are told by themselves.
func (h *havoc) settle(ctx context.Context) error {
	least, since := math.MaxInt, time.Now()
	for {
		done, err := h.done(ctx)
		if err != nil {
			return err
		}
		lost := h.count(done)
		if lost < least {
			least, since = lost, time.Now()
		}
		if lost == 0 || time.Since(since) > h.r.chaosHeal {
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// count notes what became of the items, and returns how many are not done.
func (h *havoc) count(done map[int64]int64) (lost int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range h.acked {
		if done[n] == 0 && !h.orphans[n] {
			lost++
		}
	}
	twice := h.doubled
	for _, times := range done {
		if times > 1 {
			twice++
		}
	}
	v := h.s.Values
	v["sent"], v["acknowledged"], v["unknown"] = float64(h.sent), float64(len(h.acked)), float64(h.unknown)
	v["lost"], v["twice"] = float64(lost), float64(twice)
	h.keeping.Lock()
	v["restarts"] = float64(h.restarts)
	h.keeping.Unlock()
	return lost
}

// chaosRace is race 4.
func chaosRace(ctx context.Context, r *room) error { return chaosCompetition(r).run(ctx, r) }

func chaosCompetition(r *room) *competition {
	figures := []figure{{Name: "baseline_per_s", Says: "baseline", Unit: "/s", More: true}}
	for _, f := range faults {
		figures = append(figures,
			figure{Name: f.name + "_worst", Says: f.says + ": of the baseline, at worst over 3 s", More: true},
			figure{Name: f.name + "_healed", Says: f.says + ": of the baseline after healing", More: true, Bound: 0.95},
			figure{Name: f.name + "_to90_s", Says: f.says + ": until 90 % were done for 3 s", Unit: "s"})
	}
	c := &competition{
		race: "chaos", phase: "all",
		title: fmt.Sprintf("faults of %s, a snapshot held for %s, %d items/s, two workers", r.chaosPhase, r.chaosHeld, r.chaosRate),
		figures: append(figures,
			figure{Name: "cpu_per_s", Says: "CPU seconds a second, over all", Unit: "CPU-s/s", CPU: true},
			figure{Name: "rescue_s", Says: fmt.Sprintf("until the items of a killed worker were done, %s at most", r.rescue), Unit: "s", Bound: 30, Drawn: true},
			figure{Name: "held_at_kill", Says: "items that it had begun and not finished when it was killed"},
			figure{Name: "left_at_kill", Says: "items not done at the first look after the kill"},
			figure{Name: "not_rescued", Says: "of them not done by then"},
			figure{Name: "lost", Says: "of all others not done by the end", None: true},
			figure{Name: "twice", Says: "done twice", None: true},
			figure{Name: "restarts", Says: "workers that ended by themselves and were started again"},
			figure{Name: "unknown", Says: "refused or of unknown fate"}),
	}
	c.add(r, taskloomChaosContender(r.options))
	c.add(r, riverChaosContender())
	c.add(r, nodeChaosContender(r.options, pgBoss))
	c.add(r, nodeChaosContender(r.options, graphile))
	return c
}

// effectsTable is where the workers of job queues leave what they have done.
const (
	effectsTable = `CREATE TABLE race_effects (n bigint NOT NULL, at timestamptz NOT NULL DEFAULT now())`
	effectsQuery = `SELECT n, count(*) FROM race_effects GROUP BY n`
)
