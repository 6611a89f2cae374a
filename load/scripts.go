package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/taskloom/taskloom/load/internal/arrival"
)

// begin lets everybody in and starts the clock.
func (r *run) begin(ctx context.Context) (err error) {
	f := &r.facts
	f.held, f.skipped, f.tallies = map[nodeKey]string{}, map[string]int64{}, map[string]tally{}
	f.contributors.free = append([]*person(nil), r.world.contributors...)
	f.reviewers.free = append([]*person(nil), r.world.reviewers...)
	f.probes.Store(true)
	r.home.set(make(chan struct{}))
	if f.tasks, err = r.world.someTasks(ctx, 5000); err != nil {
		return err
	}
	if len(f.tasks) == 0 {
		return errors.New("there are no tasks to ask for")
	}
	if err := r.reset(); err != nil {
		return err
	}
	r.watch(ctx)
	return nil
}

// windMost is how long what was started before the end may take: at least as long
// as somebody comes again who insists, and waits for the last answer. It is cut off
// then, and not measured, so that the run counts for nothing.
func (r *run) windMost() time.Duration { return max(insistent+requestTimeout, r.dur/4) }

// wind lets the schedules end, and what was started: the slowest requests count
// as much as all others. Only who is still thinking goes home.
func (r *run) wind(ctx context.Context, stop context.CancelFunc, g *sync.WaitGroup) error {
	g.Wait()
	close(r.home.get())
	done := make(chan struct{})
	go func() {
		r.loop.Wait()
		close(done)
	}()
	cut := time.NewTimer(r.windMost())
	defer cut.Stop()
	select {
	case <-done:
	case <-cut.C:
		r.fail(fmt.Errorf("%d of what was begun were still under way %v after the end, and cut off; the run counts for nothing: look for what "+
			"hangs in the logs of the processes, %s", r.loop.Open(), r.windMost(), r.dir))
	case <-ctx.Done():
	}
	stop()
	<-done
	r.home.set(make(chan struct{}))
	return ctx.Err()
}

// usual is the length of a script that plays all of what goes on beside it: a
// shorter one plays its share, since the runs of 70,000 new tasks would
// otherwise be all that happens in it.
const usual = 30 * time.Minute

// shareOf is how much of n belongs into a script's length, at least one.
func (r *run) shareOf(n int) int {
	return max(1, int(float64(n)*min(1, float64(r.dur)/float64(usual))+0.5))
}

// firstCreations is the share of a script's length at which programs create for the
// first time: however short it is, at least one does.
const firstCreations = 0.3

// beside starts creations and archives at shares of a script's length: several
// at the same time. An admin publishes among the first creations, and at noon.
func (r *run) beside(ctx context.Context, g *sync.WaitGroup) {
	b := makeBodies(true)
	creations := r.shareOf(3 * creatorCount)
	for _, at := range []float64{firstCreations, 0.6, 0.85} {
		together := min(creatorCount, creations)
		creations -= together
		r.stream(ctx, g, scriptTimes(r.dur, at), func(due time.Time) {
			var all sync.WaitGroup
			for c := range together {
				all.Go(func() { r.create(ctx, due, c, "create-5000", b.small) })
			}
			all.Wait()
		})
	}
	r.stream(ctx, g, scriptTimes(r.dur, []float64{0.45, 0.75}[:r.shareOf(2)]...), func(due time.Time) {
		r.create(ctx, due, 0, "create-32mb", b.large)
	})
	var publishing sync.Mutex // an admin does one thing at a time
	among := time.Duration(firstCreations*float64(r.dur)) + amongCreations
	r.stream(ctx, g, arrival.At(among, r.dur/2), func(due time.Time) {
		publishing.Lock()
		defer publishing.Unlock()
		r.publish(ctx, due)
	})
	r.stream(ctx, g, scriptTimes(r.dur, 0.25), func(time.Time) {
		var both sync.WaitGroup
		for seed := range uint64(archiveCount) {
			both.Go(func() { r.ingest(ctx, seed) })
		}
		both.Wait()
	})
}

// runPeak plays the busiest hour.
func runPeak(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := busiest.scaled(r.options)
	r.enter("peak", r.warmFor())
	var g sync.WaitGroup
	r.warm(play, &g, p, r.warmFor())
	r.play(play, &g, p, 0, r.dur)
	r.beside(play, &g)
	r.besideWalk(play, &g)
	r.besideWorkers(play, &g)
	return r.wind(ctx, stop, &g)
}

// runDay plays a mean hour in the shape of a day. Polls, leases and saves go by
// the clock, as ever; people think less, and so do more.
func runDay(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := mean
	p.Tasks, p.Verdicts = p.Tasks*r.compress, p.Verdicts*r.compress
	p = p.thinking(r.compress).scaled(r.options)
	r.note("people think %g times less than on a real day, and %d of them do so much more each", r.compress, len(r.world.contributors))
	r.enter("day", r.warmFor())
	var g sync.WaitGroup
	r.warm(play, &g, p, r.warmFor())
	r.shape(play, &g, p, arrival.Day(r.dur), arrival.DayMost, 0, r.dur)
	r.beside(play, &g)
	r.besideWalk(play, &g)
	return r.wind(ctx, stop, &g)
}

// runBurst is the start of a shift: everybody claims at once. Then the queue of
// another pipeline is emptied, and everybody looks again.
func runBurst(ctx context.Context, r *run) error {
	everybody := r.count(contributorCount)
	if err := r.world.fillSmall(ctx, max(1, everybody/5)); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	from, shift, retry := r.warmFor(), r.dur/3, r.dur/6
	p := mean.scaled(r.options)
	p.Tasks = 0 // they come all together
	// Nobody saves or renews before they have something.
	onWork := profile{Extends: p.Extends, Drafts: p.Drafts}
	p.Extends, p.Drafts = 0, 0
	r.enter("shift-start", from)
	r.enter("queue-empty", from+shift)
	var g sync.WaitGroup
	r.play(play, &g, p, 0, r.dur)
	r.play(play, &g, onWork, from+shift/10, r.dur)
	r.stream(play, &g, arrival.Burst(everybody, from, shift), func(due time.Time) {
		r.contribute(play, due, min(mean.Handling, r.dur/2), 1)
	})
	for round := range 2 {
		start := from + shift + time.Duration(round)*(retry+retry/5)
		n := 0
		r.stream(play, &g, arrival.Burst(everybody, start, retry), func(due time.Time) {
			r.facts.mu.Lock()
			who := r.world.contributors[n%everybody]
			n++
			r.facts.mu.Unlock()
			r.claim(play, who, r.world.small, "contributor", "claim", due)
		})
	}
	return r.wind(ctx, stop, &g)
}

// runSoak plays a mean hour for long. In the middle of each day all is vacuumed
// and somebody walks over all tasks.
func runSoak(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := mean.scaled(r.options)
	r.enter("soak", r.warmFor())
	var g sync.WaitGroup
	r.warm(play, &g, p, r.warmFor())
	r.play(play, &g, p, 0, r.dur)
	r.beside(play, &g)
	day := min(24*time.Hour, r.dur)
	for at := day / 2; at < r.dur; at += day {
		r.stream(play, &g, arrival.At(at), func(time.Time) {
			r.say("vacuum and a walk over all tasks")
			if _, err := r.pool.Exec(play, `VACUUM (ANALYZE)`); err != nil && play.Err() == nil {
				r.note("vacuum: %v", err)
			}
			r.walk(play)
		})
	}
	return r.wind(ctx, stop, &g)
}
