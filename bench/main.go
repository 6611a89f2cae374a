// Command bench measures the product's hot paths, each against a floor in the
// same run: the bare work of Postgres or Temporal without the product. It
// makes its own databases in the Postgres of DATABASE_URL, serves the API in
// process behind a real listener and, where runs matter, the worker on the
// Temporal of TEMPORAL_ADDRESS; some parts run bin/taskloom as production does,
// on the object store of the S3_ variables too. `make bench` provides all.
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
	"strconv"
	"strings"
	"syscall"
	"time"
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
	{"create64", "creations of 1 and 100 tasks by 64 clients at a time", createManyPart},
	{"bodies", "64 creations of 32 MB at a time, and the memory that they take", bodiesPart},
	{"polls", "polls of tasks against a bare server, with entity tags against without", pollsPart},
	{"ingest", "ZIP ingestion against a bare copy and against the script that people write", ingestPart},
}

func main() {
	if floorAsked() {
		os.Exit(floorMain())
	}
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
	var failed []error
	for _, p := range parts {
		if ctx.Err() != nil || len(o.only) > 0 && !slices.Contains(o.only, p.name) {
			continue
		}
		b.say("%s: %s", p.name, p.about)
		b.part = p.name
		if err := p.run(ctx, b); err != nil {
			// What the other parts find is worth having all the same.
			err = fmt.Errorf("%s: %w", p.name, err)
			b.say("FAILED: %v", err)
			failed = append(failed, err)
			b.report.Failures = append(b.report.Failures, err.Error())
		}
		if err := b.keep(); err != nil {
			return err
		}
	}
	b.report.table(stdout)
	if o.results != "" {
		fmt.Fprintln(stdout, "\nSamples, series and versions:", o.results)
	}
	return errors.Join(failed...)
}

// keep writes what is known so far: a run takes long, and may be cut short.
func (b *bench) keep() error {
	b.report.finish()
	if b.results == "" {
		return nil
	}
	return b.report.write(b.results)
}

// options are the flags.
type options struct {
	only       []string
	rounds     int
	longRounds int
	tasks      int
	results    string
	cpuProfile string
	binary     string
	shapes     []shape
	sample     time.Duration
	rates      []int
	etagPolls  int
	bodies     int
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
	fs.IntVar(&o.longRounds, "long-rounds", 1, "ingest: rounds with archives of more than 2 GB, of which a sample takes a minute or so")
	fs.IntVar(&o.tasks, "tasks", 1_000_000, "tasks in the large pipeline")
	fs.StringVar(&o.results, "results", "bench/results/"+time.Now().UTC().Format("20060102-150405")+".json",
		"where the results go as JSON; empty for nowhere")
	fs.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of this process while the product is measured")
	fs.StringVar(&o.binary, "taskloom", "bin/taskloom", "the product, for the parts that run it as production does: create64, bodies, polls, ingest")
	fs.DurationVar(&o.sample, "sample", 10*time.Second, "how long one sample of create64 and polls takes")
	fs.IntVar(&o.etagPolls, "etag-polls", 100_000, "polls on each side that compare entity tags with none")
	fs.IntVar(&o.bodies, "bodies", 64, "bodies of 32 MB at a time")
	shapes := fs.String("shapes", "5000x100KB,50x100MB,50000x100KB", "archives to ingest: files x size of each, with commas between them")
	rates := fs.String("rates", "100,200,400", "polls per second of the open loops, with commas between them")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	var err error
	if o.shapes, err = parseShapes(*shapes); err != nil {
		return o, err
	}
	for _, r := range splitList(*rates) {
		rate, err := strconv.Atoi(r)
		if err != nil || rate < 1 || rate > mostRate {
			return o, fmt.Errorf("-rates: %q is no number from 1 to %d", r, mostRate)
		}
		o.rates = append(o.rates, rate)
	}
	if o.sample <= 0 || o.etagPolls < 2 || o.bodies < 1 {
		return o, errors.New("-sample and -bodies must be positive, -etag-polls at least 2")
	}
	if o.rounds < 1 || o.longRounds < 1 || o.tasks < batchSize {
		return o, fmt.Errorf("-rounds and -long-rounds must be at least 1 and -tasks at least %d", batchSize)
	}
	for _, name := range splitList(*only) {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("no part is called %q; there are %s", name, strings.Join(names, ", "))
		}
		o.only = append(o.only, name)
	}
	return o, nil
}

// mostRate is where an open loop stops being one on a single machine.
const mostRate = 10_000

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
