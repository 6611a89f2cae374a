// The checks that must find broken promises are themselves tested here: each
// bug of this package is switched on in a build of the product that carries
// it, and has to be found, by the invariants or by what clients saw.
package planted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/internal/store"
)

// found is how long a bug may stay unseen.
const found = 2 * time.Minute

// scene is some load under which a bug shows, and what finds it.
type scene struct {
	bug planted.Bug
	// by names the invariant that must be broken; "" when only the clients can
	// see it.
	by string
	// play works and returns what the clients saw that must not be.
	play func(y *yard, ctx context.Context) ([]string, error)
	// alone scenes are not played without their bug: they take down a part.
	alone bool
}

var scenes = []scene{
	{bug: planted.ClaimUnlocked, by: "claim-alone", play: (*yard).everybodyClaims},
	{bug: planted.SubmitAnyClaim, by: "submission-by-holder", play: (*yard).submitTooLate},
	{bug: planted.DraftUnguarded, play: (*yard).writeInTwoTabs},
	{bug: planted.TaskAnyOrg, play: (*yard).pollForeignTasks},
	{bug: planted.OutboxEarly, by: "events-on-the-way", play: (*yard).workWhileTemporalDies, alone: true},
}

// TestThePlantedBugsAreFound plays every scene without its bug, when nothing
// may be found, and then with it, when it must be.
func TestThePlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product once more and starts a stack")
	}
	began := time.Now()
	y := newYard(t, build(t))
	t.Logf("built and started after %s", time.Since(began).Round(time.Second))
	for _, s := range scenes {
		if s.alone {
			continue
		}
		seen, err := s.play(y, t.Context())
		require.NoError(t, err, "%s, without its bug", s.bug)
		require.Empty(t, seen, "%s, without its bug", s.bug)
	}
	require.Empty(t, y.broken(), "without a bug")
	for _, s := range scenes {
		y.restart(s.bug)
		began := time.Now()
		var told []string
		for len(told) == 0 && time.Since(began) < found {
			seen, err := s.play(y, t.Context())
			require.NoError(t, err, s.bug)
			if told = seen; s.by != "" {
				told = y.broken()[s.by]
			}
		}
		if len(told) == 0 {
			t.Errorf("%s: not found within %s", s.bug, found)
			continue
		}
		t.Logf("%s: found after %s by %q, first: %s", s.bug, time.Since(began).Round(10*time.Millisecond), s.by, told[0])
	}
}

// TestAStepWithoutItsFenceIsFound does the same for the one bug that shows only
// where two runs walk one task: in the tests of the store, which play both.
func TestAStepWithoutItsFenceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the store's tests once more")
	}
	program := filepath.Join(t.TempDir(), "store.test")
	run(t, stacktest.Root(t), []string{"CGO_ENABLED=0"}, "go", "test", "-trimpath", "-tags", "planted", "-c", "-o", program, "./internal/store")
	play := func(bug planted.Bug) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestALateRunChangesNothing$", "-test.v")
		cmd.Env = append(os.Environ(), "TASKLOOM_PLANTED="+string(bug))
		cmd.Dir = filepath.Join(stacktest.Root(t), "internal", "store")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := play("")
	require.NoError(t, err, out)
	require.Contains(t, out, "--- PASS: TestALateRunChangesNothing")
	out, err = play(planted.StepUnfenced)
	require.Error(t, err, out)
	require.Contains(t, out, "{events-applied ", "found by another check")
}

// Every bug has its scene, and no build but a planted one can have any.
func TestEveryBugIsPlayed(t *testing.T) {
	played := []planted.Bug{planted.StepUnfenced}
	for _, s := range scenes {
		played = append(played, s.bug)
	}
	require.ElementsMatch(t, planted.Bugs(), played)
	if !planted.Enabled {
		t.Setenv("TASKLOOM_PLANTED", string(planted.ClaimUnlocked))
		require.False(t, planted.Is(planted.ClaimUnlocked))
	}
}

// build makes the product with the bugs in it.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "taskloom")
	run(t, stacktest.Root(t), []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-tags", "planted", "-o", program, "./cmd/taskloom")
	return program
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", name, args, out)
}

// yard is a running product with two organizations and people who work in the
// first.
type yard struct {
	*stacktest.Stack
	t            *testing.T
	ours, theirs *org
	batch        int
}

func newYard(t *testing.T, program string) *yard {
	t.Helper()
	y := &yard{t: t, Stack: stacktest.Start(t, stacktest.Options{
		Document: document("ours", "theirs"), Binary: program, ServeEnv: []string{"RATE_LIMIT_KEY=off", "REQUESTS_AT_ONCE=16"},
	})}
	y.ours, y.theirs = y.org("ours"), y.org("theirs")
	return y
}

// restart brings the processes up with a bug.
func (y *yard) restart(bug planted.Bug) {
	y.t.Helper()
	env := "TASKLOOM_PLANTED=" + string(bug)
	y.Serve.Halt()
	y.Worker.Halt()
	y.Serve.Start("RATE_LIMIT_KEY=off", "REQUESTS_AT_ONCE=16", env)
	y.Worker.Start("METRICS_ADDR="+y.Value("WORKER_METRICS_ADDR"), env)
	y.WaitReady()
}

// broken returns what is broken while people may be at work, by the
// invariant's name. Five seconds without a touch are a rest here.
func (y *yard) broken() map[string][]string {
	y.t.Helper()
	found, err := y.Store().Check(y.t.Context(), store.CheckOptions{Grace: 5 * time.Second})
	require.NoError(y.t, err)
	out := map[string][]string{}
	for _, f := range found {
		for _, v := range f.Violations {
			out[f.Name] = append(out[f.Name], v.Where)
		}
	}
	return out
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

// submitTooLate lets people hand in what somebody else got meanwhile.
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
			named := map[string]any{"role": "contributor", "task_id": id, "node": "solve"}
			mine, err := late.claim(gctx, named)
			if err != nil {
				return err
			}
			for theirs := (*claim)(nil); theirs == nil; {
				theirs, err = other.claim(gctx, named)
				if err != nil && status(err) != 409 {
					return err
				}
				if err := wait(gctx, 100*time.Millisecond); err != nil {
					return err
				}
			}
			switch err := late.submit(gctx, mine.ID); {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprintf("task %d: claim %s was over and was handed in", id, mine.ID))
				return nil
			case status(err) != 409:
				return err
			}
			return nil
		})
	}
	err = g.Wait()
	return seen, err
}

// writeInTwoTabs saves a draft from two tabs at a time: a revision must be
// given once.
func (y *yard) writeInTwoTabs(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.ours, 1)
	if err != nil {
		return nil, err
	}
	p := y.ours.people[0]
	c, err := p.claim(ctx, map[string]any{"role": "contributor", "task_id": ids[0], "node": "solve"})
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
// while Temporal hangs, which then dies of it: what a call had given it by then
// is gone. It waits until nothing more can be on its way.
func (y *yard) workWhileTemporalDies(ctx context.Context) ([]string, error) {
	ids, err := y.create(ctx, y.ours, len(y.ours.people))
	if err != nil {
		return nil, err
	}
	held := make([]*claim, len(ids))
	if err := y.eachPerson(ctx, func(ctx context.Context, i int, p *client) (err error) {
		held[i], err = p.claim(ctx, object{"role": "contributor", "task_id": ids[i], "node": "solve"})
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
