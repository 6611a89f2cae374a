// Command bench measures the product's hot paths, each against a floor in the
// same run: the bare work of Postgres or Temporal without the product. It
// makes its own databases in the Postgres of DATABASE_URL, serves the API in
// process behind a real listener and, where runs matter, the worker on the
// Temporal of TEMPORAL_ADDRESS. `make bench` provides both.
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
	"strings"
	"syscall"
)

// part is one thing that is measured.
type part struct {
	name  string
	about string
	run   func(context.Context, *bench) error
}

var parts = []part{
	{"create5000", "5,000 tasks in one POST against COPY of the same rows", createPart},
	{"create-flat", "the same POST beside many tasks against beside none", createFlatPart},
	{"page200", "a page of 200 tasks against the bare SQL", pagePart},
	{"claims", "claims a second against SKIP LOCKED and an update", claimsPart},
	{"flow", "a task's whole life against a bare Temporal workflow", flowPart},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, o, stderr)
	if err != nil {
		return err
	}
	defer b.close()
	for _, p := range parts {
		if len(o.only) > 0 && !slices.Contains(o.only, p.name) {
			continue
		}
		b.say("%s: %s", p.name, p.about)
		b.part = p.name
		if err := p.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.report.finish()
	b.report.table(stdout)
	if o.results == "" {
		return nil
	}
	return b.report.write(o.results)
}

// options are the flags.
type options struct {
	only       []string
	rounds     int
	tasks      int
	results    string
	cpuProfile string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	only := fs.String("only", "", "parts to run, with commas between them: "+strings.Join(names, ", "))
	fs.IntVar(&o.rounds, "rounds", 3, "rounds of floor, ours, ours, floor")
	fs.IntVar(&o.tasks, "tasks", 1_000_000, "tasks in the large pipeline")
	fs.StringVar(&o.results, "results", "bench/results.json", "where the results go as JSON; empty for nowhere")
	fs.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of this process while the product is measured")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.rounds < 1 || o.tasks < batchSize {
		return o, fmt.Errorf("-rounds must be at least 1 and -tasks at least %d", batchSize)
	}
	for _, name := range strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("no part is called %q; there are %s", name, strings.Join(names, ", "))
		}
		o.only = append(o.only, name)
	}
	return o, nil
}
