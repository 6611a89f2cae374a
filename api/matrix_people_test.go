package api_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// addPeopleRows adds the rows of the matrix about members, invites and what
// everybody keeps for themselves.
func addPeopleRows(table map[string]row) {
	var token string // of the invite that ready made last
	invite := func(t *testing.T, b *bench, ids map[string]string) {
		t.Helper()
		token = newInvite(t, b, ids)
	}
	named := func() any { return map[string]any{"name": rand.Text()} }
	someone := func(role string) func() any {
		return func() any {
			return map[string]any{"email": strings.ToLower(rand.Text()) + "@new.test", "role": role}
		}
	}
	someAdmins := [8]int{A, A, 403, 403, 404, A, 404, 401}
	maps.Copy(table, map[string]row{
		"lookupInvite": {want: everybody, ready: invite, body: func() any { return map[string]any{"token": token} }},
		"acceptInvite": {want: everybody, ready: invite, body: func() any {
			return map[string]any{"token": token, "name": "New", "password": dbtest.Password}
		}},
		"getInfo": {want: people}, "getSettings": {want: people}, "listSessions": {want: people}, "endOtherSessions": {want: people},
		"putSetting": {want: people, body: map[string]any{"value": "wide"}, ready: func(_ *testing.T, _ *bench, ids map[string]string) {
			ids["{key}"] = "density"
		}},
		"changePassword": {want: people, body: map[string]any{"current": dbtest.Password, "password": dbtest.Password}},
		"endSession":     {want: holder, ready: newSession},

		"listOrgMembers":  {want: orgAdmins},
		"setOrgRole":      {want: orgAdmins, body: map[string]any{"role": "org_admin"}, ready: newMember},
		"removeOrgMember": {want: orgAdmins, ready: newMember},
		"createProject":   {want: someAdmins, body: named},

		"renameProject":       {want: admins, body: named},
		"listProjectMembers":  {want: admins},
		"setProjectRole":      {want: admins, body: map[string]any{"role": "reviewer"}, ready: newMember},
		"removeProjectMember": {want: admins, ready: newMember},

		"createInvite": {want: orgAdmins, body: someone("member")}, "createProjectInvite": {want: admins, body: someone("reviewer")},
		"listInvites": {want: orgAdmins}, "listProjectInvites": {want: admins},
		"revokeInvite": {want: orgAdmins, ready: invite}, "revokeProjectInvite": {want: admins, ready: invite},
	})
}

// newMember adds a contributor for calls that change them.
func newMember(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	id := b.AddUser(t, strings.ToLower(rand.Text()), store.OrgRoleMember, store.RoleContributor)
	ids["{user_id}"] = strconv.FormatInt(id, 10)
}

// newSession opens another session of the contributor.
func newSession(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	hash := sha256.Sum256([]byte(rand.Text()))
	require.NoError(t, b.Store.CreateSession(t.Context(), b.User(t, b.Contributors[0]), hash, "", time.Hour))
	sessions, err := b.Store.Sessions(t.Context(), b.Contributors[0])
	require.NoError(t, err)
	at := slices.IndexFunc(sessions, func(s store.Session) bool { return s.Hash == hash })
	ids["{session_id}"] = strconv.FormatInt(sessions[at].ID, 10)
}

// newInvite makes an invite of the project and returns its token.
func newInvite(t *testing.T, b *bench, ids map[string]string) string {
	t.Helper()
	token := base64.RawURLEncoding.EncodeToString([]byte(rand.Text()))
	by := store.Member{UserID: b.Admin, OrgID: b.OrgID, ProjectID: b.ProjectID, OrgAdmin: true}
	made, err := b.Store.CreateInvite(t.Context(), by, store.NewInvite{
		Email: strings.ToLower(rand.Text()) + "@new.test", Role: store.OrgRoleMember, OfProject: true,
		Projects: []store.ProjectGrant{{ProjectID: b.ProjectID, Role: store.RoleContributor}}, Hash: sha256.Sum256([]byte(token)),
	})
	require.NoError(t, err)
	ids["{invite_id}"] = strconv.FormatInt(made.ID, 10)
	return token
}
