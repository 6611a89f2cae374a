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

// createdTask is a task of the load, as the database has it.
type createdTask struct {
	ID       int64
	Org      int64
	Question string
}

// checkCreates is I1 and I5: each acknowledged create is there once with its
// content, what was refused left nothing, and nothing else is there. Tenants that a
// row made for itself count by themselves.
func (r *Run) checkCreates(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT id, org_id, input->>'question' FROM tasks WHERE org_id = ANY($1)`, ids(r.World.all()))
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[createdTask])
	if err != nil {
		return err
	}
	orgs := map[string]int64{}
	for _, o := range r.World.all() {
		orgs[o.Mark] = o.ID
	}
	sent, err := createsIn(r.History.Ops())
	if err != nil {
		return err
	}
	for _, wrong := range sent.against(list, orgs) {
		r.Violate("%s", wrong)
	}
	r.Logf("%d creations were acknowledged, %d were refused for good, %d may have happened", len(sent.acked), len(sent.refused), len(sent.open))
	return nil
}

// creates are those of a history, by tenant and key.
type creates struct {
	acked map[string]created
	// again are ids that were told for a key when others had been told before.
	again []string
	// open may have happened: they were never acknowledged, because the run ended.
	open map[string][]string
	// refused are those each of whose tries was clearly refused: none is there.
	refused map[string][]string
}

// created is what a create asked for, and what it was told.
type created struct {
	org       string
	questions []string
	tasks     []int64
}

func createsIn(ops []Op) (creates, error) {
	c := creates{acked: map[string]created{}, open: map[string][]string{}, refused: map[string][]string{}}
	for _, op := range ops {
		if op.Kind != opCreate {
			continue
		}
		key := op.Org + " " + op.Key
		questions, err := sentQuestions(op)
		if err != nil {
			return c, err
		}
		switch {
		case op.Outcome == OK:
			if first, again := c.acked[key]; again && !slices.Equal(first.tasks, op.Tasks) {
				c.again = append(c.again, fmt.Sprintf("I5: create %s was acknowledged as %v and as %v", key, first.tasks, op.Tasks))
			}
			c.acked[key] = created{op.Org, questions, op.Tasks}
		case op.Outcome == Refused && op.Status != http.StatusTooManyRequests:
			c.refused[key] = questions
		default: // who is told to come again may have been at it
			c.open[key] = questions
		}
	}
	for key := range c.acked {
		delete(c.open, key)
		delete(c.refused, key)
	}
	for key := range c.open { // a try that was still at it when the next one was refused
		delete(c.refused, key)
	}
	return c, nil
}

// against compares creates with the tasks that are there.
func (c creates) against(list []createdTask, orgs map[string]int64) (wrong []string) {
	wrong = slices.Clone(c.again)
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	there, acked := map[int64]createdTask{}, map[int64]string{}
	for _, t := range list {
		there[t.ID] = t
	}
	for _, key := range slices.Sorted(maps.Keys(c.acked)) {
		of := c.acked[key]
		if len(of.questions) != len(of.tasks) {
			tell("I1: create %s of %d tasks was acknowledged with the ids %v", key, len(of.questions), of.tasks)
			continue
		}
		for i, id := range of.tasks {
			if other, twice := acked[id]; twice {
				tell("I5: task %d was acknowledged to create %s and to create %s", id, other, key)
			}
			acked[id] = key
			t, ok := there[id]
			switch {
			case !ok:
				tell("I1: task %d, acknowledged to create %s, is not there", id, key)
			case t.Question != of.questions[i] || t.Org != orgs[of.org]:
				tell("I1: task %d was created as %q and is %q of organization %d", id, of.questions[i], t.Question, t.Org)
			}
		}
	}
	open, refused := map[string]int{}, map[string]string{} // by question
	for _, questions := range c.open {
		for _, q := range questions {
			open[q]++ // once, if at all
		}
	}
	for key, questions := range c.refused {
		for _, q := range questions {
			refused[q] = key
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		q := there[id].Question
		if _, ok := acked[id]; ok {
			continue
		}
		if open[q]--; open[q] >= 0 {
			continue
		}
		if key, ok := refused[q]; ok {
			tell("I1: task %d (%q) is there, and create %s was refused", id, q, key)
			continue
		}
		tell("I5: task %d (%q) is there and was acknowledged to nobody", id, q)
	}
	return wrong
}

// sentQuestions are those of the tasks that a create asked for.
func sentQuestions(op Op) ([]string, error) {
	var sent struct {
		Tasks []struct {
			Fields struct {
				Question string `json:"question"`
			} `json:"fields"`
		} `json:"tasks"`
	}
	err := json.Unmarshal(op.Content, &sent)
	out := make([]string, len(sent.Tasks))
	for i, t := range sent.Tasks {
		out[i] = t.Fields.Question
	}
	return out, err
}

func TestCreatesAreCompared(t *testing.T) {
	t.Parallel()
	op := func(key string, o Outcome, status int, tasks ...int64) Op {
		return Op{
			Kind: opCreate, Org: "qalpha", Key: key, Outcome: o, Status: status, Tasks: tasks,
			Content: json.RawMessage(fmt.Sprintf(`{"tasks":[{"fields":{"question":"q%s"}}]}`, key)),
		}
	}
	task := func(id int64, key string) createdTask { return createdTask{id, 1, "q" + key} }
	for name, c := range map[string]struct {
		ops   []Op
		there []createdTask
		wrong []string // how they begin
	}{
		"acknowledged":              {[]Op{op("a", Unknown, 0), op("a", OK, 200, 7)}, []createdTask{task(7, "a")}, nil},
		"acknowledged and lost":     {[]Op{op("a", OK, 200, 7)}, nil, []string{"I1: task 7"}},
		"twice":                     {[]Op{op("a", Unknown, 0), op("a", OK, 200, 7)}, []createdTask{task(7, "a"), task(8, "a")}, []string{"I5: task 8"}},
		"told otherwise":            {[]Op{op("a", OK, 200, 7), op("a", OK, 200, 8)}, []createdTask{task(7, "a"), task(8, "a")}, []string{"I5: create", "I5: task 7"}},
		"may have happened":         {[]Op{op("a", Unknown, 0)}, []createdTask{task(7, "a")}, nil},
		"may have happened, once":   {[]Op{op("a", Unknown, 0)}, []createdTask{task(7, "a"), task(8, "a")}, []string{"I5: task 8"}},
		"may not have happened":     {[]Op{op("a", Unknown, 503)}, nil, nil},
		"refused":                   {[]Op{op("a", Refused, 422)}, nil, nil},
		"refused and there":         {[]Op{op("a", Refused, 422)}, []createdTask{task(7, "a")}, []string{"I1: task 7"}},
		"refused twice and there":   {[]Op{op("a", Refused, 404), op("a", Refused, 413)}, []createdTask{task(7, "a")}, []string{"I1: task 7"}},
		"refused while it was done": {[]Op{op("a", Unknown, 0), op("a", Refused, 409)}, []createdTask{task(7, "a")}, nil},
		"come again, and there":     {[]Op{op("a", Refused, 429)}, []createdTask{task(7, "a")}, nil},
		"nobody's":                  {nil, []createdTask{task(7, "a")}, []string{"I5: task 7"}},
	} {
		sent, err := createsIn(c.ops)
		require.NoError(t, err, name)
		wrong := sent.against(c.there, map[string]int64{"qalpha": 1})
		require.Len(t, wrong, len(c.wrong), "%s: %v", name, wrong)
		for i, begins := range c.wrong {
			require.Contains(t, wrong[i], begins, name)
		}
	}
}
