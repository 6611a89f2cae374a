package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// knockers people, each every knockEvery, claim a task and give it back, and
	// one time in handInOneIn create one, hand it in and look at it. That is eight
	// signals a second for as long as Temporal is away, 4,800 in ten minutes,
	// and hardly any work to do in the end.
	knockers    = 2
	knockEvery  = 500 * time.Millisecond
	handInOneIn = 8
	// knockedTasks are claimed in turns, so that their runs hear of it side by
	// side.
	knockedTasks = 64
	// paceShare of what was due must have been served.
	paceShare = 0.8
)

// nodeLook is the one node of the plain pipeline of uploads.
const nodeLook = "look"

// knocking is work of people on a bounded number of tasks: it makes the outbox
// grow at an even pace, however long steps are not done.
type knocking struct {
	run    *Run
	files  *uploads
	people []*client
	tasks  []int64

	mu       sync.Mutex
	served   int     // in the present outage
	handedIn []int64 // in all of them
}

// newKnocking makes the tasks and logs the people in. It is for Row.Prepare.
func newKnocking(ctx context.Context, files *uploads) (*knocking, error) {
	k := &knocking{}
	err := k.begin(ctx, files)
	return k, err
}

// begin is newKnocking for people who are named before there is a run.
func (k *knocking) begin(ctx context.Context, files *uploads) error {
	k.run, k.files = files.run, files
	var err error
	if k.tasks, err = files.createPlain(ctx, knockedTasks); err != nil {
		return err
	}
	o := &Organization{Mark: "qfiles", Pipeline: files.plain, tasks: map[int64]bool{}}
	for i := range knockers {
		c := k.run.client(o, "c0@qfiles.test", "", uint64(50+i))
		if err := c.login(ctx); err != nil {
			return fmt.Errorf("log in %s: %w", c.who, err)
		}
		k.people = append(k.people, c)
	}
	return nil
}

// createPlain creates n tasks of the plain pipeline, again when it is told to
// come again.
func (u *uploads) createPlain(ctx context.Context, n int) ([]int64, error) {
	var out struct {
		TaskIDs []int64 `json:"task_ids"`
	}
	c := &http.Client{Timeout: callTimeout}
	for {
		path := fmt.Sprintf("/api/v1/workflows/%d/tasks", u.plain)
		a, err := ask(ctx, c, http.MethodPost, u.run.URL+path, u.key, plainTasks(n, "qfiles knocks"))
		if err == nil {
			u.program.judge(request{method: http.MethodPost, path: path}, a.status, a.header(), a.body)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("create %d tasks: %w", n, err)
		case a.status < http.StatusBadRequest:
			err := json.Unmarshal(a.body, &out)
			u.program.org.own(out.TaskIDs...)
			return out.TaskIDs, err
		case !a.later():
			return nil, fmt.Errorf("creating %d tasks was answered %d: %.200s", n, a.status, a.body)
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return nil, err
		}
	}
}

// start lets the people go on until stop is called, which tells whether they
// were served at their pace.
func (k *knocking) start(during string) (stop func() error) {
	began, over := time.Now(), make(chan struct{}) // calls under way end in order
	k.mu.Lock()
	k.served = 0
	already := len(k.handedIn)
	k.mu.Unlock()
	var g errgroup.Group
	for i, c := range k.people {
		share := len(k.tasks) / len(k.people)
		g.Go(func() error { return k.goOn(k.run.t.Context(), over, c, k.tasks[i*share:(i+1)*share]) })
	}
	return func() error {
		due := int(time.Since(began)/knockEvery) * len(k.people)
		close(over)
		err := g.Wait()
		k.mu.Lock()
		defer k.mu.Unlock()
		handedIn := len(k.handedIn) - already
		k.run.Logf("people who knocked were served %d of %d times during %s, and handed in %d new tasks", k.served, due, during, handedIn)
		if float64(k.served) < paceShare*float64(due) || handedIn == 0 {
			k.run.Violate("clients were not served on during %s: %d of %d times, and %d new tasks handed in (%s)", during, k.served, due, handedIn, loadOfMachine())
		}
		return err
	}
}

// during is a fault with these people at work all the while.
func (k *knocking) during(f Fault) Fault {
	breaks := f.Inject
	f.Inject = func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		heal, err := breaks(ctx, r)
		if err != nil {
			return heal, err
		}
		stop := k.start(f.Name)
		return func(ctx context.Context) error { return errors.Join(stop(), heal(ctx)) }, nil
	}
	return f
}

// goOn knocks by the clock: who waits for an answer misses their turn.
func (k *knocking) goOn(ctx context.Context, over <-chan struct{}, c *client, tasks []int64) error {
	turn := time.NewTicker(knockEvery)
	defer turn.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case <-turn.C:
		}
		var err error
		if n%handInOneIn == 0 {
			err = k.handIn(ctx, c)
		} else {
			err = k.knock(ctx, c, tasks[n%len(tasks)])
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			k.mu.Lock()
			k.served++
			k.mu.Unlock()
		case !errors.Is(err, errRefused) && !errors.Is(err, errUnknown): // those count as not served
			return fmt.Errorf("%s knocks: %w", c.who, err)
		}
	}
}

func (k *knocking) knock(ctx context.Context, c *client, task int64) error {
	held, err := c.claimNode(ctx, roleContributor, task, nodeLook)
	if err != nil {
		return err
	}
	return c.release(ctx, held)
}

// handIn works on a task of which Temporal has never heard, and polls it.
func (k *knocking) handIn(ctx context.Context, c *client) error {
	ids, err := k.files.createPlain(ctx, 1)
	if err != nil {
		return err
	}
	held, err := c.claimNode(ctx, roleContributor, ids[0], nodeLook)
	if err != nil {
		return err
	}
	if err := c.submit(ctx, held, object{"answer": "qfiles knocks"}); err != nil {
		return err
	}
	k.mu.Lock()
	k.handedIn = append(k.handedIn, ids[0])
	k.mu.Unlock()
	status, err := get(ctx, &http.Client{Timeout: callTimeout}, fmt.Sprintf("%s/api/v1/workflows/%d/tasks/%d", k.run.URL, k.files.plain, ids[0]), k.files.key)
	if err == nil && status != http.StatusOK {
		err = errRefused
	}
	return err
}

// finished checks that all tasks that were handed in meanwhile are over.
func (k *knocking) finished(ctx context.Context) error {
	left, err := k.run.Count(ctx, `SELECT count(*) FROM tasks WHERE id = ANY($1) AND status <> 'finished'`, k.handedIn)
	if err == nil && left > 0 {
		k.run.Violate("I3: %d of %d tasks that were handed in without Temporal are not finished", left, len(k.handedIn))
	}
	return err
}

// TestRow04CommandsAreCountedOnce shows which calls must have left a row.
func TestRow04CommandsAreCountedOnce(t *testing.T) {
	t.Parallel()
	op := func(second int64, kind, claim string, o Outcome) Op {
		return Op{Call: time.Unix(second, 0).UnixNano(), Kind: kind, Claim: claim, Outcome: o}
	}
	since := time.Unix(10, 0)
	claims, done := commandsSince([]Op{
		op(11, opClaim, "a", OK), op(12, opSubmit, "a", Unknown), op(13, opSubmit, "a", OK), op(14, opSubmit, "a", OK), op(15, opRelease, "b", OK),
	}, since)
	require.ElementsMatch(t, []string{"a", "a", "b"}, claims)
	require.ElementsMatch(t, []string{"claim", "hand in", "release"}, done)
	claims, done = commandsSince([]Op{
		op(9, opClaim, "a", OK), op(9, opReview, "b", Unknown), op(11, opReview, "b", OK), // sent before
		op(11, opClaim, "", OK), op(11, opDraft, "c", OK), op(11, opPoll, "", OK), // not for Temporal
		op(11, opSubmit, "d", Refused), op(11, opRelease, "e", Unknown), // not acknowledged
	}, since)
	require.Empty(t, claims)
	require.Empty(t, done)
}
