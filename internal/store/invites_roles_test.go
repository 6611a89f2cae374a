package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// A role that was taken does not come back by an invite of before.
func TestAChangedRoleEndsInvitesToItsHolder(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *dbtest.World, int64){
		"by an admin": func(t *testing.T, w *dbtest.World, nina int64) {
			t.Helper()
			require.NoError(t, w.Store.SetProjectRole(t.Context(), projectAdmin(w), nina, store.RoleContributor))
			requireOpen(t, w, map[string]bool{"organization": false, "elsewhere": true, "reviews": true})
			for _, role := range []string{store.OrgRoleAdmin, store.OrgRoleMember} {
				require.NoError(t, w.Store.SetOrgRole(t.Context(), orgAdmin(w), nina, role))
			}
			requireOpen(t, w, map[string]bool{"elsewhere": false, "reviews": false})
		},
		"by a document": func(t *testing.T, w *dbtest.World, _ int64) {
			t.Helper()
			var project string
			require.NoError(t, w.Store.Pool().QueryRow(t.Context(), `SELECT name FROM projects WHERE id = $1`, w.ProjectID).Scan(&project))
			in := func(users, projects string) {
				_, err := applyDoc(t, w.Store, fmt.Sprintf(`{"organizations": [{"slug": %q, "users": [%s], "projects": [%s]}]}`, w.Slug, users, projects))
				require.NoError(t, err)
			}
			in(`{"email": "nina@new.test"}`, fmt.Sprintf(`{"name": %q, "members": [{"email": "nina@new.test", "role": "contributor"}]}`, project))
			requireOpen(t, w, map[string]bool{"organization": false, "elsewhere": true, "reviews": true})
			for _, role := range []string{store.OrgRoleAdmin, store.OrgRoleMember} {
				in(fmt.Sprintf(`{"email": "nina@new.test", "role": %q}`, role), "")
			}
			requireOpen(t, w, map[string]bool{"elsewhere": false, "reviews": false})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dbtest.NewWorld(t)
			second, err := w.Store.CreateProject(t.Context(), orgAdmin(w), "Second")
			require.NoError(t, err)
			_, err = w.Store.CreateInvite(t.Context(), orgAdmin(w), store.NewInvite{
				Email: "nina@new.test", Role: store.OrgRoleMember, Hash: token("accepted"),
				Projects: []store.ProjectGrant{{ProjectID: w.ProjectID, Role: store.RoleProjectAdmin}},
			})
			require.NoError(t, err)
			nina, err := accept(t.Context(), w, "accepted")
			require.NoError(t, err)
			// As one of before, which nobody makes to a member.
			for name, grant := range map[string]store.ProjectGrant{
				"organization": {ProjectID: w.ProjectID, Role: store.RoleProjectAdmin},
				"elsewhere":    {ProjectID: second.ID, Role: store.RoleProjectAdmin},
				"reviews":      {ProjectID: w.ProjectID, Role: store.RoleReviewer}, // no role of members is changed by it
			} {
				_, err = w.Store.CreateInvite(t.Context(), orgAdmin(w), store.NewInvite{
					Email: name + "@new.test", Role: store.OrgRoleMember, Hash: token(name),
					Projects: []store.ProjectGrant{grant},
				})
				require.NoError(t, err)
				_, err = w.Store.Pool().Exec(t.Context(), `UPDATE invites SET email = 'nina@new.test' WHERE email = $1`, name+"@new.test")
				require.NoError(t, err)
			}
			requireOpen(t, w, map[string]bool{"organization": true, "elsewhere": true, "reviews": true})
			change(t, w, nina.ID)
		})
	}
}

func requireOpen(t *testing.T, w *dbtest.World, open map[string]bool) {
	t.Helper()
	for name, want := range open {
		_, err := w.Store.InviteByToken(t.Context(), token(name))
		if want {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, fault.Conflict, fault.KindOf(err), name)
	}
}
