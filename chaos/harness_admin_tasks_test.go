package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// heldFor is how long an admin holds a task at most.
const heldFor = time.Second

// hold keeps one of the newest tasks from everybody for a while, and lets one go on
// that was held before: a call that was given up, because a process stood still, may
// hold it once more.
func (a *admin) hold(ctx context.Context) error {
	id, ok := a.org.newest(a.rand, a.run.Load.Backlog)
	if !ok {
		return nil
	}
	switch err := a.onTask(ctx, opHold, id); {
	case errors.Is(err, errRefused): // it is over
	case err != nil:
		return err
	default:
		a.held = append(a.held, id)
		if err := wait(ctx, time.Duration(a.rand.Int64N(int64(heldFor)))); err != nil {
			return err
		}
		if err := a.letGo(ctx, len(a.held)-1); err != nil {
			return err
		}
	}
	if len(a.held) == 0 {
		return nil
	}
	return a.letGo(ctx, a.rand.IntN(len(a.held)))
}

// letGo lets the task go on that is there in held, and forgets it when it is over.
func (a *admin) letGo(ctx context.Context, i int) error {
	err := a.onTask(ctx, opUnhold, a.held[i])
	if errors.Is(err, errRefused) {
		a.held = slices.Delete(a.held, i, i+1)
		return nil
	}
	return err
}

// onTask sends what an admin does with a whole task, refused when that is over: at its
// address, or as a bulk action, which tells of a task that it was refused in an answer
// about all.
func (a *admin) onTask(ctx context.Context, verb string, id int64) error {
	q := request{
		Op: Op{Kind: verb, Task: id}, method: http.MethodPost, path: fmt.Sprintf("/api/console/tasks/%d/%s", id, verb),
		refusals: []int{http.StatusConflict},
	}
	if a.chance(30) {
		a.inBulk(&q, verb)
	}
	_, err := a.do(ctx, q)
	return err
}

// inBulk makes what is asked of one task a bulk action.
func (a *admin) inBulk(q *request, verb string) {
	var out struct {
		Done   []int64 `json:"done"`
		Failed []struct {
			Message string `json:"message"`
		} `json:"failed"`
	}
	q.path, q.in, q.out = a.pipeline("/tasks/bulk"), object{"action": verb, "task_ids": []int64{q.Task}}, &out
	q.note = func(op *Op) {
		if len(out.Done) == 0 {
			op.Outcome, op.Status = Refused, http.StatusConflict
			if len(out.Failed) == 1 && strings.HasSuffix(out.Failed[0].Message, " not found") {
				op.Status, op.Error = http.StatusNotFound, out.Failed[0].Message
			}
		}
	}
}

// putBackLooks is how many nodes an admin tries to find a claim on: most are free.
const putBackLooks = 8

// putBack ends the claim that somebody has on a node of one of the newest tasks, or, as a
// bulk action, whatever claims are on the task.
func (a *admin) putBack(ctx context.Context) error {
	for range putBackLooks {
		id, ok := a.org.newest(a.rand, a.run.Load.Backlog)
		if !ok {
			return nil
		}
		node := []string{nodeSolve, nodeTag, nodeMore, nodeCheck}[a.rand.IntN(4)]
		q := request{
			Op: Op{Kind: opPutBack, Task: id, Node: node}, method: http.MethodPost,
			path: fmt.Sprintf("/api/console/tasks/%d/nodes/%s/release", id, node), refusals: []int{http.StatusConflict},
		}
		if a.chance(30) {
			q.Node = ""
			a.inBulk(&q, "release")
		}
		_, err := a.do(ctx, q)
		if !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil // nobody has one
}

// putBacks are the claims that admins ended, from the journal, as calls that may end
// their claim at any time from then on.
func (r *Run) putBacks(ctx context.Context, ops []Op) ([]Op, error) {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.claim_id::text, e.task_id, e.node_key, e.iteration, u.email, e.created_at, e.created_at
		FROM task_events e JOIN users u ON u.id = e.actor WHERE e.kind = 'release' AND starts_with(u.email, 'admin@') ORDER BY e.created_at`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[given])
	if err != nil {
		return nil, err
	}
	out, ended := make([]Op, len(list)), map[place]int{}
	for i, g := range list {
		ended[place{g.Task, g.Node}]++
		out[i] = g.endedFrom(g.At)
	}
	for _, wrong := range wrongPutBacks(ops, ended) {
		r.Violate("I3: %s", wrong)
	}
	r.Logf("%d claims were ended by admins, on %d nodes", len(list), len(ended))
	return out, nil
}

// wrongPutBacks compares the claims that admins asked to end with those that the journal
// says they ended. Each that was acknowledged has ended one on its node, each bulk action
// one or more on its task; and nobody has ended one that no admin asked for.
func wrongPutBacks(ops []Op, ended map[place]int) (wrong []string) {
	acked, tried := map[place]int{}, map[place]int{} // bulk actions are on node ""
	least, there := map[int64]int{}, map[int64]int{} // by task
	for _, op := range ops {
		if op.Kind != opPutBack || op.Outcome == Refused {
			continue
		}
		tried[place{op.Task, op.Node}]++
		if op.Outcome == OK {
			acked[place{op.Task, op.Node}]++
			least[op.Task]++
		}
	}
	for k, n := range ended {
		there[k.task] += n
		if most := tried[k] + tried[place{task: k.task}]; n > most {
			wrong = append(wrong, fmt.Sprintf("%d claims on node %s of task %d were ended by an admin, who asked for it %d times", n, k.node, k.task, most))
		}
	}
	for k, n := range acked {
		if k.node != "" && n > ended[k] {
			wrong = append(wrong, fmt.Sprintf("an admin was told %d times that they ended a claim on node %s of task %d, the journal has %d", n, k.node, k.task, ended[k]))
		}
	}
	for id, n := range least {
		if n > there[id] {
			wrong = append(wrong, fmt.Sprintf("an admin was told %d times that they ended claims on task %d, the journal has %d", n, id, there[id]))
		}
	}
	return wrong
}

// period is a time in which a task was held for certain, both ends in Unix time,
// nanoseconds.
type period struct{ from, to int64 }

// wish is what somebody wants done, with all the tries that it takes.
type wish struct {
	who    string
	intent int64
}

// holds are the periods in which tasks were held for certain: from when the hold was
// acknowledged until somebody first asked for its end. What was never ended is no
// period; neither is what comes after an end of unknown outcome, which may come late.
func holds(ops []Op) map[int64][]period {
	since := map[int64]int64{} // by task
	asked, doubtful := map[wish]bool{}, map[int64]bool{}
	out := map[int64][]period{}
	for _, op := range ops {
		switch {
		case op.Kind == opHold && op.Outcome == OK && !doubtful[op.Task]:
			since[op.Task] = op.Return
		case op.Kind == opUnhold && !asked[wish{op.Who, op.Intent}]:
			asked[wish{op.Who, op.Intent}] = true
			if from, held := since[op.Task]; held {
				out[op.Task] = append(out[op.Task], period{from, op.Call})
				delete(since, op.Task)
			}
		}
		doubtful[op.Task] = doubtful[op.Task] || op.Kind == opUnhold && op.Outcome == Unknown
	}
	return out
}

// That a bulk action was not done on its one task is no acknowledgement, whatever the
// status of the answer.
func TestABulkActionThatIsRefusedIsNotDone(t *testing.T) {
	t.Parallel()
	var single, bulk atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/tasks/bulk") {
			bulk.Add(1)
			_, _ = io.WriteString(w, `{"done":[],"failed":[{"task_id":7,"message":"it is over"}],"left":[]}`)
			return
		}
		single.Add(1)
		w.WriteHeader(http.StatusConflict)
	}))
	t.Cleanup(server.Close)
	r := &Run{World: newWorld(DefaultLoad(1)), History: newHistory(), t: t, front: []string{server.URL}}
	a := &admin{client: r.client(r.World.Orgs[0], "admin", "", 1)}
	for range 100 {
		require.ErrorIs(t, a.onTask(t.Context(), opFail, 7), errRefused)
	}
	require.Positive(t, single.Load())
	require.Positive(t, bulk.Load())
	require.Equal(t, int64(100), r.History.Count(Refused))
	require.Empty(t, r.Violations())
}

func TestWhatAdminsPutBackIsCompared(t *testing.T) {
	t.Parallel()
	op := func(node string, o Outcome) Op { return Op{Kind: opPutBack, Task: 7, Node: node, Outcome: o} }
	solve, tag := place{7, nodeSolve}, place{7, nodeTag}
	for name, c := range map[string]struct {
		ops   []Op
		ended map[place]int
		wrong int
	}{
		"told, and it is so":         {[]Op{op(nodeSolve, OK)}, map[place]int{solve: 1}, 0},
		"told, and nothing ended":    {[]Op{op(nodeSolve, OK)}, nil, 2}, // of the node, and of the task
		"told, and another ended":    {[]Op{op(nodeSolve, OK)}, map[place]int{tag: 1}, 2},
		"never told":                 {[]Op{op(nodeSolve, Unknown)}, map[place]int{solve: 1}, 0},
		"refused, and done":          {[]Op{op(nodeSolve, Refused)}, map[place]int{solve: 1}, 1},
		"twice for one try":          {[]Op{op(nodeSolve, OK)}, map[place]int{solve: 2}, 1},
		"both, in bulk":              {[]Op{op("", OK)}, map[place]int{solve: 1, tag: 1}, 0},
		"in bulk, and nothing ended": {[]Op{op("", OK)}, nil, 1},
		"in bulk, never told":        {[]Op{op("", Unknown)}, nil, 0},
		"one for two that were told": {[]Op{op("", OK), op(nodeSolve, OK)}, map[place]int{solve: 1}, 1},
		"twice for one in bulk":      {[]Op{op("", OK)}, map[place]int{solve: 2}, 1},
		"nobody's":                   {nil, map[place]int{solve: 1}, 1},
		"on another task":            {[]Op{op("", OK)}, map[place]int{{8, nodeSolve}: 1}, 2},
	} {
		require.Len(t, wrongPutBacks(c.ops, c.ended), c.wrong, name)
	}
}

func TestAClaimDuringAHold(t *testing.T) {
	t.Parallel()
	hold := period{from: 10, to: 20}
	told := heardOf([]Op{
		{Kind: opClaim, Claim: "in time", Outcome: OK, Return: 19},
		{Kind: opClaim, Claim: "in time", Outcome: OK, Return: 40}, // asked once more
		{Kind: opClaim, Claim: "perhaps after", Outcome: OK, Return: 21},
		{Kind: opClaim, Claim: "never told", Outcome: Unknown, Return: 30},
	})
	for _, c := range []struct {
		claim string
		at    int64
		want  bool
	}{
		{"in time", 11, true}, {"in time", 9, false}, // before it
		{"perhaps after", 11, false}, {"never told", 11, true}, {"never told", 21, false},
	} {
		require.Equal(t, c.want, given{Claim: c.claim, At: time.Unix(0, c.at)}.within(hold, told), "%v", c)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	op := func(kind string, task, intent, from, to int64, o Outcome) Op {
		return Op{Who: "a", Kind: kind, Task: task, Intent: intent, Call: from, Return: to, Outcome: o}
	}
	require.Equal(t, map[int64][]period{7: {{2, 5}, {22, 25}}, 8: {{2, 5}}}, holds([]Op{
		op(opHold, 7, 1, 1, 2, OK), op(opUnhold, 7, 2, 5, 6, OK), op(opUnhold, 7, 3, 9, 10, OK),
		op(opHold, 7, 4, 20, 21, Unknown), op(opHold, 7, 4, 21, 22, OK), // for certain from 22 on
		op(opUnhold, 7, 5, 25, 26, OK),
		op(opHold, 8, 6, 1, 2, OK), op(opUnhold, 8, 7, 5, 6, Unknown), op(opUnhold, 8, 7, 7, 8, OK), // perhaps over from 5 on
		op(opHold, 8, 8, 20, 21, OK), op(opUnhold, 8, 9, 25, 26, OK), // the one of 5 may come now
		op(opHold, 9, 10, 30, 31, Refused), op(opUnhold, 9, 11, 32, 33, Refused),
		op(opHold, 10, 12, 30, 31, OK),
	}))
}
