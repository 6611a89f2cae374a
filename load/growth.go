package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/arrival"
	"github.com/taskloom/taskloom/load/internal/record"
)

// grown are the operations that growth compares.
var grown = []string{"create-5000", "claim", "submit", "step", "claim-review", "verdict", "list", "status", "explorer", "counts", control}

// control is a request that is the same beside any number of tasks: it asks
// whose the pipeline is, and hears that there is none. What it differs by is the
// machine, and what everything else does to it.
const control = "foreign"

const (
	// creations are those of each measurement, of which so many come between two
	// removals: what they add stays small beside what is there.
	creations, creationsTogether = 20, 5
	// growthWarm is the time in which the pages are read that the size before has
	// pushed out.
	growthWarm = 5 * time.Second
)

// growthLine is one operation at one size.
type growthLine struct {
	Op    string  `json:"op"`
	Size  int     `json:"tasks"`
	N     int64   `json:"n"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Ratio float64 `json:"p50_ratio"` // to the smallest size
	Tail  float64 `json:"p99_ratio"`
	// What the second measurement of the same size is to the first: differences
	// between sizes that are no larger than that say nothing.
	Same     float64 `json:"p50_same_ratio"`
	SameTail float64 `json:"p99_same_ratio"`
}

// halves are the two measurements of each size.
var halves = []string{"first", "again"}

func sizeName(size int, half string) string { return fmt.Sprintf("%d-tasks-%s", size, half) }

// runGrowth measures the same requests beside ever more tasks, twice beside each
// number of them.
func runGrowth(ctx context.Context, r *run) error {
	// The hourly comparison of kept counts reads every task: not meanwhile.
	if _, err := r.pool.Exec(ctx, `UPDATE count_checks SET at = now() + interval '1 day'`); err != nil {
		return fmt.Errorf("put off the comparison of counts: %w", err)
	}
	if err := r.grow(ctx, 0, r.sizes[0]); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	body := makeBodies(false).small
	for i, size := range r.sizes {
		if i > 0 {
			if err := r.grow(ctx, r.sizes[i-1], size); err != nil {
				return err
			}
		}
		var err error
		if r.facts.tasks, err = r.world.someTasks(ctx, 5000); err != nil {
			return err
		}
		for _, half := range halves {
			if err := r.measureSize(ctx, sizeName(size, half), body); err != nil {
				return err
			}
		}
	}
	r.stopWatching(ctx)
	lines := compareSizes(r.rec, r.sizes)
	r.bare = map[string]any{"growth": lines, "statements": r.statements, "latencies": r.rec.Lines(), "series": r.series.Bounded(pointsMost), "first_failures": r.rec.Failures()}
	r.judgeCreation(lines)
	return errors.Join(r.printGrowth(lines), r.printStatements())
}

// growthMix is what is open beside so many tasks.
func growthMix(size int) mathcheck.Mix {
	return mathcheck.Mix{Free: min(freeLeast, size*6/10), Claimed: min(few, size/20), Escalated: min(few, size/20)}
}

// growthClaims is how many subtasks are claimed a second: as many at all sizes
// as the smallest one has free for both measurements.
func growthClaims(smallest int, dur time.Duration) float64 {
	const most, share = 4, 0.8
	both := time.Duration(len(halves)) * (growthWarm + dur)
	return min(most, share*float64(growthMix(smallest).Free)/both.Seconds())
}

// grow fills the pipeline up from one size to another, and puts what was claimed
// meanwhile beside it: as much is open at all large sizes.
func (r *run) grow(ctx context.Context, have, size int) error {
	r.say("filling up to %d tasks", size)
	var free int
	if err := r.pool.QueryRow(ctx, `SELECT count(*) FROM task_nodes WHERE pipeline_id = $1 AND kind = 'subtask'
		AND status = 'available' AND reserved_for IS NULL`, r.world.main).Scan(&free); err != nil {
		return fmt.Errorf("count what is free: %w", err)
	}
	m, before := growthMix(size), growthMix(have)
	m.Free = max(0, m.Free-free)
	m.Claimed, m.Escalated = m.Claimed-before.Claimed, m.Escalated-before.Escalated
	return r.world.fill(ctx, size-have, m)
}

// checkpoint has Postgres write everything now instead of beside a measurement.
func (r *run) checkpoint(ctx context.Context) error {
	if _, err := r.pool.Exec(ctx, `CHECKPOINT`); err != nil {
		return fmt.Errorf("make a checkpoint: %w", err)
	}
	return nil
}

// measureSize plays people and programs, then creations, and removes what they
// created.
func (r *run) measureSize(ctx context.Context, name string, body []byte) error {
	if err := r.checkpoint(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	claims := growthClaims(r.sizes[0], r.dur)
	p := profile{
		Tasks: claims, Handling: time.Second, Verdicts: claims * 0.8, Reviewing: time.Second,
		Counts: 10, Lists: 10, Statuses: 50, Explorer: 2, Foreign: 10,
	}
	warm := time.Since(r.began)
	from := warm + growthWarm
	r.enter(warmup, warm)
	r.enter(name, from)
	var g sync.WaitGroup
	r.play(play, &g, p, warm, from+r.dur)
	if err := r.until(ctx, from); err != nil {
		return err
	}
	if err := r.forgetStatements(ctx); err != nil {
		return err
	}
	if err := r.wind(ctx, stop, &g); err != nil {
		return err
	}
	for range creations / creationsTogether {
		var c sync.WaitGroup
		r.stream(ctx, &c, arrival.Burst(creationsTogether, time.Since(r.began), creationsTogether*3*time.Second), func(due time.Time) {
			r.create(ctx, due, 0, "create-5000", body)
		})
		c.Wait()
		r.loop.Wait()
		if err := r.removeCreated(ctx); err != nil {
			return err
		}
	}
	return r.takeStatements(ctx, name)
}

// removeCreated takes away what was created, so that what comes next is beside
// as many tasks as it says.
func (r *run) removeCreated(ctx context.Context) error {
	if err := r.deleteCreated(ctx); err != nil {
		return err
	}
	if _, err := r.pool.Exec(ctx, `VACUUM (ANALYZE) tasks, task_nodes, task_events, outbox`); err != nil {
		return fmt.Errorf("vacuum after what was created: %w", err)
	}
	return r.checkpoint(ctx)
}

// deleteCreated deletes the rows, and counts the tasks among them: the end of the
// run finds none of those that were acked.
func (r *run) deleteCreated(ctx context.Context) error {
	var tasks int64
	for _, sql := range []string{
		`DELETE FROM outbox WHERE task_id = ANY($1)`, `DELETE FROM task_events WHERE task_id = ANY($1)`,
		`DELETE FROM task_nodes WHERE task_id = ANY($1)`, `DELETE FROM tasks WHERE id = ANY($1)`,
	} {
		deleted, err := r.pool.Exec(ctx, sql, r.facts.ids)
		if err != nil {
			return fmt.Errorf("remove what was created: %w", err)
		}
		tasks = deleted.RowsAffected() // of the last table
	}
	r.facts.removed(tasks)
	return nil
}

// compareSizes makes a line for each operation and size.
func compareSizes(rec *record.Recorder, sizes []int) []growthLine {
	var out []growthLine
	for _, op := range grown {
		var smallest growthLine
		for i, size := range sizes {
			l := lineOf(rec, op, size)
			if i == 0 {
				smallest = l
			}
			l.Ratio, l.Tail = ratio(l.P50, smallest.P50), ratio(l.P99, smallest.P99)
			out = append(out, l)
		}
	}
	return out
}

func lineOf(rec *record.Recorder, op string, size int) growthLine {
	names := []string{sizeName(size, halves[0]), sizeName(size, halves[1])}
	in := func(phases ...string) record.Summary {
		return rec.Select(func(k record.Key) bool {
			return k.Op == op && k.Class == answered(op) && slices.Contains(phases, k.Phase)
		})
	}
	first, again, both := in(names[0]), in(names[1]), in(names...)
	ms := func(s record.Summary, percent float64) float64 { return slo.Millis(s.Quantile(percent)) }
	return growthLine{
		Op: op, Size: size, N: both.N(), P50: ms(both, 50), P99: ms(both, 99),
		Same: ratio(ms(again, 50), ms(first, 50)), SameTail: ratio(ms(again, 99), ms(first, 99)),
	}
}

// answered is how an operation ends when all is well: the control hears 404.
func answered(op string) record.Class {
	if op == control {
		return record.Stale
	}
	return record.OK
}

// ratio is 0 when one of both was not measured.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// judgeCreation compares creations beside the most tasks with those beside the
// fewest.
func (r *run) judgeCreation(lines []growthLine) {
	last := r.sizes[len(r.sizes)-1]
	for _, l := range lines {
		if l.Op == "create-5000" && l.Size == last && l.Size != r.sizes[0] && l.Ratio > 0 {
			r.number(slo.CreateGrowth, l.Ratio)
		}
	}
}

func (r *run) printGrowth(lines []growthLine) error {
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\noperation\ttasks\tn\tp50 ms\tp99 ms\tp50 to the smallest\tp99 to the smallest\tp50 again, A/A\tp99 again, A/A\t\n")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\t%.2fx\t%.2fx\t%.2fx\t%.2fx\t\n",
			l.Op, l.Size, l.N, l.P50, l.P99, l.Ratio, l.Tail, l.Same, l.SameTail)
	}
	return w.Flush()
}
