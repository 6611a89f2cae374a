// Command race lets Taskloom and the systems that people would otherwise use do
// the same work on the same Postgres, and tells how they did. `make race`
// installs the others, brings Postgres, Temporal and S3 up and runs it;
// docs/benchmarks.md says what is compared, and how.
//
// It is a module of its own, so that the product carries none of the others.
// Taskloom is asked over HTTP, as all its callers ask it.
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
)

// race is one of the races.
type race struct {
	name  string
	about string
	run   func(context.Context, *room) error
}

// races is filled by init: what they run reads the options, which name them.
var races []race

func init() {
	races = []race{
		{"claims", "claim to submit under contention: pg-boss, River, graphile-worker, the bare statement", claimsRace},
		{"held", "the same after an old snapshot has been held for ten minutes of work", heldRace},
		{"create", "5,000 items in one request, in an empty database and beside a million: River, pg-boss, COPY", createRace},
		{"flow", "subtask and review, two human messages: bare Temporal, DBOS, Restate", flowRace},
		{"chaos", "what is left of four queues while five faults come and go", chaosRace},
		{pollsName, "a list of 200 and a status against a floor server with the same SQL", pollsRace},
		{ingestName, "ZIP ingestion against a bare copy and against the script that people write", ingestRace},
		{"labelstudio", "Label Studio on PostgreSQL behind gunicorn: import, next task, submit, ids of 50,000", labelStudioRace},
	}
}

// begin runs the race once it is written down on what.
func (x race) begin(ctx context.Context, r *room) error {
	m, err := describeMachine(ctx, r.options, r.databaseURL)
	if err != nil {
		return err
	}
	r.results.begin(m)
	return x.run(ctx, r)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "race:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case reportCommand:
			return reportMain(args[1:], stdout, stderr)
		case riverWorkerCommand:
			return riverWorkerMain(args[1:])
		}
	}
	return run(ctx, args, stdout, stderr)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	r, err := newRoom(o, stderr)
	if err != nil {
		return err
	}
	defer r.close()
	r.results = &results{Options: args}
	for _, x := range races {
		if ctx.Err() != nil || len(o.only) > 0 && !slices.Contains(o.only, x.name) {
			continue
		}
		if err := x.begin(ctx, r); err != nil {
			// What the other races find is worth having all the same.
			err = fmt.Errorf("%s: %w", x.name, err)
			r.say("FAILED: %v", err)
			r.results.Failures = append(r.results.Failures, err.Error())
		}
		if err := r.results.keep(o.resultsFile); err != nil {
			return err
		}
	}
	writeTables(stdout, r.results)
	if o.resultsFile != "" {
		fmt.Fprintln(stdout, "\nSamples, histograms, CPU seconds and versions:", o.resultsFile)
	}
	return errors.Join(append(r.results.wrong(), ctx.Err())...)
}
