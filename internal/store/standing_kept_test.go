package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// reject returns the work that waits for the reviewer's verdict; the task's run has not
// heard of it yet.
func (b *bench) reject(reviewer int64) {
	b.t.Helper()
	c := b.claim(reviewer, pipeline.KindReview)
	_, err := b.Store.Review(b.t.Context(), reviewer, c.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(b.t, err)
}

// Whose work is returned may not be able to do it any more.
func TestReturnedWorkIsKeptForNobodyWhoMayNotDoIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, user int64, other store.Role) error{
		"removed from the organization": func(b *bench, user int64, _ store.Role) error {
			return b.Store.RemoveMember(b.t.Context(), orgAdmin(b.World), user)
		},
		"removed from the project": func(b *bench, user int64, _ store.Role) error {
			return b.Store.RemoveProjectMember(b.t.Context(), projectAdmin(b.World), user)
		},
		"with another role": func(b *bench, user int64, other store.Role) error {
			return b.Store.SetProjectRole(b.t.Context(), projectAdmin(b.World), user, other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := b.create(1)[0]
			ada, ben, rita, rob := b.Contributors[0], b.Contributors[1], b.Reviewers[0], b.Reviewers[1]
			b.submit(ada, b.claim(ada, pipeline.KindSubtask))
			b.settle(id)
			require.NoError(t, change(b, ada, store.RoleReviewer))
			b.reject(rita)
			b.settle(id)
			c := b.claim(ben, pipeline.KindSubtask)
			require.NotNil(t, c, "the work is kept for somebody who cannot do it")

			b.submit(ben, c) // whose review is kept for who rejected it
			require.NoError(t, change(b, rita, store.RoleContributor))
			b.settle(id)
			require.NotNil(t, b.claim(rob, pipeline.KindReview), "so is its review")
			b.settle(id)
			b.checked()
		})
	}
}

// Nor does a repair, which goes by the journal, keep it for them.
func TestARepairKeepsNothingForTheRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	ada, ben := b.Contributors[0], b.Contributors[1]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	require.NoError(t, b.Store.RemoveMember(t.Context(), orgAdmin(b.World), ada))
	b.reject(b.Reviewers[0])
	b.settle(id)
	b.exec(`UPDATE task_nodes SET status = 'pending', reserved_for = NULL, reserved_until = NULL WHERE task_id = $1 AND key = 'solve'`, id)
	done, err := b.Store.RepairTask(t.Context(), id, true)
	require.NoError(t, err)
	require.NotEmpty(t, done)
	require.NotNil(t, b.claim(ben, pipeline.KindSubtask))
}

// A step that keeps work for somebody is on its way when they are removed.
func TestARemovalEndsWhatAStepIsAboutToKeep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada, ben := b.Contributors[0], b.Contributors[1]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	b.reject(b.Reviewers[0])
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	step := b.step(id, int(l.Seq-l.State.Seq))
	errs := b.behindLock(`SELECT FROM task_nodes WHERE task_id = $1 AND key = 'solve' FOR UPDATE`, id,
		func() error { _, err := b.Store.ApplyStep(ctx, step); return err },
		func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), ada) })
	require.NoError(t, errors.Join(errs...))
	require.NotNil(t, b.claim(ben, pipeline.KindSubtask))
	b.settle(id)
	b.checked()
}

// Nor is a review that its object's author must not hold kept for them, who held it
// before they did the work themselves.
func TestAReviewIsNotKeptForWhoDidTheWorkSince(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	d.Nodes[2].FourEyes = true
	b := newBench(t, dbtest.WithDefinition(d))
	ctx := t.Context()
	id := b.create(1)[0]
	ada, boss, rita := b.Contributors[0], b.ProjectAdmin, b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	b.judged(boss, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.exec(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL WHERE task_id = $1`, id) // ada did not come
	b.submitted(boss, id, "solve", answer42)
	c, err := b.Store.ClaimNext(ctx, b.member(rita), pipeline.KindReview)
	require.NoError(t, err)
	require.NotNil(t, c, "the review is kept for somebody who may not do it")
	b.settle(id)
	b.checked()
}

// Nor when they do another subtask of the task after it was kept for them.
func TestAReviewThatIsKeptIsFreeWhenItsReviewerWorksOnTheTask(t *testing.T) {
	t.Parallel()
	d := detour()
	d.Nodes[3].Reviews, d.Nodes[3].FourEyes = []pipeline.Target{{Node: "solve"}}, true
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"},
		{From: "start", To: "more"},
		{From: "solve", To: "check"},
		{From: "solve", To: "last"},
		{From: "check", To: "end"},
		{From: "last", To: "end"},
		{From: "more", To: "end"},
	}
	b := newBench(t, dbtest.WithDefinition(d))
	id := b.create(1)[0]
	ada, boss, rita := b.Contributors[0], b.ProjectAdmin, b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	b.judged(boss, id, "check", store.Verdict{Verdict: store.VerdictApprove})
	b.judged(rita, id, "last", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(ada, id, "solve", answer42)
	kept := `SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'check' AND status = 'available' AND reserved_for = $2`
	require.Equal(t, 1, b.count(kept, id, boss))
	b.submitted(boss, id, "more", `{"extra":"x"}`)
	require.Zero(t, b.count(kept, id, boss))
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
	b.checked()
}
