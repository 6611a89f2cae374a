package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// checkDrafts is I1 for drafts: an acknowledged revision is there, or a later
// one with what its author sent, unless its author handed in.
func (r *Run) checkDrafts(ctx context.Context) error {
	type saved struct {
		Op

		values map[string]any
	}
	type revised struct {
		claim    string
		revision int64
	}
	last := map[string]saved{}            // by author, task and node
	given := map[revised]map[string]any{} // what each revision was acknowledged for
	sent := map[string][]map[string]any{} // also what came late, which is kept as a draft
	for _, op := range r.History.Ops() {
		if op.Kind != opSubmit && (op.Kind != opDraft || op.Outcome == Refused) {
			continue
		}
		var body struct {
			Values map[string]any `json:"values"`
		}
		if err := json.Unmarshal(op.Content, &body); err != nil {
			return err
		}
		k := fmt.Sprintf("%s\x00%d\x00%s", op.Who, op.Task, op.Node)
		sent[k] = append(sent[k], body.Values)
		if op.Kind != opDraft || op.Outcome != OK {
			continue
		}
		as := revised{op.Claim, op.Revision}
		if other, ok := given[as]; ok && !sameValues(other, body.Values) {
			r.Violate("I1: revision %d of the draft under claim %s was acknowledged for %v and for %v", op.Revision, op.Claim, other, body.Values)
		}
		given[as] = body.Values
		if have := last[k]; op.Iteration > have.Iteration || op.Iteration == have.Iteration && op.Revision >= have.Revision {
			last[k] = saved{op, body.Values}
		}
	}
	for k, d := range last {
		var revision int64
		var values map[string]any
		var handedIn bool
		err := r.Store().Pool().QueryRow(ctx, `SELECT coalesce(d.revision, 0), coalesce(d.values, '{}'), EXISTS (SELECT 1 FROM submissions s
				WHERE s.task_id = $2 AND s.node_key = $3 AND s.author = u.id AND s.iteration >= $4)
			FROM users u LEFT JOIN drafts d ON d.user_id = u.id AND d.task_id = $2 AND d.node_key = $3 WHERE u.email = $1`,
			d.Who, d.Task, d.Node, d.Iteration).Scan(&revision, &values, &handedIn)
		switch {
		case err != nil:
			return err
		case handedIn:
		case revision < d.Revision, revision == d.Revision && !sameValues(values, d.values):
			r.Violate("I1: the draft of %s on node %s of task %d was acknowledged as revision %d with %v, there is revision %d with %v",
				d.Who, d.Node, d.Task, d.Revision, d.values, revision, values)
		case revision > d.Revision && !slices.ContainsFunc(sent[k], func(v map[string]any) bool { return sameValues(values, v) }):
			r.Violate("I1: the draft of %s on node %s of task %d is revision %d with %v, which they never sent", d.Who, d.Node, d.Task, revision, values)
		}
	}
	r.Logf("%d drafts were compared", len(last))
	return nil
}
