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

// options are the flags.
type options struct {
	script   string
	dur      time.Duration
	tasks    int
	scale    float64
	gate     float64
	compress float64
	serves   int
	workers  int
	seed     uint64
	archive  archiveShape
	results  string
	binary   string
	explain  time.Duration
	sample   time.Duration
	runs     string
	sizes    []int
	n        int
	lean     bool
	plot     string
	keep     string
	drawing  string
}

// archiveShape is how many files of which size an archive has.
type archiveShape struct {
	files int
	size  int64
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	names := make([]string, len(scripts))
	for i, s := range scripts {
		names[i] = s.name
	}
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.script, "script", "peak", "what to play: "+strings.Join(names, ", "))
	fs.DurationVar(&o.dur, "dur", 0, "how long it takes; the script's own length when 0 (growth: how long each size is measured, each of two times; "+
		"stress: its peaks are longer where a share of it is too little to judge)")
	fs.IntVar(&o.tasks, "tasks", 1_000_000, "tasks in the pipeline before it begins")
	fs.Float64Var(&o.scale, "scale", 1, "people and rates, as a share of the usual ones")
	fs.Float64Var(&o.gate, "gate", 2, "by how much this machine may be slower than the objectives' reference")
	fs.Float64Var(&o.compress, "compress", 3, "day: by how much people think less than on a real day; 16 fits all its work into 30 minutes")
	fs.IntVar(&o.serves, "serves", 1, "API processes")
	fs.IntVar(&o.workers, "workers", 1, "worker processes")
	fs.Uint64Var(&o.seed, "seed", 1, "what arrivals and thinking times are drawn from")
	archive := fs.String("archive", "10000x100000", "files x bytes of an archive that is ingested; fewer files when -dur is shorter than 30 minutes")
	fs.StringVar(&o.results, "results", "", "where the results go: FILE.json and FILE.hlog; load/results/DATE-SCRIPT.json when empty")
	fs.StringVar(&o.binary, "taskloom", "bin/taskloom", "the product")
	fs.DurationVar(&o.explain, "explain", 0, "have Postgres log the plans of statements that take longer; 0: no")
	fs.DurationVar(&o.sample, "sample", 5*time.Second, "how often memory, tables and the outbox are looked at")
	fs.StringVar(&o.runs, "runs", "at_creation", "when the runs of new tasks begin: at_creation or on_first_claim")
	sizes := fs.String("sizes", "1000,100000,1000000", "growth: numbers of tasks, rising, with commas between them")
	fs.IntVar(&o.n, "n", 200, "cost: tasks that are worked through")
	fs.BoolVar(&o.lean, "lean", false, "cost: without the indexes of Temporal's visibility that nobody uses")
	fs.StringVar(&o.plot, "plot", "", "draw the series of these results, and play nothing")
	fs.StringVar(&o.keep, "keep", "", "where -plot keeps a copy of the results with fewer points, which it draws then: FILE.json")
	fs.StringVar(&o.drawing, "o", "", "where -plot draws to: FILE.svg")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	at := slices.Index(names, o.script)
	if at < 0 {
		return o, fmt.Errorf("no script is called %q; there are %s", o.script, strings.Join(names, ", "))
	}
	if o.dur == 0 {
		o.dur = scripts[at].dur
	}
	if o.results == "" {
		o.results = "load/results/" + time.Now().UTC().Format("20060102-150405") + "-" + o.script + ".json"
	}
	var err error
	if o.archive, err = parseArchive(*archive); err != nil {
		return o, err
	}
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1000 || len(o.sizes) > 0 && n <= o.sizes[len(o.sizes)-1] {
			return o, fmt.Errorf("-sizes: %q is no number of at least 1000 that is larger than the one before", size)
		}
		o.sizes = append(o.sizes, n)
	}
	if o.script == "growth" {
		o.runs = "on_first_claim" // what is created there is removed again
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case (o.plot == "") != (o.drawing == ""):
		return errors.New("-plot RESULTS.json and -o FILE.svg go together")
	case o.keep != "" && o.plot == "":
		return errors.New("-keep FILE.json goes with -plot RESULTS.json")
	case o.keep != "" && o.keep == o.plot:
		return errors.New("-keep would overwrite what -plot reads: name another file")
	case o.tasks < 1000:
		return errors.New("-tasks must be at least 1000")
	case o.scale <= 0 || o.gate <= 0 || o.compress <= 0:
		return errors.New("-scale, -gate and -compress must be positive")
	case o.serves < 1 || o.workers < 1 || o.n < 1:
		return errors.New("-serves, -workers and -n must be at least 1")
	case o.dur < 0 || o.sample <= 0:
		return errors.New("-dur and -sample must be positive")
	case o.runs != "at_creation" && o.runs != "on_first_claim":
		return fmt.Errorf("-runs is at_creation or on_first_claim, not %q", o.runs)
	}
	return nil
}

func parseArchive(s string) (archiveShape, error) {
	files, size, _ := strings.Cut(s, "x")
	n, err := strconv.Atoi(files)
	bytes, err2 := strconv.ParseInt(size, 10, 64)
	if err != nil || err2 != nil || n < 1 || bytes < 1 {
		return archiveShape{}, fmt.Errorf("-archive: %q is not FILESxBYTES", s)
	}
	return archiveShape{n, bytes}, nil
}

// count scales a number of people or requests; there is always one.
func (o options) count(n int) int { return max(1, int(float64(n)*o.scale+0.5)) }
