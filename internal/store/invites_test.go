package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func token(name string) [32]byte { return sha256.Sum256([]byte(name)) }

// invited makes an invite to the organization whose token is the name.
func invited(t *testing.T, w *dbtest.World, email, name string, grants ...store.ProjectGrant) store.Invite {
	t.Helper()
	i, err := w.Store.CreateInvite(t.Context(), orgAdmin(w), store.NewInvite{
		Email: email, Role: store.OrgRoleMember, Projects: grants, Hash: token(name),
	})
	require.NoError(t, err)
	return i
}

// invitedToProject makes one of the world's project.
func invitedToProject(t *testing.T, w *dbtest.World, email, name string, role store.Role) store.Invite {
	t.Helper()
	i, err := w.Store.CreateInvite(t.Context(), projectAdmin(w), toProject(w, email, name, role))
	require.NoError(t, err)
	return i
}

func toProject(w *dbtest.World, email, name string, role store.Role) store.NewInvite {
	return store.NewInvite{
		Email: email, Role: store.OrgRoleMember, OfProject: true, Hash: token(name),
		Projects: []store.ProjectGrant{{ProjectID: w.ProjectID, Role: role}},
	}
}

func accept(ctx context.Context, w *dbtest.World, name string) (store.User, error) {
	return w.Store.AcceptInvite(ctx, token(name), store.Invitee{Name: "New", PasswordHash: "hash of " + name})
}

func statuses(t *testing.T, w *dbtest.World, projectID int64) map[string]string {
	t.Helper()
	all, err := w.Store.Invites(t.Context(), w.OrgID, projectID)
	require.NoError(t, err)
	out := map[string]string{}
	for _, i := range all {
		out[fmt.Sprintf("%s %d", i.Email, i.ID)] = i.Status
	}
	return out
}

func TestInviteOfANewcomer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	made := invited(t, w, " Nina@New.test ", "a", store.ProjectGrant{ProjectID: w.ProjectID, Role: store.RoleReviewer})
	require.Equal(t, "nina@new.test", made.Email)
	require.InDelta(t, store.InviteTTL.Seconds(), made.ExpiresAt.Sub(made.CreatedAt).Seconds(), 1)

	found, err := w.Store.InviteByToken(ctx, token("a"))
	require.NoError(t, err)
	require.Equal(t, "acme", found.OrgName)
	require.Equal(t, w.Admin, found.InvitedBy.ID)
	require.Zero(t, found.UserID)
	require.Equal(t, []store.ProjectGrant{{ProjectID: w.ProjectID, Name: "Main", Role: store.RoleReviewer}}, found.Projects)

	_, err = w.Store.InviteByToken(ctx, token("b"))
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	user, err := accept(ctx, w, "a")
	require.NoError(t, err)
	require.Equal(t, "nina@new.test", user.Email)
	m, err := w.Store.MemberOfProject(ctx, user.ID, w.ProjectID)
	require.NoError(t, err)
	require.Equal(t, store.RoleReviewer, m.Role)
	require.False(t, m.OrgAdmin)

	t.Run("once", func(t *testing.T) {
		_, err := w.Store.InviteByToken(ctx, token("a"))
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		_, err = accept(ctx, w, "a")
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		err = w.Store.RevokeInvite(ctx, orgAdmin(w), made.ID)
		require.Equal(t, fault.Conflict, fault.KindOf(err))
	})
}

func TestInviteOfAnExistingAccount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	invited(t, w, "contributor1@other.test", "a", store.ProjectGrant{ProjectID: w.ProjectID, Role: store.RoleContributor})
	found, err := w.Store.InviteByToken(ctx, token("a"))
	require.NoError(t, err)
	require.Equal(t, other.Contributors[0], found.UserID)

	_, err = accept(ctx, w, "a")
	require.Equal(t, fault.Conflict, fault.KindOf(err), "nobody takes an account over")
	_, err = w.Store.AcceptInvite(ctx, token("a"), store.Invitee{UserID: other.Contributors[1], PasswordHash: found.PasswordHash})
	require.Equal(t, fault.Conflict, fault.KindOf(err), "nobody accepts for somebody else")
	_, err = w.Store.AcceptInvite(ctx, token("a"), store.Invitee{UserID: found.UserID, PasswordHash: "of before a change"})
	require.Equal(t, fault.Conflict, fault.KindOf(err))

	user, err := w.Store.AcceptInvite(ctx, token("a"), store.Invitee{UserID: found.UserID, PasswordHash: found.PasswordHash})
	require.NoError(t, err)
	require.Equal(t, found.UserID, user.ID)
	require.Equal(t, "contributor1", user.Name)
	_, err = w.Store.MemberOfProject(ctx, user.ID, w.ProjectID)
	require.NoError(t, err)
}

func TestInviteLetsARemovedMemberBackIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), w.Outsider, store.OrgRoleAdmin))
	require.NoError(t, w.Store.RemoveMember(ctx, orgAdmin(w), w.Outsider))
	invited(t, w, w.Email("outsider1"), "a")
	found, err := w.Store.InviteByToken(ctx, token("a"))
	require.NoError(t, err)
	_, err = w.Store.AcceptInvite(ctx, token("a"), store.Invitee{UserID: found.UserID, PasswordHash: found.PasswordHash})
	require.NoError(t, err)
	m, err := w.Store.MemberOfOrg(ctx, w.Outsider, w.OrgID)
	require.NoError(t, err)
	require.False(t, m.OrgAdmin, "the old role does not come back")
}

// lockOrg keeps everybody from a new membership while it is held.
const lockOrg = `SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE`

func TestTwoAcceptOneInvite(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"nina@new.test", "admin1@other.test"} {
		t.Run(email, func(t *testing.T) {
			t.Parallel()
			ctx := context.WithoutCancel(t.Context())
			b := newBench(t)
			dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
			invited(t, b.World, email, "a")
			found, err := b.Store.InviteByToken(ctx, token("a"))
			require.NoError(t, err)
			rival := func() error {
				_, err := b.Store.AcceptInvite(ctx, token("a"), store.Invitee{UserID: found.UserID, Name: "New", PasswordHash: found.PasswordHash})
				return err
			}
			count := map[fault.Kind]int{}
			for _, err := range b.behindLock(lockOrg, b.OrgID, rival, rival, rival, rival) {
				count[fault.KindOf(err)]++
			}
			require.Equal(t, map[fault.Kind]int{"": 1, fault.Conflict: 3}, count)
		})
	}
}

// An invite is accepted while its maker is demoted: who came second hears of
// the first.
func TestAcceptRacesDemotion(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	for name, order := range map[string][2]int{"accepted first": {0, 1}, "demoted first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			invitedToProject(t, b.World, "nina@new.test", "a", store.RoleProjectAdmin)
			commands := [2]func() error{
				func() error { _, err := accept(ctx, b.World, "a"); return err },
				func() error {
					return b.Store.SetProjectRole(ctx, orgAdminIn(b.World), b.ProjectAdmin, store.RoleContributor)
				},
			}
			errs := b.behindLock(lockOrg, b.OrgID, commands[order[0]], commands[order[1]])
			accepted, demoted := errs[order[0]], errs[order[1]]
			require.NoError(t, demoted)
			if order[0] == 0 {
				require.NoError(t, accepted)
				return
			}
			require.Equal(t, fault.Conflict, fault.KindOf(accepted))
			var in bool
			require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM users WHERE email = 'nina@new.test')`).Scan(&in))
			require.False(t, in)
		})
	}
}

// Two organizations invite one newcomer, who accepts both at once: one account
// comes of it.
func TestTwoInvitesMakeOneAccount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	invited(t, w, "nina@new.test", "a")
	invited(t, other, "nina@new.test", "b")
	var g errgroup.Group
	errs := make([]error, 2)
	for i, name := range []string{"a", "b"} {
		g.Go(func() error { _, errs[i] = accept(ctx, w, name); return nil })
	}
	require.NoError(t, g.Wait())
	lost := errs[0]
	if lost == nil {
		lost = errs[1]
	} else {
		require.NoError(t, errs[1])
	}
	require.Equal(t, fault.Conflict, fault.KindOf(lost))
	var accounts int
	require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM users WHERE email = 'nina@new.test'`).Scan(&accounts))
	require.Equal(t, 1, accounts)
}

func TestInvitesEndWithTheAuthorityOfTheirMaker(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, demote := range map[string]func(*testing.T, *dbtest.World){
		"project admin demoted": func(t *testing.T, w *dbtest.World) {
			t.Helper()
			require.NoError(t, w.Store.SetProjectRole(ctx, orgAdminIn(w), w.ProjectAdmin, store.RoleContributor))
		},
		"project admin removed from the project": func(t *testing.T, w *dbtest.World) {
			t.Helper()
			require.NoError(t, w.Store.RemoveProjectMember(ctx, orgAdminIn(w), w.ProjectAdmin))
		},
		"project admin removed": func(t *testing.T, w *dbtest.World) {
			t.Helper()
			require.NoError(t, w.Store.RemoveMember(ctx, orgAdmin(w), w.ProjectAdmin))
		},
		"demoted behind the store's back": func(t *testing.T, w *dbtest.World) {
			t.Helper()
			_, err := w.Store.Pool().Exec(ctx, `UPDATE project_members SET role = 'reviewer' WHERE user_id = $1`, w.ProjectAdmin)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dbtest.NewWorld(t)
			invitedToProject(t, w, "nina@new.test", "a", store.RoleContributor)
			_, err := w.Store.InviteByToken(ctx, token("a"))
			require.NoError(t, err)
			demote(t, w)
			_, err = w.Store.InviteByToken(ctx, token("a"))
			require.Equal(t, fault.Conflict, fault.KindOf(err))
			_, err = accept(ctx, w, "a")
			require.Equal(t, fault.Conflict, fault.KindOf(err))
		})
	}
	t.Run("org admin demoted", func(t *testing.T) {
		t.Parallel()
		w := dbtest.NewWorld(t)
		invited(t, w, "nina@new.test", "a")
		require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), w.Outsider, store.OrgRoleAdmin))
		require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), w.Admin, store.OrgRoleMember))
		_, err := accept(ctx, w, "a")
		require.Equal(t, fault.Conflict, fault.KindOf(err))
	})
}

func TestInvitesThatAreOver(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	first := invited(t, w, "nina@new.test", "first")
	second := invited(t, w, "NINA@new.test", "second")
	expired := invited(t, w, "old@new.test", "old")
	_, err := w.Store.Pool().Exec(ctx, `UPDATE invites SET expires_at = now() WHERE id = $1`, expired.ID)
	require.NoError(t, err)
	project := invitedToProject(t, w, "nina@new.test", "project", store.RoleReviewer)
	require.Equal(t, map[string]string{
		fmt.Sprintf("nina@new.test %d", first.ID):   store.InviteRevoked,
		fmt.Sprintf("nina@new.test %d", second.ID):  store.InviteOpen,
		fmt.Sprintf("nina@new.test %d", project.ID): store.InviteOpen,
		fmt.Sprintf("old@new.test %d", expired.ID):  store.InviteExpired,
	}, statuses(t, w, 0))
	require.Equal(t, map[string]string{fmt.Sprintf("nina@new.test %d", project.ID): store.InviteOpen}, statuses(t, w, w.ProjectID))
	for _, name := range []string{"first", "old"} {
		_, err := accept(ctx, w, name)
		require.Equal(t, fault.Conflict, fault.KindOf(err), name)
	}
	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.RevokeInvite(ctx, projectAdmin(w), second.ID)), "not the project's")
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.RevokeInvite(ctx, orgAdmin(other), second.ID)))
	require.NoError(t, w.Store.RevokeInvite(ctx, orgAdmin(w), second.ID))
	require.NoError(t, w.Store.RevokeInvite(ctx, orgAdmin(w), second.ID))
	_, err = accept(ctx, w, "second")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.NoError(t, w.Store.RevokeInvite(ctx, projectAdmin(w), project.ID))
}

// Who lost the role while the request was on its way takes nothing back.
func TestAnInviteIsRevokedByWhoIsAdminStill(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	made := invitedToProject(t, w, "nina@new.test", "a", store.RoleReviewer)
	by := projectAdmin(w)
	_, err := w.Store.Pool().Exec(ctx, `UPDATE project_members SET role = 'reviewer' WHERE project_id = $1 AND user_id = $2`, by.ProjectID, by.UserID)
	require.NoError(t, err)
	require.Equal(t, fault.Forbidden, fault.KindOf(w.Store.RevokeInvite(ctx, by, made.ID)))
	require.Equal(t, map[string]string{fmt.Sprintf("nina@new.test %d", made.ID): store.InviteOpen}, statuses(t, w, by.ProjectID))
}

func TestRemovalEndsInvitesToTheRemoved(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	invited(t, w, "nina@new.test", "a")
	invitedToProject(t, w, "nina@new.test", "b", store.RoleProjectAdmin)
	nina, err := accept(ctx, w, "a")
	require.NoError(t, err)
	require.NoError(t, w.Store.RemoveUser(ctx, w.Slug, "nina@new.test"))
	_, err = w.Store.InviteByToken(ctx, token("b"))
	require.Equal(t, fault.Conflict, fault.KindOf(err), "no way back")
	_, err = w.Store.MemberOfOrg(ctx, nina.ID, w.OrgID)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestWhomNobodyInvites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	refused := func(kind fault.Kind, by store.Member, in store.NewInvite) {
		t.Helper()
		_, err := w.Store.CreateInvite(ctx, by, in)
		require.Equal(t, kind, fault.KindOf(err))
	}
	in := func(email string, grants ...store.ProjectGrant) store.NewInvite {
		return store.NewInvite{Email: email, Role: store.OrgRoleMember, Projects: grants, Hash: token(email)}
	}
	for _, email := range []string{"", "nina", "Nina <nina@new.test>", "nina@new.test, x@new.test", "a\x00@new.test"} {
		refused(fault.Validation, orgAdmin(w), in(email))
	}
	refused(fault.Conflict, orgAdmin(w), in(w.Email("outsider1")))
	for _, member := range []string{"admin1", "contributor1", "outsider1"} {
		refused(fault.Conflict, projectAdmin(w), toProject(w, w.Email(member), "x", store.RoleReviewer))
	}
	theirs := store.ProjectGrant{ProjectID: other.ProjectID, Role: store.RoleReviewer}
	ours := store.ProjectGrant{ProjectID: w.ProjectID, Role: store.RoleReviewer}
	refused(fault.Validation, orgAdmin(w), in("nina@new.test", theirs))
	refused(fault.Validation, orgAdmin(w), in("nina@new.test", ours, ours))
	refused(fault.Forbidden, projectAdmin(w), in("nina@new.test", ours))
	refused(fault.Forbidden, store.Member{UserID: w.Contributors[0], OrgID: w.OrgID, ProjectID: w.ProjectID},
		toProject(w, "nina@new.test", "x", store.RoleReviewer))
	require.Empty(t, statuses(t, w, 0))
}
