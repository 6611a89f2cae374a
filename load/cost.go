package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/load/internal/wal"
)

// countersLate is how long Postgres may keep counters of rows to itself.
const countersLate = 12 * time.Second

// costResult is what the script found, a task.
type costResult struct {
	Tasks    int                 `json:"tasks"`
	Temporal temporalCost        `json:"temporal"`
	Rows     map[string]rowCount `json:"rows"` // database.table
	WAL      []wal.Share         `json:"wal"`
	// Idle is what Postgres's log takes a second when nobody does anything, by
	// database; it is not taken off.
	Idle    map[string]float64 `json:"idle_wal_bytes_per_second"`
	Seconds float64            `json:"seconds"`
}

// runCost lets -n tasks live: they are created, claimed, saved once, handed in,
// claimed for review and approved, until their runs are complete.
func runCost(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	r.stopWatching(ctx) // it writes nothing, but asks
	l, missing, err := openLedger(ctx, r.server, r.db)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	if missing != nil {
		r.note("%v", missing)
	}
	if r.lean {
		n, err := l.dropSpare(ctx)
		if err != nil {
			return err
		}
		r.note("%d indexes of Temporal's visibility that nobody uses are dropped", n)
	}
	res := costResult{Tasks: r.n, Rows: map[string]rowCount{}, Idle: map[string]float64{}}
	r.say("nobody does anything")
	idle, _, seconds, err := r.between(ctx, l, func() error { return wait(ctx, 5*time.Second) })
	if err != nil {
		return err
	}
	for _, s := range idle {
		res.Idle[s.Database] += s.Bytes / seconds
	}
	r.say("%d tasks live", r.n)
	before, err := l.rows(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	shares, after, seconds, err := r.between(ctx, l, func() (err error) {
		ids, err = r.live(ctx)
		return err
	})
	if err != nil {
		return err
	}
	res.Seconds = seconds
	for i := range shares {
		shares[i].Records /= float64(r.n)
		shares[i].Bytes /= float64(r.n)
		shares[i].Pages /= float64(r.n)
	}
	res.WAL = shares
	for name, c := range after {
		if d := c.minus(before[name]); d.any() {
			res.Rows[name.database+"."+name.table] = d.per(float64(r.n))
		}
	}
	tc, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE"), Logger: quiet{}})
	if err != nil {
		return fmt.Errorf("connect to Temporal: %w", err)
	}
	defer tc.Close()
	if res.Temporal, err = historyCost(ctx, tc, ids); err != nil {
		return err
	}
	r.bare = res
	r.printCost(res)
	return res.Temporal.whole()
}

// between does something between two looks at the log and at the rows. It
// begins with a checkpoint, after which no page is written whole by chance.
func (r *run) between(ctx context.Context, l *ledger, do func() error) (shares []wal.Share, rows map[tableName]rowCount, seconds float64, err error) {
	if err := wait(ctx, countersLate); err != nil {
		return nil, nil, 0, err
	}
	if _, err := l.conns[ours].Exec(ctx, `CHECKPOINT`); err != nil {
		return nil, nil, 0, err
	}
	from, err := l.position(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return nil, nil, 0, err
	}
	seconds = time.Since(began).Seconds()
	to, err := l.position(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	if shares, err = l.log(ctx, from, to); err != nil {
		return nil, nil, 0, err
	}
	if err := wait(ctx, countersLate); err != nil {
		return nil, nil, 0, err
	}
	rows, err = l.rows(ctx)
	return shares, rows, seconds, err
}

// live works tasks through, several at a time, and returns their ids when
// everything that follows is written. Each act waits until all that follows from
// the one before is written, as people do who take minutes: what a run hears at
// the same time it applies in one step, and costs less. The tasks lie in the
// small pipeline, in which there is nothing else.
func (r *run) live(ctx context.Context) ([]int64, error) {
	var ids []int64
	for len(ids) < r.n {
		a := r.ask(ctx, request{
			op: "create", method: http.MethodPost, key: r.world.keys[0], path: fmt.Sprintf("/api/v1/workflows/%d/tasks", r.world.small),
			body: mathcheck.CreateBody(min(50, r.n-len(ids)), mathcheck.Small), patience: insistent,
		})
		var out struct {
			TaskIDs []int64 `json:"task_ids"`
		}
		if !a.ok() || a.decode(&out) != nil {
			return nil, fmt.Errorf("create tasks: %s", a.cause())
		}
		ids = append(ids, out.TaskIDs...)
		r.facts.created(out.TaskIDs)
	}
	if err := r.quiet(ctx, r.n); err != nil {
		return nil, err
	}
	holds := make([]*hold, len(ids))
	for _, role := range []string{"contributor", "reviewer"} {
		people := r.world.contributors
		if role == "reviewer" {
			people = r.world.reviewers
		}
		claim := func(i int) error {
			holds[i] = r.claim(ctx, people[i%len(people)], r.world.small, role, "claim", time.Now())
			if holds[i] == nil {
				return fmt.Errorf("nothing to do for a %s", role)
			}
			return nil
		}
		decide := func(i int) error { return r.decide(ctx, holds[i], role) }
		for _, act := range []func(int) error{claim, decide} {
			if err := r.actAll(ctx, len(ids), act); err != nil {
				return nil, err
			}
		}
	}
	return ids, wait(ctx, 2*time.Second) // Temporal closes what is complete
}

// decide is what somebody does with what they have. A task of which a part failed
// costs less than it should, so each failure is an error.
func (r *run) decide(ctx context.Context, h *hold, role string) error {
	if h.ends = time.Now(); role == "reviewer" {
		return r.verdict(ctx, h, true)
	}
	if err := r.saveNow(ctx, h, h.ends); err != nil {
		return err
	}
	return r.submit(ctx, h)
}

// actAll does something n times, several at a time, and waits until all that
// follows is written.
func (r *run) actAll(ctx context.Context, n int, act func(i int) error) error {
	const atATime = 8
	var g errgroup.Group
	g.SetLimit(atATime)
	for i := range n {
		g.Go(func() error { return act(i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.quiet(ctx, n)
}

// quiet waits until nothing is under way any more, after something was done n
// times. Even a machine with one core does what follows from more than five a
// second.
func (r *run) quiet(ctx context.Context, n int) error {
	return awaitQuiet(ctx, time.Minute+time.Duration(n)*time.Second/5, r.backlog)
}

func awaitQuiet(ctx context.Context, most time.Duration, look func(context.Context) (backlog, error)) error {
	for until := time.Now().Add(most); ; {
		b, err := look(ctx)
		if err != nil {
			return err
		}
		if b.rows == 0 && b.lagging == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("after %v there are %d outbox rows, and %d tasks lag: see the worker's log for why nothing goes on", most, b.rows, b.lagging)
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func (r *run) printCost(c costResult) {
	out := r.stdout
	fmt.Fprintf(out, "\nWhat a task costs, on average of %d: create, claim, save, submit, claim, approve.\n\n", c.Tasks)
	fmt.Fprintf(out, "| Temporal | a task |\n|---|---|\n")
	fmt.Fprintf(out, "| runs, of which complete | %.2f, %.2f |\n| history events | %.1f |\n| history bytes | %.0f |\n| state transitions | %.1f |\n",
		c.Temporal.Runs, c.Temporal.Completed, c.Temporal.Events, c.Temporal.Bytes, c.Temporal.StateTransitions)
	v := c.Rows[visibilityDatabase+".executions_visibility"]
	fmt.Fprintf(out, "| visibility writes (inserted + updated) | %.2f + %.2f |\n", v.Inserted, v.Updated)
	for _, t := range slices.Sorted(maps.Keys(c.Temporal.ByType)) {
		fmt.Fprintf(out, "| – %s | %.2f |\n", t, c.Temporal.ByType[t])
	}
	fmt.Fprintf(out, "\n| rows | inserted | updated | of which HOT | deleted |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(c.Rows)) {
		n := c.Rows[name]
		fmt.Fprintf(out, "| %s | %.2f | %.2f | %.2f | %.2f |\n", name, n.Inserted, n.Updated, n.Hot, n.Deleted)
	}
	fmt.Fprintf(out, "\n| WAL | records | of which in indexes | bytes | bytes in indexes | whole pages, bytes |\n|---|---|---|---|---|---|\n")
	for _, name := range []string{ours, temporalDatabase, visibilityDatabase, ""} {
		all := wal.Total(c.WAL, func(s wal.Share) bool { return s.Database == name })
		index := wal.Total(c.WAL, func(s wal.Share) bool { return s.Database == name && s.Index })
		if name == "" {
			name = "of none of them"
		}
		fmt.Fprintf(out, "| %s | %.1f | %.1f | %.0f | %.0f | %.0f |\n", name, all.Records, index.Records, all.Bytes, index.Bytes, all.Pages)
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "written for\tdatabase\ttable\trecords\tbytes\n")
	for _, s := range c.WAL[:min(40, len(c.WAL))] {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.0f\n", s.Name, s.Database, s.Table, s.Records, s.Bytes)
	}
	_ = w.Flush() // to where the rest goes
}

// quiet keeps the Temporal client's talk to itself.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
