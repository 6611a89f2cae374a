package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// resolveRequeue opens a node once more; what else an admin may decide lets the walk go on.
const resolveRequeue = "requeue"

// resolve decides of a node that was escalated. What is left to be escalated by the end
// of a run stays so.
func (a *admin) resolve(ctx context.Context) error {
	if closed(a.refill) {
		return nil
	}
	var waiting struct {
		Nodes []struct {
			Task int64  `json:"task_id"`
			Node string `json:"node"`
		} `json:"nodes"`
	}
	if _, err := a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: a.pipeline("/waiting"), out: &waiting}); err != nil {
		return err
	}
	if len(waiting.Nodes) == 0 {
		return nil
	}
	n := waiting.Nodes[a.rand.IntN(len(waiting.Nodes))]
	outcome := []string{resolveRequeue, "accept", "skip"}[a.rand.IntN(3)]
	q := request{
		Op: Op{Kind: opResolve, Task: n.Task, Node: n.Node}, method: http.MethodPost,
		path: fmt.Sprintf("/api/console/tasks/%d/nodes/%s/resolve", n.Task, n.Node), in: object{"outcome": outcome},
		refusals: []int{http.StatusConflict}, // the first try has
	}
	if outcome == resolveRequeue && a.chance(30) { // of all that is escalated of the task, which is its review
		a.inBulk(&q, resolveRequeue)
	}
	_, err := a.do(ctx, q)
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// decision is what an admin decides of a node; that it is to be decided of is one, too,
// with the outcome opSetAside.
type decision struct {
	Task          int64
	Node, Outcome string
}

// checkResolved is I3 of decisions: each that was acknowledged is in the journal, and no
// other than those that admins asked for. What comes of them is checkEnds' to say.
func (r *Run) checkResolved(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.task_id, e.node_key, e.outcome FROM task_events e
		JOIN tasks t ON t.id = e.task_id WHERE e.kind = 'resolve' AND t.pipeline_id = ANY($1)
		UNION ALL SELECT e.task_id, e.node_key, $2 FROM `+asidesSQL+`
		JOIN tasks t ON t.id = e.task_id WHERE e.kind = 'escalate' AND t.pipeline_id = ANY($1)`, r.loadPipelines(), opSetAside)
	there, err := pgx.CollectRows(rows, pgx.RowToStructByPos[decision])
	if err != nil {
		return err
	}
	wrong, err := wrongDecisions(r.History.Ops(), there)
	for _, w := range wrong {
		r.Violate("I3: %s", w)
	}
	aside := 0
	for _, d := range there {
		if d.Outcome == opSetAside {
			aside++
		}
	}
	r.Logf("admins set %d reviews aside and resolved %d escalations", aside, len(there)-aside)
	return err
}

func wrongDecisions(ops []Op, journal []decision) (wrong []string, err error) {
	acked, tried, there := map[decision]int{}, map[decision]int{}, map[decision]int{}
	for _, op := range ops {
		if op.Kind != opResolve && op.Kind != opSetAside || op.Outcome == Refused {
			continue
		}
		d := decision{op.Task, op.Node, opSetAside}
		if op.Kind == opResolve {
			var sent struct {
				Outcome string `json:"outcome"`
				Action  string `json:"action"` // in bulk
			}
			if err := json.Unmarshal(op.Content, &sent); err != nil {
				return nil, fmt.Errorf("read what %s sent: %w", op.Who, err)
			}
			d.Outcome = cmp.Or(sent.Outcome, sent.Action)
		}
		tried[d]++
		if op.Outcome == OK {
			acked[d]++
		}
	}
	for _, d := range journal {
		there[d]++
	}
	all := maps.Clone(tried)
	maps.Copy(all, there)
	for d := range all {
		if n := there[d]; n < acked[d] || n > tried[d] {
			wrong = append(wrong, fmt.Sprintf("node %s of task %d was decided about (%s) %d times; an admin was told so %d times, and asked %d times",
				d.Node, d.Task, d.Outcome, n, acked[d], tried[d]))
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

func TestDecisionsAreCompared(t *testing.T) {
	t.Parallel()
	op := func(outcome string, o Outcome) Op {
		return Op{Kind: opResolve, Task: 1, Node: nodeCheck, Outcome: o, Content: json.RawMessage(fmt.Sprintf(`{"outcome":%q}`, outcome))}
	}
	skip, requeue, aside := decision{1, nodeCheck, "skip"}, decision{1, nodeCheck, resolveRequeue}, decision{1, nodeCheck, opSetAside}
	setAside := Op{Kind: opSetAside, Task: 1, Node: nodeCheck, Outcome: OK}
	bulk := Op{Kind: opResolve, Task: 1, Node: nodeCheck, Outcome: OK, Content: json.RawMessage(`{"action":"requeue","task_ids":[1]}`)}
	for name, c := range map[string]struct {
		ops   []Op
		there []decision
		right bool
	}{
		"once":            {[]Op{op("skip", OK)}, []decision{skip}, true},
		"sent again":      {[]Op{op("skip", Unknown), op("skip", Refused)}, []decision{skip}, true},
		"not there":       {[]Op{op("skip", OK)}, nil, false},
		"another":         {[]Op{op("accept", OK)}, []decision{skip}, false},
		"twice":           {[]Op{op("skip", OK)}, []decision{skip, skip}, false},
		"nobody's":        {nil, []decision{skip}, false},
		"refused":         {[]Op{op("skip", Refused)}, []decision{skip}, false},
		"may have":        {[]Op{op("skip", Unknown)}, nil, true},
		"in bulk":         {[]Op{bulk}, []decision{requeue}, true},
		"bulk, not there": {[]Op{bulk}, nil, false},
		"set aside":       {[]Op{setAside}, []decision{aside}, true},
		"aside, not so":   {[]Op{setAside}, nil, false},
		"aside by nobody": {nil, []decision{aside}, false},
		"of another task": {[]Op{op("skip", OK)}, []decision{{2, nodeCheck, "skip"}}, false},
	} {
		wrong, err := wrongDecisions(c.ops, c.there)
		require.NoError(t, err, name)
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}
