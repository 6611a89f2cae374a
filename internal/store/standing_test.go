package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// A request is let in by the role that its sender had when it began. Each way to get
// work is taken with such a membership, after the roles were changed.
func TestWhoWasLetInBeforeTheirRoleChangedGetsNoWork(t *testing.T) {
	t.Parallel()
	changes := map[string]struct {
		change func(b *bench, user int64, role store.Role) error
		want   fault.Kind
	}{
		"removed from the organization": {func(b *bench, user int64, _ store.Role) error {
			return b.Store.RemoveMember(b.t.Context(), orgAdmin(b.World), user)
		}, fault.NotFound},
		"removed from the project": {func(b *bench, user int64, _ store.Role) error {
			return b.Store.RemoveProjectMember(b.t.Context(), projectAdmin(b.World), user)
		}, fault.NotFound},
		"with another role": {func(b *bench, user int64, role store.Role) error {
			return b.Store.SetProjectRole(b.t.Context(), projectAdmin(b.World), user, role)
		}, fault.Forbidden},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
			ids := b.create(4)
			for _, id := range ids[:2] { // two are under review, of the others one is late
				b.submit(ben, b.claim(ben, pipeline.KindSubtask))
				b.settle(id)
			}
			late := b.claim(ben, pipeline.KindSubtask)
			ofAda, ofRita := b.member(ada), b.member(rita)
			require.NoError(t, c.change(b, ada, store.RoleReviewer))
			require.NoError(t, c.change(b, rita, store.RoleContributor))

			none := func(way string, claim *store.Claim, err error) {
				t.Helper()
				assert.Nil(t, claim, way)
				assert.Equal(t, c.want, fault.KindOf(err), "%s: %v", way, err)
			}
			next := func(way string, m store.Member, kind pipeline.Kind) {
				t.Helper()
				got, err := b.Store.ClaimNext(ctx, m, kind)
				none(way, got, err)
			}
			named := func(way string, m store.Member, kind pipeline.Kind, id int64, node string) {
				t.Helper()
				got, err := b.Store.ClaimTask(ctx, m, kind, id, node)
				none(way, got, err)
			}
			next("the next subtask", ofAda, pipeline.KindSubtask)
			named("a subtask by name", ofAda, pipeline.KindSubtask, ids[3], "solve")
			next("the next review", ofRita, pipeline.KindReview)
			named("a review by name", ofRita, pipeline.KindReview, ids[0], "check")
			got, err := b.Store.ClaimReviewOf(ctx, ofRita, ben)
			none("the next review of somebody", got, err)
			b.exec(`UPDATE task_nodes SET status = 'pending' WHERE task_id = $1 AND key = 'solve'`, ids[3])
			b.lapse(late.TaskID, 1)
			next("a late one", ofAda, pipeline.KindSubtask)
			b.exec(`UPDATE task_nodes SET reserved_for = $2, reserved_until = now(), status = 'available' WHERE task_id = $1 AND key = 'solve'`, ids[3], ben)
			next("what was kept for another", ofAda, pipeline.KindSubtask)
			b.exec(`UPDATE task_nodes SET reserved_for = $2, reserved_until = now() + interval '1 hour' WHERE task_id = $1 AND key = 'solve'`, ids[3], ada)
			next("what is kept for them", ofAda, pipeline.KindSubtask)
			require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by = ANY ($1)`, []int64{ada, rita}))
		})
	}
}

// claimOnItsWay has a task's first claim wait: its line of the journal waits for one with
// the same number.
const claimOnItsWay = `INSERT INTO task_events (task_id, seq, kind) VALUES ($1, 2, 'claim')`

// A claim is on its way when its holder is removed: the statement has seen the role, and
// is not committed yet. The removal waits, and ends it.
func TestARemovalEndsTheClaimThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	m := b.member(b.Contributors[0])
	errs := b.behindLock(claimOnItsWay, id,
		func() error { _, err := b.Store.ClaimNext(ctx, m, pipeline.KindSubtask); return err },
		func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), m.UserID) })
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind IN ('claim', 'release')`, id))
	require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by IS NOT NULL`))
	b.settle(id)
	b.checked()
}

// The other way round: the claim comes while the removal is on its way.
func TestAClaimWaitsForTheRemovalOfWhoeverAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Store.WaitForLocked(30 * time.Second)
	ctx := context.WithoutCancel(t.Context())
	ids := b.create(2)
	ada := b.Contributors[0]
	m, held := b.member(ada), b.claim(ada, pipeline.KindSubtask)
	// The removal has written the membership, and waits for the task of a claim.
	errs := b.behindLock(lockTask, held.TaskID,
		func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), ada) },
		func() error { _, err := b.Store.ClaimTask(ctx, m, pipeline.KindSubtask, ids[1], "solve"); return err })
	require.NoError(t, errs[0])
	require.Equal(t, fault.NotFound, fault.KindOf(errs[1]), "%v", errs[1])
	require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by IS NOT NULL`))
}

// People are removed and let in again while they claim in every way: whoever is out
// holds nothing.
func TestRacingClaimsAndRemovals(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithContributors(1))
	ctx := t.Context()
	const rounds, each, claimers = 25, 3, 4
	ids := b.create(rounds * each)
	ada := b.Contributors[0]
	m := b.member(ada)
	claims := 0
	for round := range rounds {
		var g errgroup.Group
		for n := range claimers {
			g.Go(func() error {
				for _, id := range ids[round*each : round*each+each] {
					var err error
					if n%2 == 0 {
						_, err = b.Store.ClaimNext(ctx, m, pipeline.KindSubtask)
					} else {
						_, err = b.Store.ClaimTask(ctx, m, pipeline.KindSubtask, id, "solve")
					}
					if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict) {
						return err
					}
				}
				return nil
			})
		}
		g.Go(func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), ada) })
		require.NoError(t, g.Wait())
		require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by IS NOT NULL`), "round %d", round)
		b.exec(`UPDATE org_members SET removed_at = NULL WHERE user_id = $1`, ada)
		b.exec(`INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'contributor')`, b.OrgID, b.ProjectID, ada)
		claims = b.count(`SELECT count(*) FROM task_events WHERE kind = 'claim'`)
	}
	require.Positive(t, claims, "no claim was ever first: this proves nothing")
}

// A claim that its holder's role does not allow any more cannot be gone on with,
// whoever wrote the role: what they hand in is kept as their draft.
func TestAClaimBeyondTheRoleIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(1)
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	b.exec(`UPDATE project_members SET role = 'reviewer' WHERE user_id = $1`, ada)
	over := func(err error) {
		t.Helper()
		require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
	}
	_, err := b.Store.LiveClaim(ctx, ada, c.ID)
	over(err)
	_, err = b.Store.ExtendClaim(ctx, ada, c.ID)
	over(err)
	_, err = b.Store.SaveDraft(ctx, ada, c.ID, form.Values{}, 0)
	over(err)
	_, err = b.Store.Submit(ctx, ada, c.ID, raw(answer42))
	over(err)
	held, err := b.Store.MyClaims(ctx, ada)
	require.NoError(t, err)
	require.Empty(t, held)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM drafts WHERE user_id = $1`, ada))
}
