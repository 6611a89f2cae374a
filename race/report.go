package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const reportCommand = "report"

// ours is the contender that the others are compared with.
const ours = "Taskloom"

// reportMain writes tables and plots of a run into the page that people read.
func reportMain(args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("race report", flag.ContinueOnError)
	fs.SetOutput(stderr)
	in := fs.String("results", "", "the runs, as JSON, with commas between them; the newest in results/ when empty")
	page := fs.String("page", "", "the page whose marked parts are written; standard output when empty")
	plots := fs.String("plots", "", "where the plots go as SVG, beside the page; none when empty")
	keep := fs.String("keep", "", "where the runs go together, with coarse histograms; nowhere when empty")
	contractsOnly := fs.Bool("contracts", false, "write the contracts only, which need no run")
	if err := fs.Parse(args); err != nil {
		return err
	}
	parts := map[string]string{"contracts": contractTables()}
	if !*contractsOnly {
		names, err := newest(splitList(*in))
		if err != nil {
			return err
		}
		r, err := readAll(names)
		if err != nil {
			return err
		}
		if *keep != "" {
			doc, err := r.coarse()
			if err != nil {
				return err
			}
			if err := os.WriteFile(*keep, doc, 0o644); err != nil {
				return err
			}
		}
		var b strings.Builder
		writeTables(&b, r)
		if *plots != "" {
			links, err := writePlots(*plots, filepath.Dir(*page), r)
			if err != nil {
				return err
			}
			b.WriteString("\n" + links)
		}
		parts["results"] = b.String()
	}
	if *page == "" {
		for _, name := range []string{"contracts", "results"} {
			fmt.Fprintln(stdout, parts[name])
		}
		return nil
	}
	text, err := os.ReadFile(*page)
	if err != nil {
		return err
	}
	for _, name := range []string{"contracts", "results"} {
		if part, ok := parts[name]; ok {
			if text, err = between(text, name, part); err != nil {
				return fmt.Errorf("%s: %w", *page, err)
			}
		}
	}
	return os.WriteFile(*page, text, 0o644)
}

func newest(names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	all, err := filepath.Glob("results/[0-9]*.json") // not the published one
	if err == nil && len(all) == 0 {
		err = errors.New("results/ holds no run yet: `make race` first, or name one with -results")
	}
	if err != nil {
		return nil, err
	}
	return []string{slices.Max(all)}, nil
}

// between replaces what stands between the markers of a part.
func between(text []byte, part, with string) ([]byte, error) {
	begin, end := fmt.Appendf(nil, "<!-- %s: begin", part), fmt.Appendf(nil, "<!-- %s: end -->", part)
	from := bytes.Index(text, begin)
	to := bytes.Index(text, end)
	if from < 0 || to < from {
		return nil, fmt.Errorf("the markers <!-- %s: begin … --> and <!-- %s: end --> are missing", part, part)
	}
	line := bytes.IndexByte(text[from:], '\n')
	if line < 0 || from+line > to {
		return nil, fmt.Errorf("the markers of %s stand on one line", part)
	}
	return slices.Concat(text[:from+line+1], []byte("\n"+strings.Trim(with, "\n")+"\n\n"), text[to:]), nil
}

// writeTables tells a run in Markdown: a table a race, contenders side by side,
// and what became of the aims.
func writeTables(w io.Writer, r *results) {
	same, differ := r.machines()
	fmt.Fprintln(w, same)
	title := ""
	for _, x := range r.Races {
		if x.Race != title {
			title = x.Race
			fmt.Fprintf(w, "\n### %s\n", title)
		}
		x.table(w, differ)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(w, "\nFAILED: %s\n", f)
	}
}

// load is the three averages of /proc/loadavg.
func load(line string) string {
	fields := strings.Fields(line)
	return strings.Join(fields[:min(3, len(fields))], " ")
}

func (r *raceResult) table(w io.Writer, differ []string) {
	fmt.Fprintf(w, "\n%s; medians of %s, %s, with least and most.", r.Title, r.rounds(), map[bool]string{false: "there and back", true: "one turn each"}[r.Once])
	for _, run := range r.Runs {
		fmt.Fprintf(w, " Begun %s", cmp.Or(run.Date, "when was not kept"))
		if run.LoadBefore != "" {
			fmt.Fprintf(w, ", load %s before, %s after", load(run.LoadBefore), load(run.LoadAfter))
		}
		fmt.Fprint(w, run.on(differ))
		fmt.Fprint(w, ".")
	}
	fmt.Fprint(w, "\n\n|")
	for _, c := range r.Contenders {
		fmt.Fprintf(w, " | %s %s", c.Name, c.Version)
		if c.Batch {
			fmt.Fprint(w, " (batches)")
		}
	}
	fmt.Fprintf(w, " | noise |\n|---|%s---|\n", strings.Repeat("---|", len(r.Contenders)))
	var zeros []string
	for _, f := range r.Figures {
		if f.None && r.allZero(f) {
			zeros = append(zeros, f.Says)
			continue
		}
		fmt.Fprintf(w, "| %s", f.Says)
		for _, c := range r.Contenders {
			fmt.Fprintf(w, " | %s", cell(f, c))
		}
		fmt.Fprintf(w, " | %s |\n", r.noise(f))
	}
	if len(zeros) > 0 {
		fmt.Fprintf(w, "\n0, as it should be, with all of whom it was measured: %s.\n", counted(zeros))
	}
	r.apart(w)
	r.processes(w)
	if lines := r.verdicts(); len(lines) > 0 {
		fmt.Fprintf(w, "\n- %s\n", strings.Join(lines, "\n- "))
	}
	for _, c := range r.Contenders {
		if c.Failure != "" {
			fmt.Fprintf(w, "\n%s took no part, or not to the end: %s\n", c.Name, strings.SplitN(c.Failure, "\n", 2)[0])
		}
	}
}

// allZero reports whether a figure was measured and nobody had anything but 0.
func (r *raceResult) allZero(f figure) bool {
	measured := false
	for _, c := range r.Contenders {
		s := c.spread(f.Name)
		if s.N > 0 && s.Max != 0 {
			return false
		}
		measured = measured || s.N > 0
	}
	return measured
}

// counted names figures once that differ in what was done only, the part before
// the colon.
func counted(names []string) string {
	var order []string
	times := map[string]int{}
	for _, name := range names {
		if _, what, ok := strings.Cut(name, ": "); ok {
			name = what
		}
		if times[name]++; times[name] == 1 {
			order = append(order, name)
		}
	}
	for i, name := range order {
		if n := times[name]; n > 1 {
			order[i] = fmt.Sprintf("%s (%d times)", name, n)
		}
	}
	return strings.Join(order, "; ")
}

func rounds(n int) string {
	if n == 1 {
		return "one round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// processes tells how the CPU seconds of the main phase are shared out.
func (r *raceResult) processes(w io.Writer) {
	var told []string
	for _, c := range r.Contenders {
		if line := c.shares(r.Phase); line != "" {
			told = append(told, c.Name+": "+line)
		}
	}
	if len(told) > 0 {
		fmt.Fprintf(w, "\nCPU seconds by process (phase %s): %s.\n", r.Phase, strings.Join(told, "; "))
	}
	for _, c := range r.Contenders {
		if shares := c.disturbances(r.Phase); len(shares) > 0 {
			fmt.Fprintf(w, "\n! In %d of %d samples of %s the machine did up to %.0f %% as much for others: its figures of CPU are not to be relied on.\n",
				len(shares), len(c.Samples), c.Name, 100*slices.Max(shares))
		}
	}
}

// disturbances is how much the machine did for others, to what the contender is
// charged, in the samples where it is of account.
func (c *contenderResult) disturbances(phase string) (shares []float64) {
	for _, s := range c.Samples {
		if share := s.CPU[phase].strange(c.Uses); share > mostOthers {
			shares = append(shares, share)
		}
	}
	return shares
}

// shares is what each process used of the CPU seconds that the contender is
// charged, the most first; what is under 1 % is left out.
func (c *contenderResult) shares(phase string) string {
	by, sum := c.split(phase)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, name := range names {
		if share := 100 * by[name] / sum; share >= 1 {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", name, share))
		}
	}
	return strings.Join(parts, ", ")
}

// split is the CPU seconds of a phase that the contender is charged, by process,
// and their sum.
func (c *contenderResult) split(phase string) (by map[string]float64, sum float64) {
	by = map[string]float64{}
	for _, s := range c.Samples {
		for name, v := range s.CPU[phase] {
			if charge := (usage{name: v}).charged(c.Uses); charge > 0 {
				by[name] += v
				sum += v
			}
		}
	}
	return by, sum
}

func cell(f figure, c *contenderResult) string {
	s := c.spread(f.Name)
	if s.N == 0 {
		return "–"
	}
	if s.Min == s.Max {
		return inUnit(s.Median, f.Unit)
	}
	return fmt.Sprintf("%s (%s..%s)", inUnit(s.Median, f.Unit), inUnit(s.Min, ""), inUnit(s.Max, ""))
}

// noise is how far one contender is from itself; with ! nothing may be claimed of
// the figure.
func (r *raceResult) noise(f figure) string {
	n, ok := r.Noise[f.Name]
	if f.None || !ok {
		return "–"
	}
	switch {
	case n == 0: // a run that is part of this one did not measure it
		return "? !"
	case loud(n):
		return fmt.Sprintf("%.1f %% !", 100*math.Abs(n-1))
	}
	return fmt.Sprintf("%.1f %%", 100*math.Abs(n-1))
}

// inUnit shows three digits, and no more than two after the point.
func inUnit(v float64, unit string) string {
	digits := 0
	if v != math.Trunc(v) {
		switch {
		case math.Abs(v) < 10:
			digits = 2
		case math.Abs(v) < 100:
			digits = 1
		}
	}
	text := thousands(fmt.Sprintf("%.*f", digits, v))
	switch {
	case unit == "":
		return text
	case strings.HasPrefix(unit, "/"):
		return text + unit
	}
	return text + " " + unit
}

// thousands puts commas into a number.
func thousands(number string) string {
	whole, rest, _ := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}
