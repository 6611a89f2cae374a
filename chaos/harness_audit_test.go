package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// audited are the acts of admins, by what the audit log calls them.
var audited = map[string]string{
	opPriority: "task.priority", opNewKey: "key.create", opExpiry: "key.expire", opRevoke: "key.revoke",
	opPublish: "pipeline.publish", opPause: "pipeline.pause", opResume: "pipeline.resume",
	opNewProject: "project.create", opRename: "project.rename",
	opNewPipeline: pipelineCreate, opCopy: pipelineCreate, opImport: pipelineCreate, opRestore: "pipeline.restore",
	opClose: "pipeline.complete", opReopen: "pipeline.reopen", opArchive: "pipeline.archive", opUnarchive: "pipeline.unarchive",
	opInvite: "invite.create", opUninvite: "invite.revoke",
}

// pipelineCreate is what the audit log calls each way to make a pipeline.
const pipelineCreate = "pipeline.create"

// act is an act in one organization, by its mark, as the audit log calls it, and on one
// task: a row that is missing must not hide behind a try on another task that left one.
// Of keys and whatever else admins make the number is told for all together, as 0:
// whoever gets no answer does not know its number.
type act struct {
	org, action string
	task        int64
}

// rowsLeft is how many rows there must be of an act, and how many there may be.
type rowsLeft struct{ least, most int }

// checkAudit is I12 as admins saw it: what they were told that they did has left
// its rows in the audit log, under their name, and there are no others of theirs. What is
// published in a project of their own is not counted among what the load's pipeline is.
func (r *Run) checkAudit(ctx context.Context) error {
	left, err := rowsOf(r.History.Ops())
	if err != nil {
		return err
	}
	for _, o := range r.World.Orgs {
		for _, action := range slices.Compact(slices.Sorted(maps.Values(audited))) {
			there := map[act]int{}
			rows, _ := r.Store().Pool().Query(ctx, `SELECT CASE WHEN $2 = 'task.priority' THEN split_part(a.object, '/', 2)::bigint ELSE 0 END, count(*)
				FROM audit_log a JOIN users u ON u.id = a.actor WHERE a.org_id = $1 AND a.action = $2 AND u.email = $3
					AND (a.action <> 'pipeline.publish' OR a.object = 'pipeline/' || $4::bigint) GROUP BY 1`,
				o.ID, action, "admin@"+o.Mark+".test", o.Pipeline)
			var task int64
			var n, all int
			if _, err := pgx.ForEachRow(rows, []any{&task, &n}, func() error {
				there[act{o.Mark, action, task}] = n
				all += n
				return nil
			}); err != nil {
				return err
			}
			for of := range joined(left, there) {
				want, have := left[of], there[of]
				if of.org == o.Mark && of.action == action && (have < want.least || have > want.most) {
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
// there is a row of it; and so there is of what an earlier try made under the name that
// is taken now. An invite that is revoked may have lost its place to a late try of its
// own making: then its end has no row but that one's.
func rowsOf(ops []Op) (map[act]rowsLeft, error) {
	rows := map[act]rowsLeft{}
	priorities := map[int64]int{} // of tasks, as last acknowledged; 0 is what they begin with
	for _, op := range ops {
		of := act{op.Org, audited[op.Kind], 0}
		switch {
		case of.action == "":
			continue
		case op.Kind == opPriority:
			if err := rowsOfPriorities(rows, priorities, op); err != nil {
				return nil, err
			}
			continue
		}
		n := rows[of]
		if op.Outcome != Refused {
			n.most++
		}
		if op.Outcome == OK && op.Kind != opUninvite || op.foundItsName() {
			n.least++
		}
		rows[of] = n
	}
	return rows, nil
}

// foundItsName tells a call that was to make something under a name that nobody else
// gives, and was refused because something has it.
func (op Op) foundItsName() bool {
	return op.Outcome == Refused && op.Status == http.StatusConflict && slices.Contains([]string{opNewKey, opNewProject, opNewPipeline}, op.Kind)
}

// rowsOfPriorities adds the rows of one try. A priority that a task has already is set
// without one: of those that were acknowledged only those count that differ from the
// last. Tries of unknown outcome in between can only add changes, never save one. Of a
// task that is over nothing is set.
func rowsOfPriorities(rows map[act]rowsLeft, last map[int64]int, op Op) error {
	if op.Outcome == Refused {
		return nil
	}
	var sent struct {
		Priority int     `json:"priority"`
		Tasks    []int64 `json:"task_ids"`
	}
	if err := json.Unmarshal(op.Content, &sent); err != nil {
		return fmt.Errorf("read what %s sent: %w", op.Who, err)
	}
	for _, task := range sent.Tasks {
		of := act{op.Org, audited[opPriority], task}
		n := rows[of]
		switch {
		case op.Outcome == Unknown || slices.Contains(op.Left, task):
			n.most++
		case slices.Contains(op.Tasks, task):
			n.most++
			if sent.Priority != last[task] {
				n.least++
			}
			last[task] = sent.Priority
		}
		rows[of] = n
	}
	return nil
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
		return Op{
			Org: "a", Kind: opPriority, Outcome: o, Tasks: done,
			Content: json.RawMessage(fmt.Sprintf(`{"priority":%d,"task_ids":[%d]}`, priority, task)),
		}
	}
	both := func(o Outcome, done, left []int64) Op { // of tasks 1 and 2
		return Op{
			Org: "a", Kind: opPriority, Outcome: o, Tasks: done, Left: left,
			Content: json.RawMessage(`{"priority":5,"task_ids":[2,1]}`),
		}
	}
	key := func(kind string, o Outcome) Op { return Op{Org: "a", Kind: kind, Outcome: o} }
	taken := func(kind string) Op { return Op{Org: "a", Kind: kind, Outcome: Refused, Status: http.StatusConflict} }
	for name, c := range map[string]struct {
		ops  []Op
		kind string
		want rowsLeft // on task 1, or on keys
	}{
		"two tasks":               {[]Op{set(1, 5, OK, 1), set(2, 5, OK, 2)}, opPriority, rowsLeft{1, 1}},
		"another's unknown":       {[]Op{set(1, 5, OK, 1), set(2, 5, Unknown)}, opPriority, rowsLeft{1, 1}},
		"as it was":               {[]Op{set(1, 0, OK, 1), set(1, 5, OK, 1), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 3}},
		"of a task that is over":  {[]Op{set(1, 5, OK)}, opPriority, rowsLeft{}},
		"sent again":              {[]Op{set(1, 5, Unknown), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 2}},
		"over when sent again":    {[]Op{set(1, 5, Unknown), set(1, 5, OK)}, opPriority, rowsLeft{0, 1}},
		"to and fro":              {[]Op{set(1, 5, OK, 1), set(1, 7, Unknown), set(1, 5, OK, 1)}, opPriority, rowsLeft{1, 3}},
		"refused":                 {[]Op{set(1, 5, Refused)}, opPriority, rowsLeft{}},
		"many at once":            {[]Op{both(OK, []int64{2, 1}, nil)}, opPriority, rowsLeft{1, 1}},
		"the other is over":       {[]Op{both(OK, []int64{1}, nil)}, opPriority, rowsLeft{1, 1}},
		"left over":               {[]Op{both(OK, []int64{2}, []int64{1})}, opPriority, rowsLeft{0, 1}},
		"many, without an answer": {[]Op{both(Unknown, nil, nil)}, opPriority, rowsLeft{0, 1}},
		"keys":                    {[]Op{key(opNewKey, OK), key(opNewKey, Unknown), key(opNewKey, Refused)}, opNewKey, rowsLeft{1, 2}},
		"revoked keys":            {[]Op{key(opRevoke, Unknown), key(opRevoke, OK), key(opRevoke, OK)}, opRevoke, rowsLeft{2, 3}},
		"an earlier try made it":  {[]Op{key(opNewKey, Unknown), taken(opNewKey)}, opNewKey, rowsLeft{1, 1}},
		"somebody made it":        {[]Op{taken(opNewProject)}, opNewProject, rowsLeft{1, 0}},
		"of other acts":           {[]Op{key(opArchive, Unknown), taken(opArchive)}, opArchive, rowsLeft{0, 1}},
		"each way to make one":    {[]Op{key(opCopy, OK), key(opImport, OK), key(opNewPipeline, Unknown)}, opCopy, rowsLeft{2, 3}},
		"revoked invites":         {[]Op{key(opInvite, OK), key(opUninvite, OK)}, opUninvite, rowsLeft{0, 1}},
		"what others do":          {[]Op{key(opSubmit, OK), {Org: "b", Kind: opNewKey, Outcome: OK}}, opNewKey, rowsLeft{}},
	} {
		rows, err := rowsOf(c.ops)
		require.NoError(t, err, name)
		of := act{"a", audited[c.kind], 0}
		if c.kind == opPriority {
			of.task = 1
		}
		require.Equal(t, c.want, rows[of], name)
	}
	_, err := rowsOf([]Op{{Kind: opPriority, Outcome: OK, Tasks: []int64{1}, Content: json.RawMessage("no JSON")}})
	require.Error(t, err)
}
