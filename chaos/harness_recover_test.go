package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/task"
)

const (
	// recoverWithin is the deadline D: how long after a fault is healed
	// everything may take to work again.
	recoverWithin = 60 * time.Second
	// floorRate and floorWindow are the traffic floor: fewer acknowledged
	// calls a second in the time before a fault prove nothing.
	floorRate   = 20
	floorWindow = 10 * time.Second
	// floorPatience is how long a fault waits for the floor.
	floorPatience = 90 * time.Second
)

// errTraffic makes a run invalid: not a violation, but no proof either.
var errTraffic = errors.New("invalid run: too little traffic before a fault")

// Floor waits until the traffic before a fault proves something; errTraffic
// when it does not come to.
func (r *Run) Floor(ctx context.Context) error {
	deadline := time.Now().Add(floorPatience)
	for {
		n := r.History.AckedWithin(floorWindow, time.Now())
		if n >= floorRate*int(floorWindow/time.Second) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %d calls were acknowledged in %s, the floor is %d a second", errTraffic, n, floorWindow, floorRate)
		}
		if err := r.pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// pause waits, and ends early with the load's error when that broke down.
func (r *Run) pause(ctx context.Context, d time.Duration) error {
	if err := wait(ctx, d); err != nil {
		return err
	}
	if r.ctx.Err() != nil && !r.stopped {
		return fmt.Errorf("the load broke down: %w", r.load.Wait())
	}
	return nil
}

// recovery is how long it took until everything worked again.
type recovery struct {
	after string
	full  bool
	took  time.Duration
}

// Recover waits until everything works again after a fault that is healed now:
// the clients' calls get through, and work can be created, claimed and handed
// in. With full also what was waiting then has been delivered and applied, and
// a task can be worked through to its end. What does not come within the
// deadline is a violation.
func (r *Run) Recover(ctx context.Context, after string, full bool, deadline time.Duration) {
	if full { // nothing breaks while it is looked at
		r.cutShare(0)
		defer r.cutShare(r.Load.CutShare)
	}
	healed := time.Now()
	ctx, cancel := context.WithDeadline(ctx, healed.Add(deadline))
	defer cancel()
	stage, err := r.recovered(ctx, healed, full)
	took := time.Since(healed)
	r.mu.Lock()
	r.recoveries = append(r.recoveries, recovery{after, full, took})
	r.mu.Unlock()
	if err != nil {
		r.Violate("liveness: %s not within %s after %s was healed: %v (%s)", stage, deadline, after, err, loadOfMachine())
		return
	}
	if full {
		r.Logf("recovered in full %s after %s was healed", took.Round(time.Millisecond), after)
	}
}

// loadOfMachine is for whoever judges a missed deadline: a machine that others
// use as well may just have had no time.
func loadOfMachine() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	return fmt.Sprintf("load of the machine: %s, on %d cores", strings.Join(strings.Fields(string(raw))[:3], " "), runtime.NumCPU())
}

func (r *Run) recovered(ctx context.Context, healed time.Time, full bool) (stage string, err error) {
	const calls = 20
	stage = fmt.Sprintf("%d acknowledged calls", calls)
	for !r.stopped && r.History.AckedWithin(time.Since(healed), time.Now()) < calls {
		if err := r.pause(ctx, 20*time.Millisecond); err != nil {
			return stage, err
		}
	}
	id, stage, err := r.probes.handIn(ctx)
	if err != nil || !full {
		return stage, err
	}
	began := healed
	healed = r.onDatabase(healed) // for what the database wrote
	stage = "what waited in the outbox was delivered"
	err = r.until(ctx, func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM outbox WHERE created_at < $1`, healed)
		return n == 0, err
	})
	if err != nil {
		return stage, r.waiting(err, healed)
	}
	stage = "what waited for its consequences has them"
	err = r.until(ctx, func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM tasks t WHERE applied_seq < seq AND applied_seq < (SELECT coalesce(max(e.seq), 0)
			FROM task_events e WHERE e.task_id = t.id AND e.created_at < $1)`, healed)
		return n == 0, err
	})
	if err != nil {
		return stage, r.waiting(err, healed)
	}
	if stage, err := r.everybodyWorks(ctx, began); err != nil {
		return stage, err
	}
	return r.probes.finish(ctx, id)
}

// waiting adds to an error what is still not done.
func (r *Run) waiting(err error, healed time.Time) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	var rows, lagging string
	_ = r.Store().Pool().QueryRow(ctx, `SELECT coalesce(string_agg(format('task %s seq %s attempts %s due in %s: %s', task_id, seq, attempts, next_attempt_at - now(), last_error), '; '), '')
		FROM (SELECT * FROM outbox WHERE created_at < $1 ORDER BY id LIMIT 5) o`, healed).Scan(&rows)
	_ = r.Store().Pool().QueryRow(ctx, `SELECT coalesce(string_agg(format('task %s %s of %s since %s', id, applied_seq, seq, now() - updated_at), '; '), '')
		FROM (SELECT * FROM tasks WHERE applied_seq < seq ORDER BY updated_at LIMIT 5) t`).Scan(&lagging)
	return fmt.Errorf("%w (outbox: %s) (lagging: %s) (runs: %s)", err, rows, lagging, r.laggingRuns(ctx))
}

// until asks until the answer is yes.
func (r *Run) until(ctx context.Context, ask func(ctx context.Context) (bool, error)) error {
	for {
		yes, err := ask(ctx)
		if yes || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err := r.pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// prober works tasks through by itself, in a tenant of its own, to see that
// everything works.
type prober struct {
	run                               *Run
	integrator, contributor, reviewer *client
	batches                           int
}

func (r *Run) newProber() *prober {
	o := r.World.Probe
	return &prober{
		run: r, integrator: r.client(o, "integrator@"+o.Mark+".test", o.Key, 1),
		contributor: r.client(o, o.Contributors[0], "", 2), reviewer: r.client(o, o.Reviewers[0], "", 3),
	}
}

func (p *prober) login(ctx context.Context) {
	for _, c := range []*client{p.contributor, p.reviewer} {
		if err := c.login(ctx); err != nil {
			p.run.t.Fatalf("log in %s: %v", c.who, err)
		}
	}
}

// handIn creates a task, claims a node of it and hands it in.
func (p *prober) handIn(ctx context.Context) (id int64, stage string, err error) {
	p.batches++
	key := fmt.Sprintf("probe-%d", p.batches)
	for {
		ids, err := p.integrator.create(ctx, key, []string{p.integrator.org.Mark + " probe"})
		if err == nil {
			id = ids[0]
			break
		}
		if !errors.Is(err, errRefused) {
			return 0, "creating a task", err
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return 0, "creating a task", err
		}
	}
	return id, "claiming and handing in", p.work(ctx, p.contributor, id, nodeSolve)
}

// finish works the task through to its end, as its integrator sees it.
func (p *prober) finish(ctx context.Context, id int64) (stage string, err error) {
	if err := p.work(ctx, p.contributor, id, nodeTag); err != nil {
		return "handing in the other node", err
	}
	if err := p.work(ctx, p.reviewer, id, nodeCheck); err != nil {
		return "the review that follows a submission", err
	}
	return "the finished task", p.run.until(ctx, func(ctx context.Context) (bool, error) {
		t, err := p.integrator.task(ctx, id)
		return t.Status == string(task.Finished), err
	})
}

// work claims a node and hands it in, again whenever the claim is lost.
func (p *prober) work(ctx context.Context, c *client, id int64, node string) error {
	role := roleContributor
	if c == p.reviewer {
		role = roleReviewer
	}
	for {
		k, err := c.claimNode(ctx, role, id, node)
		if err == nil {
			if role == roleReviewer {
				err = c.verdict(ctx, k, "approve")
			} else {
				err = c.submit(ctx, k, object{fieldOf[node]: c.org.Mark + " probe"})
			}
			if err == nil {
				return nil
			}
		}
		if !errors.Is(err, errRefused) && !errors.Is(err, errUnknown) {
			return err
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// Ready waits until each serve that is to run answers /readyz with 200: its parts are
// back.
func (r *Run) Ready(ctx context.Context) error {
	c := &http.Client{Timeout: callTimeout}
	defer c.CloseIdleConnections()
	for i, base := range r.bases {
		if !r.Serves[i].Wanted() {
			continue
		}
		err := r.until(ctx, func(ctx context.Context) (bool, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
			if err != nil {
				return false, err
			}
			res, err := c.Do(req)
			if err != nil {
				return false, err
			}
			_ = res.Body.Close()
			return res.StatusCode == http.StatusOK, nil
		})
		if err != nil {
			return fmt.Errorf("%s is not ready: %w", base, err)
		}
	}
	return nil
}
