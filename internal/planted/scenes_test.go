package planted_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/planted"
)

// scene is some load under which a bug shows, and what finds it.
type scene struct {
	bug planted.Bug
	// by names the invariant that must be broken; "" when only the clients can
	// see it.
	by string
	// play works and returns what the clients saw that must not be.
	play func(y *yard, ctx context.Context) ([]string, error)
	// outage scenes take down a part: what waits for it waits longer than is right
	// for what is at rest here (broken).
	outage bool
}

var scenes = []scene{
	{bug: planted.ClaimUnlocked, by: "claim-alone", play: (*yard).everybodyClaims},
	{bug: planted.SubmitAnyClaim, by: "submission-by-holder", play: (*yard).submitTooLate},
	{bug: planted.DraftUnguarded, play: (*yard).writeInTwoTabs},
	{bug: planted.TaskAnyOrg, play: (*yard).pollForeignTasks},
	{bug: planted.CopyUnasked, play: (*yard).completeUnanswered},
	{bug: planted.OutboxEarly, by: "events-on-the-way", play: (*yard).workWhileTemporalDies, outage: true},
}

// everybodyClaims lets all people ask for work at the same moment, again and
// again: no two may get the same.
func (y *yard) everybodyClaims(ctx context.Context) ([]string, error) {
	if _, err := y.create(ctx, y.ours, 40); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	given := map[string][]string{}
	g, gctx := errgroup.WithContext(ctx)
	for _, p := range y.ours.people {
		g.Go(func() error {
			for {
				c, err := p.claim(gctx, nil)
				if err != nil || c == nil {
					return err
				}
				at := fmt.Sprintf("task %d node %s round %d", c.TaskID, c.Node, c.Iteration)
				mu.Lock()
				given[at] = append(given[at], p.email)
				mu.Unlock()
			}
		})
	}
	err := g.Wait()
	var seen []string
	for at, to := range given {
		if len(to) > 1 {
			seen = append(seen, fmt.Sprintf("%s was given to %s", at, strings.Join(to, " and ")))
		}
	}
	slices.Sort(seen)
	return seen, err
}

// submitTooLate lets people hand in what somebody else gets meanwhile: between the
// look at their claim and the lock, where the build with the bug waits for the lease
// to end. Without it they are through before anybody else is.
func (y *yard) submitTooLate(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.ours, 4)
	if err != nil {
		return nil, err
	}
	if _, err := y.Store().Pool().Exec(ctx, `UPDATE task_nodes SET lease_seconds = 1 WHERE task_id = ANY ($1)`, ids); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var seen []string
	g, gctx := errgroup.WithContext(ctx)
	for i, id := range ids {
		late, other := y.ours.people[2*i], y.ours.people[2*i+1]
		g.Go(func() error {
			named := object{"role": "contributor", "task_id": id, "node": "solve"}
			mine, err := late.insist(gctx, named)
			if err != nil {
				return err
			}
			handedIn := make(chan error, 1)
			go func() { handedIn <- late.submit(gctx, mine.ID) }()
			taken, err := other.takeMeanwhile(gctx, named, handedIn)
			switch {
			case err == nil && taken:
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprintf("task %d: claim %s was over and was handed in", id, mine.ID))
			case status(err) == http.StatusConflict: // told so
				return nil
			}
			return err
		})
	}
	err = g.Wait()
	return seen, err
}

// takeMeanwhile asks for a node until it is given or somebody else's call on it is
// through; it returns whether it was given before that, and how that call ended.
func (c *client) takeMeanwhile(ctx context.Context, named object, through <-chan error) (taken bool, err error) {
	for {
		select {
		case err := <-through:
			return taken, err
		case <-time.After(50 * time.Millisecond):
		}
		if taken {
			continue
		}
		got, err := c.claim(ctx, named)
		if err != nil && status(err) != http.StatusConflict {
			return false, err
		}
		taken = err == nil && got != nil
	}
}

// writeInTwoTabs saves a draft from two tabs at a time: a revision must be
// given once.
func (y *yard) writeInTwoTabs(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.ours, 1)
	if err != nil {
		return nil, err
	}
	p := y.ours.people[0]
	c, err := p.insist(ctx, map[string]any{"role": "contributor", "task_id": ids[0], "node": "solve"})
	if err != nil {
		return nil, err
	}
	var seen []string
	for revision, round := int64(0), 0; round < 40; round++ {
		answers := make([]int64, 4)
		g, gctx := errgroup.WithContext(ctx)
		for i := range answers {
			g.Go(func() (err error) {
				answers[i], err = p.draft(gctx, c.ID, fmt.Sprintf("round %d tab %d", round, i), revision)
				if status(err) == 409 {
					return nil
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		slices.Sort(answers)
		if answers[2] > 0 && answers[2] == answers[3] {
			seen = append(seen, fmt.Sprintf("revision %d of the draft under claim %s was given to two tabs: one's words are lost", answers[3], c.ID))
		}
		// The first save of a draft is free to both.
		if revision = answers[3]; revision == 0 {
			return nil, fmt.Errorf("nobody could save the draft under claim %s", c.ID)
		}
	}
	return seen, p.submit(ctx, c.ID)
}

// pollForeignTasks asks for tasks of another organization.
func (y *yard) pollForeignTasks(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.theirs, 5)
	if err != nil {
		return nil, err
	}
	var seen []string
	for _, id := range ids {
		var got struct {
			ID int64 `json:"id"`
		}
		err := y.ours.api.call(ctx, "GET", fmt.Sprintf("/api/v1/workflows/%d/tasks/%d", y.ours.pipeline, id), nil, &got)
		switch {
		case err == nil:
			seen = append(seen, fmt.Sprintf("task %d of another organization was answered", id))
		case status(err) != 404:
			return nil, err
		}
	}
	return seen, nil
}

// temporalHangs is longer than any call to Temporal takes, with its retries.
const temporalHangs = 8 * time.Second

// workWhileTemporalDies has everybody hand in what is the last event of a task
// while Temporal hangs, creates and claims more, and polls. Temporal then dies of
// it: what a call had given it by then is gone. It waits until nothing more can be on its way.
func (y *yard) workWhileTemporalDies(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.ours, len(y.ours.people))
	if err != nil {
		return nil, err
	}
	held := make([]*claim, len(ids))
	if err := y.eachPerson(ctx, func(ctx context.Context, i int, p *client) (err error) {
		held[i], err = p.insist(ctx, object{"role": "contributor", "task_id": ids[i], "node": "solve"})
		return err
	}); err != nil {
		return nil, err
	}
	if err := y.until(ctx, time.Minute, func() (bool, error) {
		n, err := y.lagging(ctx, ids)
		return n == 0, err
	}); err != nil {
		return nil, fmt.Errorf("the claims have no consequences: %w", err)
	}
	y.Signal("temporal", syscall.SIGSTOP)
	hung := time.Now()
	err = y.eachPerson(ctx, func(ctx context.Context, i int, p *client) error { return p.submit(ctx, held[i].ID) })
	if err == nil {
		err = y.newWork(ctx)
	}
	if err == nil {
		err = wait(ctx, time.Until(hung.Add(temporalHangs)))
	}
	y.Signal("temporal", syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	// Three times the rest of broken, and all of it, if nothing is lost.
	err = y.until(ctx, 20*time.Second, func() (bool, error) {
		n, err := y.lagging(ctx, ids)
		return err != nil || n == 0 || len(y.broken()["events-on-the-way"]) > 0, err
	})
	if errors.Is(err, errTooLate) {
		return nil, nil
	}
	return nil, err
}

// newWork creates a task for everybody, who claims it, and asks for its status.
func (y *yard) newWork(ctx context.Context) error {
	ids, err := y.create(ctx, y.ours, len(y.ours.people))
	if err != nil {
		return fmt.Errorf("create while Temporal is away: %w", err)
	}
	return y.eachPerson(ctx, func(ctx context.Context, i int, p *client) error {
		if _, err := p.insist(ctx, object{"role": "contributor", "task_id": ids[i], "node": "solve"}); err != nil {
			return fmt.Errorf("claim while Temporal is away: %w", err)
		}
		var got struct {
			Status string `json:"status"`
		}
		path := fmt.Sprintf("/api/v1/workflows/%d/tasks/%d", y.ours.pipeline, ids[i])
		if err := y.ours.api.call(ctx, "GET", path, nil, &got); err != nil {
			return fmt.Errorf("poll while Temporal is away: %w", err)
		}
		if got.Status == "" {
			return fmt.Errorf("task %d has no status while Temporal is away", ids[i])
		}
		return nil
	})
}

// rested says whether nothing is on its way any more: Temporal was told of
// everything, and every task has its consequences.
func (y *yard) rested(ctx context.Context) (bool, error) {
	var n int
	err := y.Store().Pool().QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM tasks WHERE applied_seq < seq)`).Scan(&n)
	return n == 0, err
}

// lagging is how many of the tasks wait for their consequences.
func (y *yard) lagging(ctx context.Context, ids []int64) (n int, err error) {
	err = y.Store().Pool().QueryRow(ctx, `SELECT count(*) FROM tasks WHERE id = ANY ($1) AND applied_seq < seq`, ids).Scan(&n)
	return n, err
}

// eachPerson has everybody do something at the same time.
func (y *yard) eachPerson(ctx context.Context, do func(ctx context.Context, i int, p *client) error) error {
	g, gctx := errgroup.WithContext(ctx)
	for i, p := range y.ours.people {
		g.Go(func() error { return do(gctx, i, p) })
	}
	return g.Wait()
}

var errTooLate = errors.New("not in time")

// until waits for a condition, errTooLate when it does not come.
func (y *yard) until(ctx context.Context, most time.Duration, met func() (bool, error)) error {
	for end := time.Now().Add(most); time.Now().Before(end); {
		if ok, err := met(); err != nil || ok {
			return err
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return errTooLate
}

func (y *yard) create(ctx context.Context, o *org, n int) ([]int64, error) {
	y.batch++
	items := make([]map[string]any, n)
	for i := range items {
		items[i] = map[string]any{"fields": map[string]any{"question": fmt.Sprintf("batch %d item %d", y.batch, i)}}
	}
	var out struct {
		TaskIDs []int64 `json:"task_ids"`
	}
	err := o.api.call(ctx, "POST", fmt.Sprintf("/api/v1/workflows/%d/tasks", o.pipeline), map[string]any{"tasks": items}, &out)
	return out.TaskIDs, err
}
