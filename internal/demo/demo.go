// Package demo runs the main job on real input through the product's own
// doors: it creates tasks over the External API, lets simulated contributors
// and reviewers work through the console API, polls until every task is
// finished, and then looks for broken promises in the database.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/store"
)

// Options say what to run and against what.
type Options struct {
	// BaseURL is where the API listens: http://127.0.0.1:8080.
	BaseURL string
	APIKey  string
	// PipelineID is an ACTIVE pipeline made from Document.
	PipelineID int64
	Problems   []Problem
	Tasks      int
	// Seed makes what the simulated people do repeatable.
	Seed uint64
	// Store is for the checks at the end, not for the work.
	Store *store.Store
	Out   io.Writer
	// Live rewrites the progress line in place; otherwise a line every ten
	// seconds.
	Live bool
}

// Run does the whole demo. It fails when a call fails for a reason that is not
// part of the play, or when a promise is broken.
func Run(ctx context.Context, o Options) error {
	if len(o.Problems) == 0 || o.Tasks < 1 {
		return errors.New("the demo needs at least one problem and one task")
	}
	began := time.Now()
	r := &run{Options: o, api: newAPI(o.BaseURL, o.APIKey, o.PipelineID), tally: &tally{}}
	ids, err := r.create(ctx)
	if err != nil {
		return err
	}
	created := time.Now()
	fmt.Fprintf(o.Out, "created %d tasks over the External API in %s\n", len(ids), created.Sub(began).Round(time.Millisecond))
	if err := r.work(ctx, ids); err != nil {
		return err
	}
	took := time.Since(created)
	fmt.Fprintf(o.Out, "\nall %d tasks are finished, as polled through the External API, after %s: %.1f tasks a second\n",
		len(ids), took.Round(time.Millisecond), float64(len(ids))/took.Seconds())
	fmt.Fprint(o.Out, r.tally.table())
	return r.check(ctx)
}

type run struct {
	Options
	api   *api
	tally *tally
}

// create makes the tasks in batches and returns their ids.
func (r *run) create(ctx context.Context) ([]int64, error) {
	const batch = 500
	var ids []int64
	for len(ids) < r.Tasks {
		n := min(batch, r.Tasks-len(ids))
		questions := make([]string, n)
		for i := range questions {
			questions[i] = r.Problems[(len(ids)+i)%len(r.Problems)].Question
		}
		made, err := r.api.createTasks(ctx, questions)
		if err != nil {
			return nil, err
		}
		ids = append(ids, made...)
	}
	return ids, nil
}

// work lets everybody work until the poller sees all tasks finished.
func (r *run) work(ctx context.Context, ids []int64) error {
	truth := make(map[string]string, len(r.Problems))
	for _, p := range r.Problems {
		truth[p.Question] = p.Answer
	}
	done, stop := context.WithCancel(ctx)
	defer stop()
	g, gctx := errgroup.WithContext(done)
	for i, email := range Contributors {
		g.Go(func() error { return r.person(gctx, email, i).contribute(truth) })
	}
	for i, email := range Reviewers {
		g.Go(func() error { return r.person(gctx, email, len(Contributors)+i).review(truth) })
	}
	g.Go(func() error {
		defer stop()
		return r.poll(gctx, ids)
	})
	return g.Wait()
}

// poll watches the tasks through the External API until all are finished.
func (r *run) poll(ctx context.Context, ids []int64) error {
	began := time.Now()
	every := 10 * time.Second
	if r.Live {
		every = 500 * time.Millisecond
	}
	var shown time.Time
	for {
		n, err := r.api.finished(ctx, ids)
		if err != nil {
			return err
		}
		if now := time.Now(); now.Sub(shown) >= every || n == len(ids) {
			shown = now
			r.progress(n, len(ids), now.Sub(began))
		}
		if n == len(ids) {
			return nil
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

func (r *run) progress(n, all int, since time.Duration) {
	line := fmt.Sprintf("%4d of %d finished  %5.1f/s  %s", n, all, float64(n)/since.Seconds(), r.tally.line())
	if r.Live {
		fmt.Fprintf(r.Out, "\r\033[K%s", line)
		return
	}
	fmt.Fprintln(r.Out, line)
}

// check waits for the last consequences and then looks for broken promises.
func (r *run) check(ctx context.Context) error {
	deadline := time.Now().Add(time.Minute)
	for {
		st, err := r.Store.OutboxStats(ctx)
		if err != nil {
			return err
		}
		if st.Rows == 0 && st.Lagging == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d outbox rows and %d tasks still lag after a minute: is the worker running?", st.Rows, st.Lagging)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	found, err := r.Store.CheckInvariants(ctx, true)
	if err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		v, last, err := r.Store.CheckJournal(ctx, after, 500)
		if err != nil {
			return err
		}
		found = append(found, v...)
		after, more = last, last != 0
	}
	for _, v := range found {
		fmt.Fprintf(r.Out, "BROKEN: %s: %s\n", v.Invariant, v.Where)
	}
	if len(found) > 0 {
		return fmt.Errorf("%d promises are broken", len(found))
	}
	fmt.Fprintln(r.Out, "invariants, checked in SQL:")
	for _, name := range store.Invariants() {
		fmt.Fprintf(r.Out, "  holds: %s\n", name)
	}
	fmt.Fprintln(r.Out, "  holds: the journal of every task leads to its rows")
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
