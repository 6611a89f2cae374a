package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/store"
)

// deepOptions are the flags of doctor --deep.
type deepOptions struct {
	// chunk is how many tasks one snapshot of the database covers; pause is the
	// rest between two, and between two pages of journals or of uploads.
	chunk int
	pause time.Duration
	// grace is how long a task must be untouched to count as being at rest.
	grace time.Duration
	// drained asks, too, what holds only when nobody works.
	drained bool
	// files is how many objects are read whole and their sha256 compared, of
	// all that are looked for; negative for every one.
	files int
	// orphanAge is how old an object is to which nothing refers when it counts.
	orphanAge time.Duration
	// patience is how long one question to the database may take; the store's own
	// limits when 0.
	patience time.Duration
	json     bool
}

func (o *deepOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.chunk, "chunk", store.CheckChunk, "with --deep: tasks in one snapshot of the database")
	f.DurationVar(&o.pause, "pause", 50*time.Millisecond, "with --deep: rest between two snapshots")
	f.DurationVar(&o.grace, "grace", store.CheckGrace, "with --deep: how long a task must be untouched to count as being at rest")
	f.BoolVar(&o.drained, "drained", false, "with --deep: ask also what holds only when nobody works and nothing is under way")
	f.IntVar(&o.files, "files", 100, "with --deep: objects to read whole and compare by sha256, -1 for every one")
	f.DurationVar(&o.orphanAge, "orphan-age", orphanAge, "with --deep: how old an object must be to count as one that no sweep is going to delete")
	f.DurationVar(&o.patience, "patience", 0,
		"with --deep: how long one question to the database may take (default 30s about a chunk of tasks, else 5m)")
	f.BoolVar(&o.json, "json", false, "with --deep: print the findings as JSON")
}

// validate refuses what Postgres would take for no limit, or not at all.
func (o *deepOptions) validate() error {
	if o.patience != 0 && o.patience < time.Millisecond {
		return fmt.Errorf("--patience %v: give at least 1ms, or 0 for the default", o.patience)
	}
	return nil
}

// deepFinding is what one promise about the data came to.
type deepFinding struct {
	Name    string  `json:"name"`
	Promise string  `json:"promise"`
	Says    string  `json:"says"`
	Verdict verdict `json:"verdict"`
	// Total is how many places break it; Violations are the first of them.
	Total      int64    `json:"total"`
	Violations []string `json:"violations,omitempty"`
	// Heal is the command that mends those, Advice what to do where there is
	// none.
	Heal   string `json:"heal,omitempty"`
	Advice string `json:"advice,omitempty"`

	tasks []int64
	// unseen says why not everything was looked at, "" when it was. All may then
	// not be well.
	unseen string
}

// adviceLate goes with what ran out of its time.
const adviceLate = "it ran out of its time, so not everything was looked at: ask again with a longer --patience, or when the database has less to do"

// broke notes a place that breaks the promise.
func (f *deepFinding) broke(taskID int64, format string, args ...any) {
	const most = 20
	f.Verdict = failure
	if f.Total++; len(f.Violations) >= most {
		return
	}
	f.Violations = append(f.Violations, fmt.Sprintf(format, args...))
	if taskID != 0 && !slices.Contains(f.tasks, taskID) {
		f.tasks = append(f.tasks, taskID)
	}
}

// deep checks the promises about the data and reports whether one is broken, or
// could not be looked at whole. As JSON it prints the other checks, too.
func (d *doctor) deep(ctx context.Context, a *app, o deepOptions, checks []toldCheck) (broken bool, err error) {
	if o.grace <= 0 {
		o.grace = store.NoGrace
	}
	var findings []deepFinding
	for _, look := range []func(context.Context, *app, deepOptions) ([]deepFinding, error){d.deepData, d.deepRuns, d.deepFiles} {
		more, err := look(ctx, a, o)
		if err == nil {
			err = ctx.Err() // no part is away when somebody ends the command
		}
		if err != nil {
			return false, err
		}
		if !o.json {
			printDeep(a.out, more)
		}
		findings = append(findings, more...)
	}
	if o.json {
		err = printJSON(a.out, map[string]any{"checks": checks, "promises": findings})
	}
	return slices.ContainsFunc(findings, func(f deepFinding) bool { return f.Verdict == failure || f.unseen != "" }), err
}

func (d *doctor) deepData(ctx context.Context, a *app, o deepOptions) ([]deepFinding, error) {
	shown := time.Now()
	found, err := d.store.Check(ctx, store.CheckOptions{
		Drained: o.drained, Grace: o.grace, Chunk: o.chunk, Pause: o.pause, Patience: o.patience, SkipLate: true,
		Progress: func(done, of int64) {
			if time.Since(shown) >= 2*time.Second {
				shown = time.Now()
				fmt.Fprintf(a.err, "  %d of about %d tasks\n", done, of)
			}
		},
	})
	if len(found) == 0 {
		return nil, err
	}
	out := make([]deepFinding, len(found))
	for i, f := range found {
		out[i] = deepFinding{Name: f.Name, Promise: f.Promise, Says: f.Says, Verdict: fine, Total: f.Total, Heal: f.Heal, Advice: f.Advice}
		if f.Late {
			out[i].unseen = adviceLate
		}
		switch {
		case f.Total > 0:
			out[i].Verdict = failure
		case f.Late:
			out[i].Verdict = skipped
		}
		for _, v := range f.Violations {
			out[i].Violations = append(out[i].Violations, v.Where)
			if v.TaskID != 0 && !slices.Contains(out[i].tasks, v.TaskID) {
				out[i].tasks = append(out[i].tasks, v.TaskID)
			}
		}
		cutShort(err, &out[i]) // nobody knows which of them it was looked at
		out[i].complete()
	}
	return out, nil
}

// complete puts the ids of the tasks into the commands, and says what to do about
// what was not looked at.
func (f *deepFinding) complete() {
	if f.Verdict != failure {
		f.Heal, f.Advice = "", ""
	}
	f.Heal = strings.Replace(f.Heal, store.PlaceOfIDs, f.ids(","), 1)
	f.Advice = strings.Replace(f.Advice, store.PlaceOfIDs, f.ids(","), 1)
	if f.unseen != "" {
		f.Advice = strings.TrimPrefix(f.Advice+"; "+f.unseen, "; ")
	}
}

// ids are those of the tasks that are told of.
func (f *deepFinding) ids(between string) string {
	ids := make([]string, len(f.tasks))
	for i, id := range f.tasks {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(ids, between)
}

func printDeep(w io.Writer, findings []deepFinding) {
	for _, f := range findings {
		word := string(f.Verdict)
		if f.Verdict == failure {
			word = "FAIL"
		}
		fmt.Fprintf(w, "%-4s  %s: %s\n", word, f.Name, f.Says)
		for _, v := range f.Violations {
			fmt.Fprintf(w, "        %s\n", v)
		}
		if more := f.Total - int64(len(f.Violations)); more > 0 {
			fmt.Fprintf(w, "        … and %d more: %d in all\n", more, f.Total)
		}
		if f.Heal != "" {
			fmt.Fprintf(w, "      → heal with: %s\n", f.Heal)
		}
		if f.Advice != "" {
			fmt.Fprintf(w, "      → %s\n", f.Advice)
		}
	}
}
