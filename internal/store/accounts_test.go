package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func TestMember(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	elsewhere := w.AddProject(t, "Elsewhere")
	elsewherePipeline, _ := w.AddPipelineTo(t, elsewhere, dbtest.Definition(), store.StatusActive)
	removed := w.AddUser(t, "removed", store.OrgRoleAdmin, store.RoleProjectAdmin)
	w.RemoveUser(t, removed)
	var task int64
	require.NoError(t, w.Store.Pool().QueryRow(ctx, `
		INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input)
		VALUES ($1, $2, $3, 1, 1, '{}') RETURNING id`, w.OrgID, w.PipelineID, w.VersionID).Scan(&task))

	lookups := map[string]func(user int64) (store.Member, error){
		"pipeline": func(u int64) (store.Member, error) { return w.Store.MemberOfPipeline(ctx, u, w.PipelineID) },
		"project":  func(u int64) (store.Member, error) { return w.Store.MemberOfProject(ctx, u, w.ProjectID) },
		"task":     func(u int64) (store.Member, error) { return w.Store.MemberOfTask(ctx, u, task) },
	}
	for what, lookup := range lookups {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for user, want := range map[int64]store.Member{
				w.Admin:           {OrgAdmin: true},
				w.ProjectAdmin:    {Role: store.RoleProjectAdmin},
				w.Contributors[0]: {Role: store.RoleContributor},
				w.Reviewers[0]:    {Role: store.RoleReviewer},
			} {
				got, err := lookup(user)
				require.NoError(t, err)
				want.UserID, want.OrgID, want.ProjectID = user, w.OrgID, w.ProjectID
				if what != "project" {
					want.PipelineID = w.PipelineID
				}
				require.Equal(t, want, got)
			}
			for who, user := range map[string]int64{
				"no role in the project": w.Outsider, "removed": removed,
				"another organization": other.Admin, "nobody": 1 << 40,
			} {
				_, err := lookup(user)
				require.Equal(t, fault.NotFound, fault.KindOf(err), who)
			}
		})
	}

	t.Run("organization", func(t *testing.T) {
		t.Parallel()
		m, err := w.Store.MemberOfOrg(ctx, w.Admin, w.OrgID)
		require.NoError(t, err)
		require.Equal(t, store.Member{UserID: w.Admin, OrgID: w.OrgID, OrgAdmin: true}, m)
		m, err = w.Store.MemberOfOrg(ctx, w.Outsider, w.OrgID)
		require.NoError(t, err)
		require.False(t, m.Admin())
		for _, user := range []int64{removed, other.Admin} {
			_, err = w.Store.MemberOfOrg(ctx, user, w.OrgID)
			require.Equal(t, fault.NotFound, fault.KindOf(err))
		}
	})

	t.Run("a role reaches no other project, an org admin reaches all", func(t *testing.T) {
		t.Parallel()
		_, err := w.Store.MemberOfPipeline(ctx, w.ProjectAdmin, elsewherePipeline)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		_, err = w.Store.MemberOfProject(ctx, w.Contributors[0], elsewhere)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		m, err := w.Store.MemberOfPipeline(ctx, w.Admin, elsewherePipeline)
		require.NoError(t, err)
		require.True(t, m.Admin())
	})
}

func TestMemberCanWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m               store.Member
		subtask, review bool
	}{
		{store.Member{}, false, false},
		{store.Member{Role: store.RoleContributor}, true, false},
		{store.Member{Role: store.RoleReviewer}, false, true},
		{store.Member{Role: store.RoleProjectAdmin}, true, true},
		{store.Member{OrgAdmin: true}, true, true},
	} {
		require.Equal(t, c.subtask, c.m.CanWork(pipeline.KindSubtask), c.m)
		require.Equal(t, c.review, c.m.CanWork(pipeline.KindReview), c.m)
		require.False(t, c.m.CanWork(pipeline.KindStart))
		require.False(t, c.m.CanWork(pipeline.KindEnd))
	}
}

func TestUserByEmail(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	u, err := w.Store.UserByEmail(t.Context(), " Admin1@ACME.test ")
	require.NoError(t, err)
	require.Equal(t, w.Admin, u.ID)
	require.NotEmpty(t, u.PasswordHash)

	require.NoError(t, w.Store.RenewPasswordHash(t.Context(), u.ID, "not the old one", "lost"))
	require.NoError(t, w.Store.RenewPasswordHash(t.Context(), u.ID, u.PasswordHash, "renewed"))
	u, err = w.Store.UserByEmail(t.Context(), u.Email)
	require.NoError(t, err)
	require.Equal(t, "renewed", u.PasswordHash)

	w.RemoveUser(t, w.Admin)
	for _, email := range []string{u.Email, "nobody@acme.test"} {
		_, err = w.Store.UserByEmail(t.Context(), email)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
	}
}

func TestMe(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	elsewhere := w.AddProject(t, "Elsewhere")
	draft, _ := w.AddPipeline(t, dbtest.Simple(), store.StatusDraft)

	me, err := w.Store.Me(ctx, w.Contributors[0])
	require.NoError(t, err)
	require.Equal(t, []store.MyOrg{{
		ID: w.OrgID, Slug: "acme", Name: "acme", Role: store.OrgRoleMember,
		Projects: []store.MyProject{{
			ID: w.ProjectID, Name: "Main", Role: store.RoleContributor,
			Pipelines: []store.MyPipeline{{ID: w.PipelineID, Name: "Math check", Status: store.StatusActive}},
		}},
	}}, me.Orgs)
	orgs, err := w.Store.MyOrgs(ctx, w.Contributors[0])
	require.NoError(t, err)
	require.Equal(t, []store.MyOrg{{ID: w.OrgID, Slug: "acme", Name: "acme", Role: store.OrgRoleMember}}, orgs, "without their projects")
	require.Equal(t, "contributor1@acme.test", me.User.Email)
	require.Empty(t, me.User.PasswordHash)

	me, err = w.Store.Me(ctx, w.ProjectAdmin)
	require.NoError(t, err)
	require.Len(t, me.Orgs[0].Projects, 1)
	require.Equal(t, []store.MyPipeline{
		{ID: draft, Name: "Math", Status: store.StatusDraft},
		{ID: w.PipelineID, Name: "Math check", Status: store.StatusActive},
	}, me.Orgs[0].Projects[0].Pipelines)

	me, err = w.Store.Me(ctx, w.Admin)
	require.NoError(t, err)
	require.Len(t, me.Orgs, 1)
	require.Equal(t, []store.MyProject{{ID: elsewhere, Name: "Elsewhere", Role: store.RoleProjectAdmin, Pipelines: []store.MyPipeline{}}},
		me.Orgs[0].Projects[:1])
	require.Len(t, me.Orgs[0].Projects[1].Pipelines, 2)

	me, err = w.Store.Me(ctx, w.Outsider)
	require.NoError(t, err)
	require.Empty(t, me.Orgs[0].Projects)

	w.RemoveUser(t, w.Outsider)
	me, err = w.Store.Me(ctx, w.Outsider)
	require.NoError(t, err)
	require.Empty(t, me.Orgs)
	orgs, err = w.Store.MyOrgs(ctx, w.Outsider)
	require.NoError(t, err)
	require.Empty(t, orgs)
}

func TestRemoveUser(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	leaver, both := w.Contributors[0], w.Contributors[1]
	_, err := w.Store.Pool().Exec(ctx, `INSERT INTO org_members (org_id, user_id, role) VALUES ($1, $2, 'member')`,
		other.OrgID, both)
	require.NoError(t, err)
	session := func(user int64, name string) [32]byte {
		hash := sha256.Sum256([]byte(name))
		require.NoError(t, w.Store.CreateSession(ctx, w.User(t, user), hash, "", time.Hour))
		return hash
	}
	gone, kept := session(leaver, "gone"), session(both, "kept")

	require.NoError(t, w.Store.RemoveUser(ctx, "acme", "Contributor1@acme.test"))
	require.NoError(t, w.Store.RemoveUser(ctx, "acme", "contributor2@acme.test"))

	_, err = w.Store.MemberOfPipeline(ctx, leaver, w.PipelineID)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = w.Store.SessionUser(ctx, gone)
	require.Equal(t, fault.Unauthorized, fault.KindOf(err))
	var sessions int
	require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM sessions WHERE user_id = $1`, leaver).Scan(&sessions))
	require.Zero(t, sessions)
	_, err = w.Store.SessionUser(ctx, kept)
	require.NoError(t, err, "still a member of the other organization")

	for _, email := range []string{"contributor1@acme.test", "nobody@acme.test", "admin1@other.test"} {
		err = w.Store.RemoveUser(ctx, "acme", email)
		require.Equal(t, fault.NotFound, fault.KindOf(err), email)
	}
	err = w.Store.RemoveUser(ctx, "nowhere", "admin1@acme.test")
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	require.NoError(t, w.Store.RemoveUser(ctx, "acme", "admin1@acme.test"))
	key, err := w.Store.KeyByName(ctx, w.OrgID, "test")
	require.NoError(t, err)
	require.True(t, key.CreatorRemoved)
	require.Equal(t, "admin1@acme.test", key.CreatedByEmail)
}
