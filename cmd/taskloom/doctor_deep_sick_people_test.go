package main

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// projectSicknesses have organizations and projects change without a word.
var projectSicknesses = []sickness{{branch: "an organization", make: func(w *ward) string {
	w.exec(`DELETE FROM audit_log WHERE action = 'organization.create'`)
	return fmt.Sprintf("organization %d (acme): no row says who made it", w.OrgID)
}}, {branch: "a project", make: func(w *ward) string {
	return fmt.Sprintf("project %d (Chess) of organization %d: no row says who made it", w.AddProject(w.t, "Chess"), w.OrgID)
}}, {branch: "a name", make: func(w *ward) string {
	_, err := w.Store.RenameProject(w.t.Context(), w.member(w.ProjectAdmin), "Chess")
	require.NoError(w.t, err)
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "a name by the product")
	w.exec(`UPDATE projects SET name = 'Go'`)
	return fmt.Sprintf("project %d (Go) of organization %d: the last row says that its name is Chess", w.ProjectID, w.OrgID)
}}, {branch: "a role", make: func(w *ward) string {
	w.exec(`UPDATE project_members SET role = 'project_admin' WHERE user_id = $1`, w.Contributors[0])
	return w.roleUnsaid(w.Contributors[0], store.RoleProjectAdmin)
}}, {branch: "a role given back", make: func(w *ward) string {
	m := w.member(w.ProjectAdmin)
	require.NoError(w.t, w.Store.SetProjectRole(w.t.Context(), m, w.Contributors[0], store.RoleReviewer))
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "a role by the product")
	w.exec(`UPDATE project_members SET role = 'contributor' WHERE user_id = $1`, w.Contributors[0])
	return w.roleUnsaid(w.Contributors[0], store.RoleContributor)
}}, {branch: "a role that had ended", make: func(w *ward) string {
	require.NoError(w.t, w.Store.RemoveProjectMember(w.t.Context(), w.member(w.ProjectAdmin), w.Contributors[0]))
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "an end by the product")
	w.exec(`INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'contributor')`, w.OrgID, w.ProjectID, w.Contributors[0])
	return w.roleUnsaid(w.Contributors[0], store.RoleContributor)
}}, {branch: "a role from before a removal", make: func(w *ward) string {
	require.NoError(w.t, w.Store.RemoveUser(w.t.Context(), w.Slug, w.Email("contributor1")))
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "a removal by the product")
	w.exec(`INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'contributor')`, w.OrgID, w.ProjectID, w.Contributors[0])
	return w.roleUnsaid(w.Contributors[0], store.RoleContributor)
}}, {branch: "a role after an acceptance", make: func(w *ward) string {
	eve := w.accept("eve")
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "an acceptance by the product")
	w.exec(`UPDATE project_members SET role = 'project_admin' WHERE user_id = $1`, eve)
	return w.roleUnsaid(eve, store.RoleProjectAdmin)
}}, {branch: "a role of who made the project", make: func(w *ward) string {
	made, err := w.Store.CreateProject(w.t.Context(), w.member(w.ProjectAdmin), "Chess")
	require.NoError(w.t, err)
	require.Contains(w.t, section(w.t, w.deep().out, "projects-audited"), "ok  ", "a project by the product")
	w.exec(`UPDATE project_members SET role = 'reviewer' WHERE project_id = $1`, made.ID)
	return fmt.Sprintf("user %d in project %d of organization %d: is reviewer, but no row says so", w.ProjectAdmin, made.ID, w.OrgID)
}}}

// inviteSicknesses have invites come and end without a word.
var inviteSicknesses = []sickness{{branch: "made", make: func(w *ward) string {
	w.exec(`INSERT INTO invites (org_id, email, hash, role, invited_by, expires_at)
		VALUES ($1, 'eve@acme.test', sha256('x'), 'member', $2, now() + interval '1 day')`, w.OrgID, w.Admin)
	return fmt.Sprintf(" of organization %d: no row says who made it", w.OrgID)
}}, {branch: "accepted", make: func(w *ward) string {
	i := w.invite("eve")
	w.exec(`UPDATE invites SET accepted_at = now(), accepted_by = $1`, w.Outsider)
	return fmt.Sprintf("invite %d of organization %d: accepted by user %d, but no row says so", i.ID, w.OrgID, w.Outsider)
}}, {branch: "revoked", make: func(w *ward) string {
	first := w.invite("eve")
	second := w.invite("eve")
	require.NotEqual(w.t, first.ID, second.ID)
	require.NoError(w.t, w.Store.RevokeInvite(w.t.Context(), store.Member{UserID: w.Admin, OrgID: w.OrgID}, second.ID))
	require.Contains(w.t, section(w.t, w.deep().out, "invites-audited"), "ok  ", "invites that the product replaced and revoked")
	third := w.invite("eve")
	w.exec(`UPDATE invites SET revoked_at = now() WHERE id = $1`, third.ID)
	return fmt.Sprintf("invite %d of organization %d: no row says what revoked it", third.ID, w.OrgID)
}}}
