// Command load plays the users of the product, all of them at once, against
// the real binary: contributors and reviewers, integrators, archives, an admin.
// Requests start when they are due, whether or not earlier ones were answered,
// and their latency counts from then. At the end it holds what it measured
// against the objectives and fails when one is missed. docs/load.md says how
// to read it; `make load SCRIPT=peak` provides Postgres, Temporal and S3.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// script is one way to load the product.
type script struct {
	name  string
	about string
	dur   time.Duration // when -dur is not given
	run   func(context.Context, *run) error
	// bare scripts measure something else than the objectives.
	bare bool
}

var scripts = []script{
	{"day", "eight hours in shape, with shorter thinking", 30 * time.Minute, runDay, false},
	{"peak", "the busiest hour, with archives and creations beside it", 30 * time.Minute, runPeak, false},
	{"burst", "500 claims in 10 s, then an empty queue and 500 retries in 5 s", 30 * time.Second, runBurst, false},
	{"quarter", "100,000 tasks in 5 minutes by 4 creations at a time", 5 * time.Minute, runQuarter, false},
	{"stress", "three times the peak and more, until requests are refused", 10 * time.Minute, runStress, false},
	{"outage", "the peak, with Temporal gone for a third of it", 30 * time.Minute, runOutage, false},
	{"soak", "a mean day after the other, with a vacuum and a walk over all tasks in between", 24 * time.Hour, runSoak, false},
	{"cost", "what one task costs Temporal and Postgres", 0, runCost, true},
	{"growth", "the same requests beside ever more tasks", time.Minute, runGrowth, true},
}

// errMissed is the end of a run that missed an objective.
var errMissed = errors.New("an objective was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if o.plot != "" {
		return draw(o.plot, o.keep, o.drawing)
	}
	s := scripts[slices.IndexFunc(scripts, func(s script) bool { return s.name == o.script })]
	r, err := newRun(ctx, o, stdout, stderr)
	if err != nil {
		return err
	}
	defer r.close()
	r.say("%s: %s", s.name, s.about)
	if err := r.prepare(ctx); err != nil {
		return err
	}
	failed := s.run(ctx, r)
	if failed != nil {
		r.note("the script ended early: %v", failed)
	}
	if r.explain > 0 {
		failed = errors.Join(failed, r.keepPlans())
	}
	if s.bare {
		return errors.Join(failed, r.finishBare())
	}
	return errors.Join(failed, r.finish())
}
