package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// decider is fork with the review deciding the way, and another one, again, beside it, which
// may correct what the way hangs on.
func decider() pipeline.Definition {
	d := fork()
	again := d.Nodes[2]
	again.Key, again.Reviews = "again", []pipeline.Target{{Node: "solve"}}
	d.Nodes = append(d.Nodes, again)
	d.Edges[2].From, d.Edges[3].From = "check", "check"
	d.Edges[4] = pipeline.Edge{From: "solve", To: "again"}
	d.Edges = append(d.Edges, pipeline.Edge{From: "again", To: "end"})
	return d
}

// Where a review decides the way on, another one beside it corrects what the way hangs on
// until it has decided; and again once what they look at was sent back, for then nobody has.
func TestACorrectionLeadsATaskWhoseWayIsOpenAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(decider()))
	ctx, id := t.Context(), b.create(1)[0]
	ada, rita, rob := b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	approve := store.Verdict{Verdict: store.VerdictApprove}
	unsure := store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"sure":false,"doubt":"all"}`)}

	b.submitted(ada, id, "solve", answer42)
	b.judged(rita, id, "check", approve)
	require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))
	rc, err := b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
	require.NoError(t, err)
	_, err = b.Store.Review(ctx, rob, rc.ID, unsure)
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	require.ErrorContains(t, err, "decides where the task goes")
	_, err = b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	b.settle(id)

	b.submitted(ada, id, "solve", answer42)
	require.Equal(t, task.NodeAvailable, b.statusOf(id, "check"), "it has not decided in this round")
	b.judged(rob, id, "again", unsure)
	b.judged(rita, id, "check", approve)
	require.Equal(t, task.NodeAvailable, b.statusOf(id, "right"))
	require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
	b.checked()
}

// Two verdicts may be judged before either is written. The later one is judged anew then,
// so that the way that is taken and the answer that it hangs on say the same.
func TestVerdictsThatComeAtOnceAgreeOnTheWay(t *testing.T) {
	t.Parallel()
	for name, correctedFirst := range map[string]bool{"corrected, then decided": true, "decided, then corrected": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(decider()))
			ctx, id := context.WithoutCancel(t.Context()), b.create(1)[0]
			b.submitted(b.Contributors[0], id, "solve", answer42)
			approval := func(user int64, node, values string) func() error {
				c, err := b.Store.ClaimTask(ctx, b.member(user), pipeline.KindReview, id, node)
				require.NoError(t, err)
				return func() error {
					_, err := b.Store.Review(ctx, user, c.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)})
					return err
				}
			}
			decide := approval(b.Reviewers[0], "check", `{}`)
			correct := approval(b.Reviewers[1], "again", `{"sure":false,"doubt":"all"}`)
			b.settle(id)
			if correctedFirst {
				require.NoError(t, errors.Join(b.behindLock(lockTask, id, correct, decide)...))
				require.Equal(t, task.NodeAvailable, b.statusOf(id, "right"))
				require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
			} else {
				errs := b.behindLock(lockTask, id, decide, correct)
				require.NoError(t, errs[0])
				require.True(t, fault.Is(errs[1], fault.Validation), "%v", errs[1])
				require.ErrorContains(t, errs[1], "decides where the task goes")
				require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))
				require.Equal(t, task.NodeNA, b.statusOf(id, "right"))
			}
			b.checked()
		})
	}
}

// A correction is not taken back once another review beside it has led the task on by it: the
// way would stay, and the answers would say another one.
func TestACorrectionThatLedTheTaskIsNotUndone(t *testing.T) {
	t.Parallel()
	d := decider()
	third := d.Nodes[2] // while it is open, no verdict on what it checks is final
	third.Key, third.Reviews = "third", []pipeline.Target{{Node: "solve"}}
	d.Nodes = append(d.Nodes, third)
	d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: "third"}, pipeline.Edge{From: "third", To: "end"})
	d.Nodes[2].Reviews = []pipeline.Target{{Node: "solve", Fields: []string{"answer", "sure"}}}
	for name, c := range map[string]struct {
		fix                        string
		decided, refused, accepted bool
	}{
		"the way was decided by it":         {`{"sure":true}`, true, true, false},
		"an admin decided the way by it":    {`{"sure":true}`, true, true, true},
		"the way was decided without it":    {`{"doubt":"some"}`, true, false, false}, // which check does not look at
		"nobody has decided the way so far": {`{"sure":true}`, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(d))
			ctx, id := t.Context(), b.create(1)[0]
			rita, rob := b.Reviewers[0], b.Reviewers[1]
			b.submitted(b.Contributors[0], id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
			rc, err := b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
			require.NoError(t, err)
			_, err = b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(c.fix)})
			require.NoError(t, err)
			b.settle(id)
			admin := b.member(b.Admin)
			switch {
			case c.accepted:
				require.NoError(t, b.Store.Escalate(ctx, admin, id, "check", ""))
				require.NoError(t, b.Store.Resolve(ctx, admin, id, "check", pipeline.ResolveAccept, ""))
				b.settle(id)
			case c.decided:
				b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
			}

			offered := b.history(store.HistoryQuery{UserID: rob}).Items[0].UndoUntil != nil
			require.Equal(t, !c.refused, offered)
			_, err = b.undo(rob, rc.ID)
			if c.refused {
				conflicts(t, err, `goes from node "check"`)
				require.Equal(t, task.NodeSubmitted, b.statusOf(id, "again"))
				require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))
				require.JSONEq(t, `true`, string(b.answers(id)["sure"]))
			} else {
				require.NoError(t, err)
				require.JSONEq(t, `false`, string(b.answers(id)["sure"]))
				require.JSONEq(t, `"all"`, string(b.answers(id)["doubt"]))
			}
			b.settle(id)
			b.checked()
		})
	}
}

// An admin's accept decides the way on as a verdict does, also where nobody gave one, and where
// the last one was a rejection too many.
func TestACorrectionTurnsNoWayThatAnAdminAccepted(t *testing.T) {
	t.Parallel()
	for name, escalate := range map[string]func(b *bench, id int64){
		"without a verdict": func(b *bench, id int64) {
			require.NoError(b.t, b.Store.Escalate(b.t.Context(), b.member(b.Admin), id, "check", ""))
		},
		"after a rejection too many": func(b *bench, id int64) {
			b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictReject})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := decider()
			d.Nodes[2].MaxRework = new(int)
			b := newBench(t, dbtest.WithDefinition(d))
			ctx, id := t.Context(), b.create(1)[0]
			rob := b.Reviewers[1]
			b.submitted(b.Contributors[0], id, "solve", answer42)
			escalate(b, id)
			require.Equal(t, task.NodeEscalated, b.statusOf(id, "check"))
			require.NoError(t, b.Store.Resolve(ctx, b.member(b.Admin), id, "check", pipeline.ResolveAccept, ""))
			require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))

			rc, err := b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
			require.NoError(t, err)
			approve := store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"sure":false,"doubt":"all"}`)}
			_, err = b.Store.Review(ctx, rob, rc.ID, approve)
			require.True(t, fault.Is(err, fault.Validation), "%v", err)
			require.ErrorContains(t, err, "decides where the task goes")
			approve.Values = raw(`{"answer":"43"}`)
			_, err = b.Store.Review(ctx, rob, rc.ID, approve)
			require.NoError(t, err, "what no way hangs on")
			require.Equal(t, task.NodeNA, b.statusOf(id, "right"))
			b.checked()
		})
	}
}

// A correction that another review approved stays: what was approved would not be there any
// more. One that it approved before, or that changes nothing it looked at, is taken back.
func TestACorrectionThatOthersApprovedIsNotUndone(t *testing.T) {
	t.Parallel()
	checked := []string{"answer", "sure"}
	for name, c := range map[string]struct {
		fields        []string // that the other review looks at
		fix, approval string
		before, again bool
		blocked       bool
		answer        string
	}{
		"approved since":                {checked, `{"answer":"43"}`, `{}`, false, false, true, `"43"`},
		"approved before":               {checked, `{"answer":"43"}`, `{}`, true, false, false, `"42"`},
		"another field":                 {checked, `{"doubt":"some"}`, `{}`, false, false, false, `"42"`},
		"what it hid":                   {[]string{"doubt"}, `{"sure":true}`, `{}`, false, false, true, `"42"`},
		"corrected once more":           {checked, `{"answer":"43"}`, `{"answer":"44"}`, false, false, false, `"44"`},
		"whose approval was taken back": {checked, `{"answer":"43"}`, `{}`, false, true, false, `"42"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(besides(c.fields)))
			ctx, id := t.Context(), b.create(1)[0]
			rita, rob := b.Reviewers[0], b.Reviewers[1]
			b.submitted(b.Contributors[0], id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
			verdict := func(user int64, node, values string) string {
				rc, err := b.Store.ClaimTask(ctx, b.member(user), pipeline.KindReview, id, node)
				require.NoError(t, err)
				_, err = b.Store.Review(ctx, user, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)})
				require.NoError(t, err)
				b.settle(id)
				return rc.ID
			}
			if c.before {
				verdict(rita, "check", c.approval)
			}
			corrected := verdict(rob, "again", c.fix)
			if !c.before {
				approved := verdict(rita, "check", c.approval)
				if c.again {
					_, err := b.undo(rita, approved)
					require.NoError(t, err)
				}
			}
			offered := b.history(store.HistoryQuery{UserID: rob}).Items[0].UndoUntil != nil
			require.Equal(t, !c.blocked, offered)
			_, err := b.undo(rob, corrected)
			if !c.blocked {
				require.NoError(t, err)
			} else {
				conflicts(t, err, `approved on node "check"`)
			}
			require.JSONEq(t, c.answer, string(b.answers(id)["answer"]))
			b.settle(id)
			b.checked()
		})
	}
}

// besides is a pipeline whose subtask three reviews look at side by side, the first one at
// these fields. While the third is open, no verdict is final.
func besides(fields []string) pipeline.Definition {
	d := dbtest.Definition()
	start, solve, check, end := d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3]
	again, third := check, check
	check.Reviews = []pipeline.Target{{Node: "solve", Fields: fields}}
	again.Key, again.Reviews = "again", []pipeline.Target{{Node: "solve"}}
	third.Key, third.Reviews = "third", []pipeline.Target{{Node: "solve"}}
	d.Nodes = []pipeline.Node{start, solve, check, again, third, end}
	d.Edges = []pipeline.Edge{{From: "start", To: "solve"}}
	for _, review := range []string{"check", "again", "third"} {
		d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: review}, pipeline.Edge{From: review, To: "end"})
	}
	return d
}
