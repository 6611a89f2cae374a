package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/taskloom/taskloom/internal/measure/freshdb"
	"github.com/taskloom/taskloom/internal/measure/procfs"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/arrival"
	"github.com/taskloom/taskloom/load/internal/record"
	"github.com/taskloom/taskloom/load/internal/series"
)

// run is one script at work: what it made, and what it found.
type run struct {
	options

	stdout, progress io.Writer
	server           string // DATABASE_URL
	began            time.Time
	dir              string
	db               *freshdb.Database
	pool             *pgxpool.Pool
	world            *world
	cluster          *cluster
	proxy            *proxy // between the product and Temporal, in an outage
	clients          *clients

	rec    *record.Recorder
	hlog   *os.File
	late   *record.Recorder // of this program
	loop   *arrival.Loop
	think  *arrival.Think
	series series.Set
	peaks  guarded[map[string]float64] // most memory of a process, MB, by name
	disk   guarded[stillness]
	phases guarded[[]phase]
	home   guarded[chan struct{}] // closed when people go home
	facts  facts
	bare   any // what a script without objectives found

	counting   bool        // Postgres counts what statements cost
	statements []statement // by phase

	notes    guarded[[]string]
	failures guarded[[]error] // what makes the run fail at its end
	numbers  guarded[map[string]float64]
	watching sync.WaitGroup
	unwatch  context.CancelFunc
	cleanups []func()
}

// phase is a stretch of a run with a name.
type phase struct {
	Name string        `json:"name"`
	From time.Duration `json:"from"`
}

func newRun(ctx context.Context, o options, stdout, stderr io.Writer) (_ *run, err error) {
	r := &run{options: o, stdout: stdout, progress: stderr, server: os.Getenv("DATABASE_URL"), began: time.Now()}
	r.numbers.set(map[string]float64{})
	if r.server == "" || os.Getenv("TEMPORAL_ADDRESS") == "" {
		return nil, errors.New("DATABASE_URL and TEMPORAL_ADDRESS name no Postgres and no Temporal: run `make load SCRIPT=" + o.script +
			"`, or put `bin/taskloom-dev exec --` in front")
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	// What the product logs stays beside the results.
	r.dir = strings.TrimSuffix(o.results, ".json") + ".logs"
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make room for the results: %w", err)
	}
	if r.db, err = freshdb.New(ctx, r.server, "taskloom_load_"); err != nil {
		return nil, err
	}
	r.later(func() {
		if err := r.db.Drop(); err != nil {
			r.say("%v", err)
		}
	})
	conf, err := pgxpool.ParseConfig(r.db.URL)
	if err != nil {
		return nil, err
	}
	conf.MaxConns = 12
	if r.pool, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		return nil, err
	}
	r.later(r.pool.Close)
	return r, nil
}

// prepare makes the world and starts the product.
func (r *run) prepare(ctx context.Context) (err error) {
	r.noteSharing(procfs.Autogroup())
	if r.explain > 0 {
		if err := r.explainSlow(ctx); err != nil {
			return err
		}
	}
	if r.script == "growth" {
		if err := r.countStatements(ctx); err != nil {
			return err
		}
	}
	if r.world, err = newWorld(ctx, r.pool, r.options); err != nil {
		return fmt.Errorf("prepare the organization: %w", err)
	}
	if r.script != "growth" {
		m := r.mix()
		r.say("filling in %d tasks: %d free, %d claimed, %d escalated, all others finished", r.tasks, m.Free, m.Claimed, m.Escalated)
		if err := r.world.fill(ctx, r.tasks, m); err != nil {
			return err
		}
		// They have been there for long: they are on the disk, and Postgres has old
		// segments of its log at hand.
		if err := r.checkpoint(ctx); err != nil {
			return err
		}
		if need := r.claims(); r.script != "cost" && r.script != "outage" && m.Free < need {
			r.note("%d tasks are free, and up to %d are claimed: the queue may run empty", m.Free, need)
		}
	}
	if r.cluster, err = newCluster(ctx, r.options, r.db.URL, r.dir); err != nil {
		return err
	}
	if r.script == "outage" {
		if r.proxy, err = newProxy(ctx, os.Getenv("TEMPORAL_ADDRESS")); err != nil {
			return err
		}
		r.later(r.proxy.close)
		r.cluster.through(r.proxy.addr())
	}
	r.say("starting %d serve and %d worker", r.serves, r.workers)
	r.later(r.cluster.stop)
	if err := r.cluster.start(ctx); err != nil {
		return err
	}
	r.clients = newClients(r.cluster.bases)
	r.think = arrival.NewThink(r.seed)
	if r.hlog, err = os.Create(strings.TrimSuffix(r.results, ".json") + ".hlog"); err != nil {
		return fmt.Errorf("make the log of histograms: %w", err)
	}
	r.later(func() { _ = r.hlog.Close() })
	return r.reset()
}

// reset begins the clock of the script.
func (r *run) reset() (err error) {
	r.began = time.Now()
	if r.rec, err = record.New(r.began, r.hlog); err != nil {
		return err
	}
	if r.late, err = record.New(r.began, nil); err != nil {
		return err
	}
	r.loop = &arrival.Loop{Began: r.began, Late: func(due time.Time, by time.Duration) {
		r.late.Record(record.Key{Phase: r.phaseAt(due), Op: slo.Lateness, Class: record.OK}, by, 0, "")
	}}
	return nil
}

// enter begins a phase at a time since the beginning, also ahead of it.
func (r *run) enter(name string, from time.Duration) {
	r.phases.with(func(all *[]phase) { *all = append(*all, phase{name, from}) })
	r.say("phase %s from second %.0f", name, from.Seconds())
}

// phaseAt is the phase to which what was due then belongs.
func (r *run) phaseAt(due time.Time) string {
	at := due.Sub(r.began)
	for _, p := range slices.Backward(r.phases.get()) {
		if at >= p.From {
			return p.Name
		}
	}
	return warmup
}

// warmup is the phase before anything counts.
const warmup = "warmup"

// stream starts something whenever it is due, beside everything else, until
// ctx ends. The group waits for its schedule, not for what it started.
func (r *run) stream(ctx context.Context, g *sync.WaitGroup, times arrival.Times, do func(due time.Time)) {
	g.Go(func() { r.loop.Run(ctx, times, do) })
}

// say tells whoever waits how far the run is.
func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%7.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// note is something to tell with the results.
func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.say("%s", text)
	r.notes.with(func(all *[]string) { *all = append(*all, text) })
}

// fail notes what a run may not have, however its figures are. It goes on, and
// fails at its end.
func (r *run) fail(err error) {
	r.note("%v", err)
	r.failures.with(func(all *[]error) { *all = append(*all, err) })
}

// number notes a figure, under the name of an SLI or another.
func (r *run) number(name string, v float64) {
	r.numbers.with(func(all *map[string]float64) { (*all)[name] = v })
}

// later registers what must be undone when the run ends, last first.
func (r *run) later(fn func()) { r.cleanups = append(r.cleanups, fn) }

func (r *run) close() {
	for _, fn := range slices.Backward(r.cleanups) {
		fn()
	}
	r.cleanups = nil
}

// until waits for a time since the beginning.
func (r *run) until(ctx context.Context, at time.Duration) error {
	return wait(ctx, time.Until(r.began.Add(at)))
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// phaseShift is where in its first gap a stream begins: another for each.
func phaseShift(seed uint64, name string) float64 {
	h := seed
	for _, c := range []byte(name) {
		h = h*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(h, 1)).Float64() //nolint:gosec // no secret
}
