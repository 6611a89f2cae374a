package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// fail ends one of the newest tasks for good, and the claims that are on it.
func (a *admin) fail(ctx context.Context) error {
	id, ok := a.org.newest(a.rand, a.run.Load.Backlog)
	if !ok {
		return nil
	}
	err := a.onTask(ctx, opFail, id)
	if errors.Is(err, errRefused) {
		return nil // it is over, perhaps by the first try
	}
	return err
}

// failing is what is known of who failed a task.
type failing struct {
	// asked says that somebody may have, told when the first of them was told so, in
	// Unix time, nanoseconds: 0 when nobody was.
	asked bool
	told  int64
}

// fails are tasks that admins failed, by what they were told.
type fails map[int64]failing

func failings(ops []Op) fails {
	out := fails{}
	for _, op := range ops {
		if op.Kind != opFail || op.Outcome == Refused {
			continue
		}
		f := out[op.Task]
		f.asked = true
		if op.Outcome == OK && (f.told == 0 || op.Return < f.told) {
			f.told = op.Return
		}
		out[op.Task] = f
	}
	return out
}

// wrong are claims on tasks that were certainly failed when they were given.
func (f fails) wrong(journal []given, told map[string]int64) (wrong []string) {
	for _, g := range journal {
		if at := f[g.Task].told; at > 0 && g.within(period{at, math.MaxInt64}, told) {
			wrong = append(wrong, fmt.Sprintf("%s was given node %s of task %d at %s, after an admin had failed it", g.Who, g.Node, g.Task, g.At))
		}
	}
	return wrong
}

// checkFails is for tasks that admins failed: nobody does anything on them after that.
// It returns when each failed, by the journal, and their claims, as calls that may end
// them then. Which tasks may be failed in the end is checkEnds' to say.
func (r *Run) checkFails(ctx context.Context, journal []given, ops []Op, told map[string]int64) (failedAt map[int64]time.Time, ended []Op, err error) {
	failedAt = map[int64]time.Time{}
	var id int64
	var at time.Time
	var late int
	rows, _ := r.Store().Pool().Query(ctx, `SELECT f.task_id, f.created_at, (SELECT count(*) FROM task_events e
			WHERE e.task_id = f.task_id AND e.seq > f.seq AND e.kind IN ('claim', 'submit', 'review', 'resolve', 'undo', 'fail'))
		FROM task_events f JOIN tasks t ON t.id = f.task_id WHERE f.kind = 'fail' AND t.pipeline_id = ANY($1)`, r.loadPipelines())
	_, err = pgx.ForEachRow(rows, []any{&id, &at, &late}, func() error {
		failedAt[id] = at
		if late > 0 {
			r.Violate("I4: task %d failed, and has %d events of people after that", id, late)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	of := failings(ops)
	for _, wrong := range of.wrong(journal, told) {
		r.Violate("I2: %s", wrong)
	}
	for _, g := range journal {
		if at, failed := failedAt[g.Task]; failed {
			ended = append(ended, g.endedFrom(at))
		}
	}
	r.Logf("admins failed %d tasks", len(failedAt))
	return failedAt, ended, nil
}

func TestFailsAreCompared(t *testing.T) {
	t.Parallel()
	op := func(task, from, to int64, o Outcome) Op {
		return Op{Kind: opFail, Task: task, Call: from, Return: to, Outcome: o}
	}
	of := failings([]Op{
		op(7, 1, 2, Unknown), op(7, 3, 5, OK), op(7, 6, 7, OK), op(8, 1, 2, Unknown), op(8, 3, 4, Refused), op(9, 1, 2, Refused),
	})
	require.Equal(t, fails{7: {asked: true, told: 5}, 8: {asked: true}}, of)
	claim := func(task, at int64) []given {
		return []given{{Claim: "c", Who: "w", Node: nodeTag, Task: task, At: time.Unix(0, at)}}
	}
	require.Empty(t, of.wrong(claim(7, 5), nil))
	require.Len(t, of.wrong(claim(7, 6), nil), 1)
	require.Len(t, of.wrong(claim(7, 6), map[string]int64{"c": 8}), 1)
	require.Empty(t, of.wrong(claim(8, 6), nil))
	require.Empty(t, of.wrong(claim(10, 6), nil))
}
