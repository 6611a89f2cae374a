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
		var out struct {
			Done   []int64 `json:"done"`
			Failed []struct {
				Message string `json:"message"`
			} `json:"failed"`
		}
		q.path, q.in, q.out = a.pipeline("/tasks/bulk"), object{"action": verb, "task_ids": []int64{id}}, &out
		q.note = func(op *Op) {
			if len(out.Done) == 0 {
				op.Outcome, op.Status = Refused, http.StatusConflict
				if len(out.Failed) == 1 && strings.HasSuffix(out.Failed[0].Message, " not found") {
					op.Status, op.Error = http.StatusNotFound, out.Failed[0].Message
				}
			}
		}
	}
	_, err := a.do(ctx, q)
	return err
}

// putBackLooks is how many nodes an admin tries to find a claim on: most are free.
const putBackLooks = 8

// putBack ends the claim that somebody has on a node of one of the newest tasks.
func (a *admin) putBack(ctx context.Context) error {
	for range putBackLooks {
		id, ok := a.org.newest(a.rand, a.run.Load.Backlog)
		if !ok {
			return nil
		}
		node := []string{nodeSolve, nodeTag, nodeMore, nodeCheck}[a.rand.IntN(4)]
		_, err := a.do(ctx, request{
			Op: Op{Kind: opPutBack, Task: id, Node: node}, method: http.MethodPost,
			path: fmt.Sprintf("/api/console/tasks/%d/nodes/%s/release", id, node), refusals: []int{http.StatusConflict},
		})
		if !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil // nobody has one
}

// putBacks are the claims that admins ended, from the journal, as calls that may end
// their claim at any time from then on. Each that was acknowledged has ended one, and
// nobody has ended one that no admin asked for.
func (r *Run) putBacks(ctx context.Context, ops []Op) ([]Op, error) {
	type asked struct {
		task int64
		node string
	}
	acked, tried, ended := map[asked]int{}, map[asked]int{}, map[asked]int{}
	for _, op := range ops {
		if op.Kind != opPutBack || op.Outcome == Refused {
			continue
		}
		tried[asked{op.Task, op.Node}]++
		if op.Outcome == OK {
			acked[asked{op.Task, op.Node}]++
		}
	}
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.claim_id::text, e.task_id, e.node_key, e.iteration, u.email, e.created_at, e.created_at
		FROM task_events e JOIN users u ON u.id = e.actor WHERE e.kind = 'release' AND starts_with(u.email, 'admin@') ORDER BY e.created_at`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[given])
	if err != nil {
		return nil, err
	}
	out := make([]Op, len(list))
	for i, g := range list {
		ended[asked{g.Task, g.Node}]++
		out[i] = g.endedFrom(g.At)
	}
	for k, n := range ended {
		if n > tried[k] {
			r.Violate("I3: %d claims on node %s of task %d were ended by an admin, who asked for it %d times", n, k.node, k.task, tried[k])
		}
	}
	for k, n := range acked {
		if n > ended[k] {
			r.Violate("I3: an admin was told %d times that they ended a claim on node %s of task %d, the journal has %d", n, k.node, k.task, ended[k])
		}
	}
	r.Logf("%d claims were ended by admins, who were told so for %d nodes", len(list), len(acked))
	return out, nil
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
