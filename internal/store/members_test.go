package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// orgAdmin is the world's admin as the one who acts.
func orgAdmin(w *dbtest.World) store.Member {
	return store.Member{UserID: w.Admin, OrgID: w.OrgID, OrgAdmin: true}
}

// projectAdmin is the world's project admin as the one who acts.
func projectAdmin(w *dbtest.World) store.Member {
	return store.Member{UserID: w.ProjectAdmin, OrgID: w.OrgID, ProjectID: w.ProjectID, Role: store.RoleProjectAdmin}
}

func TestOrgMembers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t, dbtest.WithContributors(1), dbtest.WithReviewers(0))
	dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	second := w.AddProject(t, "Another")
	_, err := w.Store.Pool().Exec(ctx, `INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'reviewer')`,
		w.OrgID, second, w.Contributors[0])
	require.NoError(t, err)
	w.RemoveUser(t, w.AddUser(t, "gone", store.OrgRoleMember, ""))

	members, err := w.Store.OrgMembers(ctx, w.OrgID)
	require.NoError(t, err)
	require.Len(t, members, 4)
	names := map[string]store.OrgMember{}
	for _, m := range members {
		require.NotZero(t, m.JoinedAt)
		m.JoinedAt = time.Time{}
		names[m.Person.Name] = m
	}
	require.Equal(t, []string{"admin1", "contributor1", "manager1", "outsider1"},
		[]string{members[0].Person.Name, members[1].Person.Name, members[2].Person.Name, members[3].Person.Name})
	require.Equal(t, store.OrgMember{
		Person: store.Person{ID: w.Contributors[0], Name: "contributor1", Email: "contributor1@acme.test"}, Role: store.OrgRoleMember,
		Projects: []store.ProjectGrant{
			{ProjectID: second, Name: "Another", Role: store.RoleReviewer}, {ProjectID: w.ProjectID, Name: "Main", Role: store.RoleContributor},
		},
	}, names["contributor1"])
	require.Equal(t, store.OrgRoleAdmin, names["admin1"].Role)
	require.Empty(t, names["admin1"].Projects)

	people, err := w.Store.ProjectMembers(ctx, w.OrgID, w.ProjectID)
	require.NoError(t, err)
	require.Equal(t, []store.ProjectMember{
		{Person: names["admin1"].Person, Role: store.RoleProjectAdmin, Inherited: true},
		{Person: names["contributor1"].Person, Role: store.RoleContributor},
		{Person: names["manager1"].Person, Role: store.RoleProjectAdmin},
	}, people.Members)
	require.Equal(t, []store.Person{names["outsider1"].Person}, people.Candidates)
}

func TestTheLastOrgAdminStays(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	by := orgAdmin(w)
	require.Equal(t, fault.Conflict, fault.KindOf(w.Store.SetOrgRole(ctx, by, w.Admin, store.OrgRoleMember)))
	require.Equal(t, fault.Conflict, fault.KindOf(w.Store.RemoveMember(ctx, by, w.Admin)))
	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.SetOrgRole(ctx, by, other.Admin, store.OrgRoleMember)))
	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.RemoveMember(ctx, by, other.Admin)))

	require.NoError(t, w.Store.SetOrgRole(ctx, by, w.Outsider, store.OrgRoleAdmin))
	require.NoError(t, w.Store.RemoveMember(ctx, by, w.Admin))
	require.Equal(t, fault.Forbidden, fault.KindOf(w.Store.SetOrgRole(ctx, by, w.Contributors[0], store.OrgRoleAdmin)),
		"the session was authorized before the removal")
}

// Of admins who demote and remove each other at once, one is left.
func TestRacingOrgAdmins(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	for range 5 {
		admins := []int64{w.Admin}
		for _, id := range append([]int64{w.Outsider, w.ProjectAdmin}, w.Contributors...) {
			require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), id, store.OrgRoleAdmin))
			admins = append(admins, id)
		}
		var g errgroup.Group
		for i, victim := range admins {
			by := store.Member{UserID: admins[(i+1)%len(admins)], OrgID: w.OrgID, OrgAdmin: true}
			g.Go(func() error {
				err := w.Store.SetOrgRole(ctx, by, victim, store.OrgRoleMember)
				if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden) {
					return nil
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
		var left []int64
		require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT array_agg(user_id) FROM org_members
			WHERE org_id = $1 AND role = 'org_admin' AND removed_at IS NULL`, w.OrgID).Scan(&left))
		require.NotEmpty(t, left)
		_, err := w.Store.Pool().Exec(ctx, `UPDATE org_members SET role = CASE user_id WHEN $2 THEN 'org_admin' ELSE 'member' END
			WHERE org_id = $1`, w.OrgID, w.Admin)
		require.NoError(t, err)
	}
}

func TestWhatARoleDoesNotAllowGoesBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	setup := func(t *testing.T) (*dbtest.World, int64, *store.Claim) {
		t.Helper()
		b := newBench(t)
		b.create(2)
		ada := b.Contributors[0]
		return b.World, ada, b.claim(ada, pipeline.KindSubtask)
	}
	lost := func(t *testing.T, w *dbtest.World, user int64, c *store.Claim, reason string) {
		t.Helper()
		_, err := w.Store.LiveClaim(ctx, user, c.ID)
		require.Error(t, err)
		var status, said string
		require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT n.status, (SELECT reason FROM task_events e WHERE e.task_id = n.task_id
			AND e.kind = 'release' ORDER BY seq DESC LIMIT 1) FROM task_nodes n WHERE task_id = $1 AND key = $2`, c.TaskID, c.Node).Scan(&status, &said))
		require.Equal(t, "available", status)
		require.Equal(t, reason, said)
	}
	t.Run("removed from the project", func(t *testing.T) {
		t.Parallel()
		w, ada, c := setup(t)
		require.NoError(t, w.Store.RemoveProjectMember(ctx, projectAdmin(w), ada))
		lost(t, w, ada, c, "removed from the project")
		require.Equal(t, fault.NotFound, fault.KindOf(w.Store.RemoveProjectMember(ctx, projectAdmin(w), ada)))
	})
	t.Run("removed after handing in", func(t *testing.T) {
		t.Parallel()
		w, ada, c := setup(t)
		words := raw(`{"answer":"42","sure":true}`)
		first, err := w.Store.Submit(ctx, ada, c.ID, words)
		require.NoError(t, err)
		require.NoError(t, w.Store.RemoveProjectMember(ctx, projectAdmin(w), ada))
		again, err := w.Store.Submit(ctx, ada, c.ID, words)
		require.NoError(t, err, "the first answer may have been lost")
		require.Equal(t, []any{true, first.TaskID, first.Node, first.Seq}, []any{again.Repeated, again.TaskID, again.Node, again.Seq})
		_, err = w.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"43","sure":true}`))
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		_, err = w.Store.Submit(ctx, w.Contributors[1], c.ID, words)
		require.Equal(t, fault.NotFound, fault.KindOf(err), "of nobody else's")
	})
	t.Run("another role", func(t *testing.T) {
		t.Parallel()
		w, ada, c := setup(t)
		require.NoError(t, w.Store.SetProjectRole(ctx, projectAdmin(w), ada, store.RoleReviewer))
		lost(t, w, ada, c, "role changed")
	})
	t.Run("a wider role keeps the claim", func(t *testing.T) {
		t.Parallel()
		w, ada, c := setup(t)
		require.NoError(t, w.Store.SetProjectRole(ctx, projectAdmin(w), ada, store.RoleProjectAdmin))
		_, err := w.Store.LiveClaim(ctx, ada, c.ID)
		require.NoError(t, err)
	})
	t.Run("an org admin without a role in the project is demoted", func(t *testing.T) {
		t.Parallel()
		w, _, _ := setup(t)
		require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), w.Outsider, store.OrgRoleAdmin))
		c := (&bench{World: w, t: t}).claim(w.Outsider, pipeline.KindSubtask)
		require.NoError(t, w.Store.SetOrgRole(ctx, orgAdmin(w), w.Outsider, store.OrgRoleMember))
		lost(t, w, w.Outsider, c, "role changed")
	})
	t.Run("removed from the organization", func(t *testing.T) {
		t.Parallel()
		w, ada, c := setup(t)
		hash := sha256.Sum256([]byte("session"))
		require.NoError(t, w.Store.CreateSession(ctx, w.User(t, ada), hash, "", time.Hour))
		require.NoError(t, w.Store.RemoveMember(ctx, orgAdmin(w), ada))
		lost(t, w, ada, c, "removed from the organization")
		_, err := w.Store.SessionUser(ctx, hash)
		require.Equal(t, fault.Unauthorized, fault.KindOf(err))
	})
}

func TestProjectRolesAreTheProjectsOwn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	by := projectAdmin(w)
	require.NoError(t, w.Store.SetProjectRole(ctx, by, w.Outsider, store.RoleReviewer))
	m, err := w.Store.MemberOfProject(ctx, w.Outsider, w.ProjectID)
	require.NoError(t, err)
	require.Equal(t, store.RoleReviewer, m.Role)

	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.SetProjectRole(ctx, by, other.Admin, store.RoleReviewer)))
	require.Equal(t, fault.Conflict, fault.KindOf(w.Store.SetProjectRole(ctx, by, w.Admin, store.RoleReviewer)))
	require.Equal(t, fault.Conflict, fault.KindOf(w.Store.RemoveProjectMember(ctx, by, w.Admin)))
	require.NoError(t, w.Store.SetProjectRole(ctx, orgAdminIn(w), w.ProjectAdmin, store.RoleContributor))
	require.Equal(t, fault.Forbidden, fault.KindOf(w.Store.SetProjectRole(ctx, by, w.Outsider, store.RoleContributor)))
}

// orgAdminIn is the world's admin acting on its project.
func orgAdminIn(w *dbtest.World) store.Member {
	m := orgAdmin(w)
	m.ProjectID = w.ProjectID
	return m
}

func TestProjects(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	made, err := w.Store.CreateProject(ctx, orgAdmin(w), "  Second ")
	require.NoError(t, err)
	require.Equal(t, "Second", made.Name)
	_, err = w.Store.CreateProject(ctx, orgAdmin(w), "Second")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	_, err = w.Store.CreateProject(ctx, orgAdmin(other), "Second")
	require.NoError(t, err, "names are the organization's own")

	own, err := w.Store.CreateProject(ctx, store.Member{UserID: w.ProjectAdmin, OrgID: w.OrgID, ProjectAdmin: true}, "Own")
	require.NoError(t, err)
	m, err := w.Store.MemberOfProject(ctx, w.ProjectAdmin, own.ID)
	require.NoError(t, err)
	require.Equal(t, store.RoleProjectAdmin, m.Role)
	_, err = w.Store.MemberOfProject(ctx, w.ProjectAdmin, made.ID)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = w.Store.CreateProject(ctx, store.Member{UserID: w.Contributors[0], OrgID: w.OrgID}, "No")
	require.Equal(t, fault.Forbidden, fault.KindOf(err))

	renamed, err := w.Store.RenameProject(ctx, m, "Renamed")
	require.NoError(t, err)
	require.Equal(t, store.MyProject{ID: own.ID, Name: "Renamed", Role: store.RoleProjectAdmin, Pipelines: []store.MyPipeline{}}, renamed)
	_, err = w.Store.RenameProject(ctx, m, "Second")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	for _, name := range []string{"", " \t", "a\x00b", "a\nb"} {
		_, err = w.Store.RenameProject(ctx, m, name)
		require.Equal(t, fault.Validation, fault.KindOf(err), "%q", name)
	}
	admin, err := w.Store.Administers(ctx, w.ProjectAdmin)
	require.NoError(t, err)
	require.True(t, admin)
	admin, err = w.Store.Administers(ctx, w.Contributors[0])
	require.NoError(t, err)
	require.False(t, admin)
}
