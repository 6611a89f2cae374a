package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Of a hundred who saved a draft, these read it back, and these walk away and leave it:
// nearly all others hand in, which ends their draft, so that nothing would be left of
// it to compare. They are no part of Load, for schedules of before have none of them.
const (
	rereadShare = 33
	leaveShare  = 10
	// draftsAfter is how long a run may be in which none was left.
	draftsAfter = 3 * time.Minute
)

// write saves drafts, and reports whether the author walked away then.
func (p *person) write(ctx context.Context, k *claim, field string, quick bool) (left bool, err error) {
	acked := written{Revision: k.revision()}
	for range 1 + p.rand.IntN(3) {
		values := object{field: p.answer(k)}
		next, err := p.draft(ctx, k, values, acked.Revision)
		if errors.Is(err, errRefused) {
			break // saved already by a call that was cut, or the claim is lost
		}
		if err != nil {
			return false, err
		}
		acked = written{next, values}
	}
	if acked.Values == nil {
		return false, nil
	}
	if p.chance(rereadShare) {
		got, err := p.readDraft(ctx, k)
		switch {
		case err == nil && !acked.stands(got):
			p.run.Violate("I1: %s was told that revision %d of their draft under claim %s is %v, and reads %+v", p.who, acked.Revision, k.ID, acked.Values, got)
		case err != nil && !errors.Is(err, errRefused): // the claim may be lost meanwhile
			return false, err
		}
	}
	return !quick && p.chance(leaveShare), nil
}

// stands reports whether an acknowledged draft is what its author reads after it, or a
// later one is: what they sent before, and gave up, may have come since.
func (w written) stands(got *written) bool {
	return got != nil && (got.Revision > w.Revision || got.Revision == w.Revision && sameValues(got.Values, w.Values))
}

// saved is the last draft of a person on a node that was acknowledged.
type saved struct {
	Op

	values map[string]any
	// sent is what they sent ever, also what came late, which is kept as a draft.
	sent []map[string]any
}

// wrong says what is wrong with the draft that is there, nil for none, "" when nothing
// is.
func (d saved) wrong(there *written) string {
	acked := written{d.Revision, d.values}
	switch {
	case !acked.stands(there):
		return fmt.Sprintf("I1: the draft of %s on node %s of task %d was acknowledged as revision %d with %v, there is %+v",
			d.Who, d.Node, d.Task, d.Revision, d.values, there)
	case there.Revision > d.Revision && !slices.ContainsFunc(d.sent, func(v map[string]any) bool { return sameValues(there.Values, v) }):
		return fmt.Sprintf("I1: the draft of %s on node %s of task %d is revision %d with %v, which they never sent",
			d.Who, d.Node, d.Task, there.Revision, there.Values)
	}
	return ""
}

// savedIn finds the drafts of a history, and revisions that were acknowledged for two
// things.
func savedIn(ops []Op) (last map[string]*saved, twice []string, err error) {
	type revised struct {
		claim    string
		revision int64
	}
	last = map[string]*saved{}            // by author, task and node
	given := map[revised]map[string]any{} // what each revision was acknowledged for
	sent := map[string][]map[string]any{}
	for _, op := range ops {
		if op.Kind != opSubmit && (op.Kind != opDraft || op.Outcome == Refused) {
			continue
		}
		var body struct {
			Values map[string]any `json:"values"`
		}
		if err := json.Unmarshal(op.Content, &body); err != nil {
			return nil, nil, err
		}
		k := fmt.Sprintf("%s\x00%d\x00%s", op.Who, op.Task, op.Node)
		sent[k] = append(sent[k], body.Values)
		if op.Kind != opDraft || op.Outcome != OK {
			continue
		}
		as := revised{op.Claim, op.Revision}
		if other, ok := given[as]; ok && !sameValues(other, body.Values) {
			twice = append(twice, fmt.Sprintf("I1: revision %d of the draft under claim %s was acknowledged for %v and for %v", op.Revision, op.Claim, other, body.Values))
		}
		given[as] = body.Values
		if have := last[k]; have == nil || op.Iteration > have.Iteration || op.Iteration == have.Iteration && op.Revision >= have.Revision {
			last[k] = &saved{Op: op, values: body.Values}
		}
	}
	for k, d := range last {
		d.sent = sent[k]
	}
	return last, twice, nil
}

// checkDrafts is I1 for drafts: an acknowledged revision is there, or a later
// one with what its author sent, unless its author handed in.
func (r *Run) checkDrafts(ctx context.Context) error {
	last, twice, err := savedIn(r.History.Ops())
	if err != nil {
		return err
	}
	for _, wrong := range twice {
		r.Violate("%s", wrong)
	}
	compared := 0
	for _, d := range last {
		var revision *int64
		var values map[string]any
		var handedIn bool
		err := r.Store().Pool().QueryRow(ctx, `SELECT d.revision, coalesce(d.values, '{}'), EXISTS (SELECT 1 FROM submissions s
				WHERE s.task_id = $2 AND s.node_key = $3 AND s.author = u.id AND s.iteration >= $4)
			FROM users u LEFT JOIN drafts d ON d.user_id = u.id AND d.task_id = $2 AND d.node_key = $3 WHERE u.email = $1`,
			d.Who, d.Task, d.Node, d.Iteration).Scan(&revision, &values, &handedIn)
		if err != nil {
			return err
		}
		if handedIn {
			continue
		}
		compared++
		var there *written
		if revision != nil {
			there = &written{*revision, values}
		}
		if wrong := d.wrong(there); wrong != "" {
			r.Violate("%s", wrong)
		}
	}
	r.Logf("%d drafts were compared; the authors of %d others handed in", compared, len(last)-compared)
	return enoughDrafts(compared, time.Since(r.began))
}

// enoughDrafts is an error when a run compared none and had time for some.
func enoughDrafts(compared int, took time.Duration) error {
	if compared == 0 && took >= draftsAfter {
		return fmt.Errorf("invalid run: no draft was left to compare in %s", took.Round(time.Second))
	}
	return nil
}

func TestDraftsAreCompared(t *testing.T) {
	t.Parallel()
	save := func(values string, revision int64, round int, o Outcome) Op {
		return Op{
			Who: "ada", Kind: opDraft, Claim: fmt.Sprint("claim ", round), Task: 1, Node: nodeSolve, Iteration: round,
			Outcome: o, Revision: revision, Content: json.RawMessage(fmt.Sprintf(`{"values":{"answer":%q}}`, values)),
		}
	}
	late := save("late", 0, 1, Refused)
	late.Kind = opSubmit
	draft := func(revision int64, values string) *written { return &written{revision, object{"answer": values}} }
	for name, c := range map[string]struct {
		ops   []Op
		there *written
		right bool
	}{
		"as it was saved":             {[]Op{save("a", 1, 1, OK), save("b", 2, 1, OK)}, draft(2, "b"), true},
		"the one before":              {[]Op{save("a", 1, 1, OK), save("b", 2, 1, OK)}, draft(1, "a"), false},
		"something else":              {[]Op{save("a", 1, 1, OK), save("b", 2, 1, OK)}, draft(2, "a"), false},
		"gone":                        {[]Op{save("a", 1, 1, OK)}, nil, false},
		"one of unknown outcome":      {[]Op{save("a", 1, 1, OK), save("b", 0, 1, Unknown)}, draft(2, "b"), true},
		"one that was refused":        {[]Op{save("a", 1, 1, OK), save("b", 0, 1, Refused)}, draft(2, "b"), false},
		"what was handed in too late": {[]Op{save("a", 1, 1, OK), late}, draft(2, "late"), true},
		"what nobody sent":            {[]Op{save("a", 1, 1, OK)}, draft(2, "c"), false},
		"that of the later round":     {[]Op{save("a", 5, 1, OK), save("b", 1, 2, OK)}, draft(1, "b"), true},
	} {
		last, twice, err := savedIn(c.ops)
		require.NoError(t, err, name)
		require.Empty(t, twice, name)
		require.Len(t, last, 1, name)
		for _, d := range last {
			require.Equal(t, c.right, d.wrong(c.there) == "", "%s: %s", name, d.wrong(c.there))
		}
	}
	_, twice, err := savedIn([]Op{save("a", 1, 1, OK), save("b", 1, 1, OK)})
	require.NoError(t, err)
	require.Len(t, twice, 1)
	require.Error(t, enoughDrafts(0, draftsAfter))
	require.NoError(t, enoughDrafts(1, draftsAfter))
	require.NoError(t, enoughDrafts(0, draftsAfter/2))
}

func TestADraftIsReadBack(t *testing.T) {
	t.Parallel()
	acked := written{2, object{"answer": "b"}}
	require.True(t, acked.stands(&written{2, object{"answer": "b"}}))
	require.True(t, acked.stands(&written{3, object{"answer": "c"}}), "what came late")
	require.False(t, acked.stands(&written{2, object{"answer": "a"}}))
	require.False(t, acked.stands(&written{1, object{"answer": "b"}}))
	require.False(t, acked.stands(nil))
}
