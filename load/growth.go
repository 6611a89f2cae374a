package main

import (
	"context"
	"fmt"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/taskloom/taskloom/load/internal/arrival"
	"github.com/taskloom/taskloom/load/internal/record"
)

// grown are the operations that growth compares.
var grown = []string{"create-5000", "claim", "submit", "step", "claim-review", "verdict", "list", "status", "explorer", "counts"}

// growthLine is one operation at one size.
type growthLine struct {
	Op    string  `json:"op"`
	Size  int     `json:"tasks"`
	N     int64   `json:"n"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Ratio float64 `json:"p50_ratio"` // to the smallest size
	Tail  float64 `json:"p99_ratio"`
}

// runGrowth measures the same requests beside ever more tasks.
func runGrowth(ctx context.Context, r *run) error {
	if err := r.world.fill(ctx, r.sizes[0]); err != nil {
		return err
	}
	have := r.sizes[0]
	if err := r.begin(ctx); err != nil {
		return err
	}
	body := makeBodies(false).small
	for _, size := range r.sizes {
		r.say("filling up to %d tasks", size)
		if size > have {
			if err := r.world.fill(ctx, size-have); err != nil {
				return err
			}
			have = size
		}
		var err error
		if r.facts.tasks, err = r.world.someTasks(ctx, 5000); err != nil {
			return err
		}
		if err := r.measureSize(ctx, size, body); err != nil {
			return err
		}
	}
	r.stopWatching(ctx)
	lines := r.compareSizes()
	r.bare = map[string]any{"growth": lines, "latencies": r.rec.Lines(), "series": r.series.All(), "first_failures": r.rec.Failures()}
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\noperation\ttasks\tn\tp50 ms\tp99 ms\tp50 to the smallest\tp99 to the smallest\t\n")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\t%.2fx\t%.2fx\t\n", l.Op, l.Size, l.N, l.P50, l.P99, l.Ratio, l.Tail)
	}
	return w.Flush()
}

// measureSize plays people and programs, then creations, and removes what they
// created.
func (r *run) measureSize(ctx context.Context, size int, body []byte) error {
	play, stop := context.WithCancel(ctx)
	defer stop()
	const most = 4 // claims a second
	fresh := float64(size) / 10
	claims := min(most, fresh*0.6/r.dur.Seconds())
	p := profile{
		Tasks: claims, Handling: time.Second, Verdicts: claims * 0.8, Reviewing: time.Second,
		Counts: 10, Lists: 10, Statuses: 50, Explorer: 2,
	}
	// The first seconds read what the pages of the last size have pushed out.
	warm := time.Since(r.began)
	from := warm + min(5*time.Second, r.dur/4)
	name := fmt.Sprintf("%d-tasks", size)
	r.enter(warmup, warm)
	r.enter(name, from)
	var g sync.WaitGroup
	r.play(play, &g, p, warm, from+r.dur)
	if err := r.wind(ctx, stop, &g); err != nil {
		return err
	}
	r.enter(name+"-created", time.Since(r.began))
	const creations = 5
	var c sync.WaitGroup
	r.stream(ctx, &c, arrival.Burst(creations, time.Since(r.began), creations*3*time.Second), func(due time.Time) {
		r.create(ctx, due, 0, "create-5000", body)
	})
	c.Wait()
	r.loop.Wait()
	return r.removeCreated(ctx)
}

// removeCreated takes away what was created, so that the next size is what it says.
func (r *run) removeCreated(ctx context.Context) error {
	for _, sql := range []string{
		`DELETE FROM outbox WHERE task_id = ANY($1)`, `DELETE FROM task_events WHERE task_id = ANY($1)`,
		`DELETE FROM task_nodes WHERE task_id = ANY($1)`, `DELETE FROM tasks WHERE id = ANY($1)`,
	} {
		if _, err := r.pool.Exec(ctx, sql, r.facts.ids); err != nil {
			return fmt.Errorf("remove what was created: %w", err)
		}
	}
	r.facts.ids = nil
	_, err := r.pool.Exec(ctx, `VACUUM (ANALYZE) tasks, task_nodes, task_events, outbox`)
	return err
}

func (r *run) compareSizes() []growthLine {
	var out []growthLine
	for _, op := range grown {
		var first growthLine
		for _, size := range r.sizes {
			name := fmt.Sprintf("%d-tasks", size)
			s := r.rec.Select(func(k record.Key) bool {
				return k.Op == op && k.Class == record.OK && (k.Phase == name || k.Phase == name+"-created")
			})
			l := growthLine{
				Op: op, Size: size, N: s.N(),
				P50: float64(s.Quantile(50).Microseconds()) / 1000, P99: float64(s.Quantile(99).Microseconds()) / 1000,
			}
			if first.N == 0 {
				first = l
			}
			if first.P50 > 0 && first.P99 > 0 {
				l.Ratio, l.Tail = l.P50/first.P50, l.P99/first.P99
			}
			out = append(out, l)
		}
	}
	return out
}
