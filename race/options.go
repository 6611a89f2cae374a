package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags of a run.
type options struct {
	only        []string
	contenders  []string
	rounds      int
	noise       bool
	resultsFile string
	binary      string
	benchDir    string
	cache       string
	keep        bool

	payload int
	window  time.Duration

	items      int
	shortItems int
	clients    []int
	claimRate  int
	heldFor    time.Duration

	creates int
	present int

	flowTasks int
	flowEvery time.Duration

	chaosRate  int
	chaosPhase time.Duration
	chaosHeal  time.Duration
	chaosHeld  time.Duration
	rescue     time.Duration

	etagPolls int
	shapes    string

	lsIDs   int
	lsCalls int
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	names := make([]string, len(races))
	for i, p := range races {
		names[i] = p.name
	}
	fs := flag.NewFlagSet("race", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "race [FLAG…] runs the races; race report [FLAG…] writes their tables and plots (race report -help).")
		for _, p := range races {
			fmt.Fprintf(stderr, "  %-12s %s\n", p.name, p.about)
		}
		fs.PrintDefaults()
	}
	only := fs.String("only", "", "races to run, with commas between them: "+strings.Join(names, ", ")+"; all when empty")
	who := fs.String("contenders", "", "names of those who take part, with commas between them (a part of the name is enough, =taskloom is nobody else); all when empty")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds, each there and back again (A B B A)")
	fs.BoolVar(&o.noise, "noise", true, "let one contender run against itself first; without it nothing may be claimed")
	fs.StringVar(&o.resultsFile, "results", "results/"+time.Now().UTC().Format("20060102-150405")+".json",
		"where the results go as JSON; empty for nowhere")
	fs.StringVar(&o.binary, "taskloom", "../bin/taskloom", "the product")
	fs.StringVar(&o.benchDir, "repository", "..", "the repository, where the race of polls runs its bench")
	fs.StringVar(&o.cache, "cache", "../.cache/race", "what install.sh has installed")
	fs.BoolVar(&o.keep, "keep-logs", false, "leave the logs of all processes where they are")
	fs.IntVar(&o.payload, "payload", 650, "bytes of an item")
	fs.DurationVar(&o.window, "window", 20*time.Second, "how long a phase of claims is measured")
	fs.IntVar(&o.items, "items", 100_000, "claims and held: items that lie ready")
	fs.IntVar(&o.shortItems, "short-items", 2000, "claims: items of a short queue, which is raced as well when -items are more; 0 leaves it out")
	clients := fs.String("clients", "64,500", "claims: clients, with commas between them; held has the first of them")
	fs.IntVar(&o.claimRate, "claim-rate", 50, "claims and held: items a second of the open loop")
	fs.DurationVar(&o.heldFor, "held-for", 10*time.Minute, "held: how long a snapshot is held while items are worked at -claim-rate, as far as three tenths of -items last")
	fs.IntVar(&o.creates, "creates", 50, "create: requests of 5,000 in a sample")
	fs.IntVar(&o.present, "present", 1_000_000, "create and polls: items that are there already")
	fs.IntVar(&o.flowTasks, "flow-tasks", 300, "flow: tasks in a sample")
	fs.DurationVar(&o.flowEvery, "flow-every", 200*time.Millisecond, "flow: a task begins at this distance in the open loop")
	fs.IntVar(&o.chaosRate, "chaos-rate", 20, "chaos: items a second")
	fs.DurationVar(&o.chaosPhase, "chaos-phase", 30*time.Second, "chaos: how long the baseline and each fault last")
	fs.DurationVar(&o.chaosHeal, "chaos-heal", 60*time.Second, "chaos: how long to wait for 90 % of the baseline")
	fs.DurationVar(&o.chaosHeld, "chaos-held", 30*time.Second, "chaos: how long a snapshot is held; the race held does so for ten minutes")
	fs.DurationVar(&o.rescue, "rescue", 5*time.Minute, "chaos: how long to wait for the item of a worker that was killed; what takes longer is told as more")
	fs.IntVar(&o.etagPolls, "etag-polls", 100_000, "polls: polls on each side that compare entity tags with none")
	fs.StringVar(&o.shapes, "shapes", "5000x100KB,50x100MB", "ingest: archives, files x size of each, with commas between them")
	fs.IntVar(&o.lsIDs, "ls-ids", 50_000, "labelstudio: tasks whose ids are listed")
	fs.IntVar(&o.lsCalls, "ls-calls", 1000, "labelstudio: tasks that are taken and annotated")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	o.contenders = splitList(*who)
	for _, n := range splitList(*clients) {
		c, err := strconv.Atoi(n)
		if err != nil || c < 1 || c > 5000 {
			return o, fmt.Errorf("-clients: %q is no number from 1 to 5000", n)
		}
		o.clients = append(o.clients, c)
	}
	for _, name := range splitList(*only) {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("no race is called %q; there are %s", name, strings.Join(names, ", "))
		}
		o.only = append(o.only, name)
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case o.rounds < 1 || o.items < 1 || o.creates < 1 || o.flowTasks < 1 || o.claimRate < 1 || o.chaosRate < 1 || o.lsCalls < 1:
		return errors.New("-rounds, -items, -creates, -flow-tasks, -ls-calls and the rates must be at least 1")
	case len(o.clients) == 0:
		return errors.New("-clients is empty")
	case o.payload < itemFrame+1:
		return fmt.Errorf("-payload must be more than %d", itemFrame)
	case o.window < time.Second || o.chaosPhase < time.Second || o.chaosHeld < time.Second || o.heldFor < time.Second || o.flowEvery <= 0:
		return errors.New("-window, -chaos-phase, -chaos-held and -held-for must be at least 1s, -flow-every positive")
	case o.present < 0 || o.shortItems < 0 || o.lsIDs < 0:
		return errors.New("-present, -short-items and -ls-ids must not be negative")
	}
	return nil
}

// takesPart reports whether a contender was asked for: by a part of its name, or
// by all of it behind "=", for there are names that begin with another's.
func (o options) takesPart(name string) bool {
	return len(o.contenders) == 0 || slices.ContainsFunc(o.contenders, func(part string) bool {
		if whole, only := strings.CutPrefix(part, "="); only {
			return strings.EqualFold(name, whole)
		}
		return strings.Contains(strings.ToLower(name), strings.ToLower(part))
	})
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
