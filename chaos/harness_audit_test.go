package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// audited are the acts of admins, by what the audit log calls them.
var audited = map[string]string{
	opPriority: "task.priority", opNewKey: "key.create", opRevoke: "key.revoke",
	opPublish: "pipeline.publish", opPause: "pipeline.pause", opResume: "pipeline.resume",
}

// act is a kind of act in one organization, by its mark, and on one task: a row that
// is missing must not hide behind a try on another task that left one. Of keys the
// number is told for all together, as 0: whoever gets no answer does not know its
// number.
type act struct {
	org, kind string
	task      int64
}

// rowsLeft is how many rows there must be of an act, and how many there may be.
type rowsLeft struct{ least, most int }

// checkAudit is I12 as admins saw it: what they were told that they did has left
// its rows in the audit log, under their name, and there are no others of theirs.
func (r *Run) checkAudit(ctx context.Context) error {
	left, err := rowsOf(r.History.Ops())
	if err != nil {
		return err
	}
	for _, o := range r.World.Orgs {
		for kind, action := range audited {
			there := map[act]int{}
			rows, _ := r.Store().Pool().Query(ctx, `SELECT CASE WHEN $2 = 'task.priority' THEN split_part(a.object, '/', 2)::bigint ELSE 0 END, count(*)
				FROM audit_log a JOIN users u ON u.id = a.actor WHERE a.org_id = $1 AND a.action = $2 AND u.email = $3 GROUP BY 1`,
				o.ID, action, "admin@"+o.Mark+".test")
			var task int64
			var n, all int
			if _, err := pgx.ForEachRow(rows, []any{&task, &n}, func() error {
				there[act{o.Mark, kind, task}] = n
				all += n
				return nil
			}); err != nil {
				return err
			}
			for of := range joined(left, there) {
				want, have := left[of], there[of]
				if of.org == o.Mark && of.kind == kind && (have < want.least || have > want.most) {
					r.Violate("I12: the audit log of %s has %d rows %s of its admin on %d, who must have left %d and can have left %d",
						o.Mark, have, action, of.task, want.least, want.most)
				}
			}
			r.Logf("the audit log of %s has %d rows %s of its admin on %d objects", o.Mark, all, action, len(there))
		}
	}
	return nil
}

// rowsOf counts the rows of each act. A try that changes something leaves one, any
// other none. What was acknowledged is done, by that try or by one before it, so
// there is a row of it. But a priority that a task has already is set without one:
// of those that were acknowledged only those count that differ from the last. Tries
// of unknown outcome in between can only add changes, never save one.
func rowsOf(ops []Op) (map[act]rowsLeft, error) {
	rows := map[act]rowsLeft{}
	priorities := map[int64]int{} // of tasks, as last acknowledged; 0 is what they begin with
	for _, op := range ops {
		if audited[op.Kind] == "" || op.Outcome == Refused {
			continue
		}
		changed := op.Outcome == OK
		if changed && op.Kind == opPriority {
			if len(op.Tasks) == 0 { // the task is over
				continue
			}
			var sent struct {
				Priority int `json:"priority"`
			}
			if err := json.Unmarshal(op.Content, &sent); err != nil {
				return nil, fmt.Errorf("read what %s sent: %w", op.Who, err)
			}
			changed = sent.Priority != priorities[op.Task]
			priorities[op.Task] = sent.Priority
		}
		of := act{op.Org, op.Kind, 0}
		if op.Kind == opPriority {
			of.task = op.Task
		}
		n := rows[of]
		n.most++
		if changed {
			n.least++
		}
		rows[of] = n
	}
	return rows, nil
}

// joined are the acts of which there should be rows, and those of which there are.
func joined(want map[act]rowsLeft, have map[act]int) map[act]bool {
	all := map[act]bool{}
	for of := range want {
		all[of] = true
	}
	for of := range have {
		all[of] = true
	}
	return all
}

func TestActsOfAdminsLeaveRows(t *testing.T) {
	t.Parallel()
	set := func(task int64, priority int, o Outcome, done ...int64) Op {
		return Op{Org: "a", Kind: opPriority, Task: task, Outcome: o, Tasks: done, Content: json.RawMessage(fmt.Sprintf(`{"priority":%d}`, priority))}
	}
	key := func(kind string, o Outcome) Op { return Op{Org: "a", Kind: kind, Outcome: o} }
	for name, c := range map[string]struct {
		ops  []Op
		kind string
		want rowsLeft // on task 1, or on keys
	}{
		"two tasks":              {[]Op{set(1, 5, OK, 1), set(2, 5, OK, 2)}, opPriority, rowsLeft{1, 1}},
		"another's unknown":      {[]Op{set(1, 5, OK, 1), set(2, 5, Unknown)}, opPriority, rowsLeft{1, 1}},
		"as it was":              {[]Op{set(1, 0, OK, 1), set(1, 5, OK, 1), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 3}},
		"of a task that is over": {[]Op{set(1, 5, OK)}, opPriority, rowsLeft{}},
		"sent again":             {[]Op{set(1, 5, Unknown), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 2}},
		"over when sent again":   {[]Op{set(1, 5, Unknown), set(1, 5, OK)}, opPriority, rowsLeft{0, 1}},
		"to and fro":             {[]Op{set(1, 5, OK, 1), set(1, 7, Unknown), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 3}},
		"refused":                {[]Op{set(1, 5, Refused)}, opPriority, rowsLeft{}},
		"keys":                   {[]Op{key(opNewKey, OK), key(opNewKey, Unknown), key(opNewKey, Refused)}, opNewKey, rowsLeft{1, 2}},
		"revoked keys":           {[]Op{key(opRevoke, Unknown), key(opRevoke, OK), key(opRevoke, OK)}, opRevoke, rowsLeft{2, 3}},
		"what others do":         {[]Op{key(opSubmit, OK), {Org: "b", Kind: opNewKey, Outcome: OK}}, opNewKey, rowsLeft{}},
	} {
		rows, err := rowsOf(c.ops)
		require.NoError(t, err, name)
		of := act{"a", c.kind, 0}
		if c.kind == opPriority {
			of.task = 1
		}
		require.Equal(t, c.want, rows[of], name)
	}
	_, err := rowsOf([]Op{{Kind: opPriority, Outcome: OK, Tasks: []int64{1}, Content: json.RawMessage("no JSON")}})
	require.Error(t, err)
}
