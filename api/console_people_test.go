package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/api/console"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

const newPassword = "a password of a newcomer"

func (b *bench) org(rest string, args ...any) string {
	return fmt.Sprintf("/orgs/%d", b.OrgID) + fmt.Sprintf(rest, args...)
}

func (b *bench) project(rest string, args ...any) string {
	return fmt.Sprintf("/projects/%d", b.ProjectID) + fmt.Sprintf(rest, args...)
}

// inviteToken makes an invite to the organization and returns its token.
func (b *bench) inviteToken(t *testing.T, email, role string) string {
	t.Helper()
	body := map[string]any{"email": email, "role": role, "projects": []any{map[string]any{"project_id": b.ProjectID, "role": "contributor"}}}
	made := b.login(t, "admin1").ok(t, http.StatusCreated, http.MethodPost, b.org("/invites"), body)
	_, token, found := strings.Cut(made["url"].(string), "/invite#")
	require.True(t, found)
	require.Len(t, token, 22, "128 bits")
	return token
}

func acceptBody(token, password string) map[string]any {
	return map[string]any{"token": token, "name": "Nina", "password": password}
}

func TestInviteFromLinkToSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.inviteToken(t, "Nina@New.test", "member")

	a := b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": token})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.Equal(t, "nina@new.test", a.Body["email"])
	require.Equal(t, "acme", a.Body["organization"])
	require.Equal(t, "admin1", a.Body["invited_by"])
	require.Equal(t, false, a.Body["account_exists"])
	require.Equal(t, []any{map[string]any{"name": "Main", "role": "contributor"}}, a.Body["projects"])

	for member, body := range map[string]map[string]any{
		"password": acceptBody(token, "too short"),
		"name":     {"token": token, "name": " ", "password": newPassword},
	} {
		a = b.console(t, http.MethodPost, "/invites/accept", body)
		require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s", a.Raw)
		require.Equal(t, member, a.Body["problems"].([]any)[0].(map[string]any)["path"])
	}
	a = b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, newPassword), with("User-Agent", "Lynx/2"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.Equal(t, "Nina", a.Body["name"])
	nina := person{b: b, cookie: cookieOf(t, a)}
	require.Len(t, nina.ok(t, 200, http.MethodGet, "/projects", nil)["projects"], 1)
	sessions := nina.ok(t, 200, http.MethodGet, "/sessions", nil)["sessions"].([]any)
	require.Equal(t, "Lynx/2", sessions[0].(map[string]any)["agent"])

	for _, path := range []string{"/invites/lookup", "/invites/accept"} {
		body := acceptBody(token, newPassword)
		if path == "/invites/lookup" {
			body = map[string]any{"token": token}
		}
		a = b.console(t, http.MethodPost, path, body)
		require.Equal(t, http.StatusConflict, a.Status, "%s", a.Raw)
	}
	a = b.console(t, http.MethodPost, "/login", map[string]any{"email": "nina@new.test", "password": newPassword})
	require.Equal(t, http.StatusOK, a.Status)
}

func TestInviteOfAnAccountTakesItsPassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	token := b.inviteToken(t, other.Email("reviewer1"), "org_admin")
	a := b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": token})
	require.Equal(t, true, a.Body["account_exists"])

	a = b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, newPassword))
	require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s", a.Raw)
	require.Equal(t, "password", a.Body["problems"].([]any)[0].(map[string]any)["path"])
	require.Empty(t, a.Header.Get("Set-Cookie"))
	require.Zero(t, b.count(t, `SELECT count(*) FROM org_members WHERE org_id = $1 AND user_id = $2`, b.OrgID, other.Reviewers[0]))

	a = b.console(t, http.MethodPost, "/invites/accept", map[string]any{"token": token, "password": dbtest.Password})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	p := person{b: b, cookie: cookieOf(t, a)}
	require.Equal(t, "reviewer1", a.Body["name"], "an invite renames nobody")
	p.ok(t, 200, http.MethodGet, b.org("/members"), nil)
}

// Nobody learns where the deployment thinks it is from a header.
func TestInviteLinksLeadToTheConfiguredAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := b.login(t, "admin1")
	for _, spoofed := range []header{
		func(r *http.Request) { r.Host = "evil.test" },
		with("X-Forwarded-Host", "evil.test"), with("Forwarded", "host=evil.test"), with("X-Forwarded-Proto", "ftp"),
	} {
		a := admin.do(t, http.MethodPost, b.project("/invites"), map[string]any{"email": "nina@new.test", "role": "reviewer"}, spoofed)
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Raw)
		link, err := url.Parse(a.Body["url"].(string))
		require.NoError(t, err)
		require.Equal(t, publicURL+"/invite", link.Scheme+"://"+link.Host+link.Path)
		require.NotEmpty(t, link.Fragment)
		require.Empty(t, link.RawQuery)
	}
}

// Tokens and passwords are in no log line, no list and no row.
func TestTokensAreToldOnceOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.inviteToken(t, "nina@new.test", "member")
	b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": token})
	b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": token, "more": token})
	b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, "short"))
	list := b.login(t, "admin1").do(t, http.MethodGet, b.org("/invites"), nil)
	require.NotContains(t, string(list.Raw), token)
	a := b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, newPassword))
	require.Equal(t, http.StatusOK, a.Status)
	used := b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, newPassword))
	require.NotContains(t, string(used.Raw), token)
	nina := person{b: b, cookie: cookieOf(t, a)}
	nina.ok(t, 204, http.MethodPost, "/me/password", map[string]any{"current": newPassword, "password": newPassword + "!"})
	logged := b.logs.text()
	require.Contains(t, logged, "/invites/accept", "requests are logged")
	for _, secret := range []string{token, newPassword, nina.cookie.Value} {
		require.NotContains(t, logged, secret)
	}
	for _, table := range []string{"invites", "invite_projects", "audit_log", "sessions", "users"} {
		require.Zero(t, b.count(t, `SELECT count(*) FROM `+table+` x WHERE x::text LIKE '%' || $1 || '%'`, token), table)
	}
}

func TestGuessingTokensIsThrottled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	try := func(i int) answer {
		return b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": fmt.Sprint("guess ", i)},
			func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1" })
	}
	for i := range 60 {
		require.Equal(t, http.StatusNotFound, try(i).Status)
	}
	require.Equal(t, http.StatusTooManyRequests, try(60).Status)
	token := b.inviteToken(t, "nina@new.test", "member")
	for range 20 {
		a := b.console(t, http.MethodPost, "/invites/lookup", map[string]any{"token": token})
		require.Equal(t, http.StatusOK, a.Status, "who holds a link may look at it often")
	}
}

// A project admin gives nobody more than they have.
func TestProjectAdminsInviteIntoTheirProjectOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	manager := b.login(t, "manager1")
	made := manager.ok(t, http.StatusCreated, http.MethodPost, b.project("/invites"), map[string]any{"email": "nina@new.test", "role": "project_admin"})
	manager.refused(t, 403, "forbidden", http.MethodPost, b.org("/invites"), map[string]any{"email": "nora@new.test", "role": "member"})
	manager.refused(t, 422, "validation_error", http.MethodPost, b.project("/invites"), map[string]any{"email": "nora@new.test", "role": "org_admin"})
	elsewhere := b.AddProject(t, "Elsewhere")
	manager.refused(t, 404, "not_found", http.MethodPost, fmt.Sprintf("/projects/%d/invites", elsewhere), map[string]any{"email": "nora@new.test", "role": "reviewer"})
	b.login(t, "admin1").refused(t, 404, "not_found", http.MethodDelete, fmt.Sprintf("/projects/%d/invites/%v", elsewhere, made["id"]), nil)

	list := manager.ok(t, 200, http.MethodGet, b.project("/invites"), nil)["invites"].([]any)
	require.Len(t, list, 1)
	require.Equal(t, "open", list[0].(map[string]any)["status"])
	require.Equal(t, "member", list[0].(map[string]any)["role"])
	manager.ok(t, 204, http.MethodDelete, b.project("/invites/%v", made["id"]), nil)
	_, token, _ := strings.Cut(made["url"].(string), "#")
	a := b.console(t, http.MethodPost, "/invites/accept", acceptBody(token, newPassword))
	require.Equal(t, http.StatusConflict, a.Status)
}

func TestMembersAndRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, ada := b.login(t, "admin1"), b.login(t, "contributor1")
	members := admin.ok(t, 200, http.MethodGet, b.org("/members"), nil)["members"].([]any)
	require.Len(t, members, 7)
	require.Equal(t, []any{}, members[0].(map[string]any)["projects"])
	admin.refused(t, 409, "api_error", http.MethodPut, b.org("/members/%d", b.Admin), map[string]any{"role": "member"})
	admin.refused(t, 409, "api_error", http.MethodDelete, b.org("/members/%d", b.Admin), nil)
	admin.refused(t, 404, "not_found", http.MethodDelete, b.org("/members/%d", 1<<40), nil)
	admin.ok(t, 204, http.MethodPut, b.project("/members/%d", b.Contributors[0]), map[string]any{"role": "project_admin"})
	people := ada.ok(t, 200, http.MethodGet, b.project("/members"), nil)
	require.Len(t, people["members"], 6)
	require.Len(t, people["candidates"], 1)
	ada.ok(t, 204, http.MethodDelete, b.project("/members/%d", b.Contributors[0]), nil)
	ada.refused(t, 404, "not_found", http.MethodGet, b.project("/members"), nil)
	admin.ok(t, 204, http.MethodDelete, b.org("/members/%d", b.Contributors[0]), nil)
	ada.refused(t, 401, "unauthorized", http.MethodGet, "/me", nil)

	project := b.login(t, "manager1").ok(t, 201, http.MethodPost, b.org("/projects"), map[string]any{"name": "New"})
	require.Equal(t, "project_admin", project["role"])
	require.Equal(t, []any{}, project["pipelines"])
	admin.refused(t, 409, "api_error", http.MethodPost, b.org("/projects"), map[string]any{"name": "New "})
	require.Len(t, admin.ok(t, 200, http.MethodPut, b.project(""), map[string]any{"name": "First"})["pipelines"], 1)
}

func TestSessionsAndPassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	here, there := b.login(t, "admin1"), b.login(t, "admin1")
	sessions := here.ok(t, 200, http.MethodGet, "/sessions", nil)["sessions"].([]any)
	require.Len(t, sessions, 2)
	current := 0
	for _, s := range sessions {
		if s.(map[string]any)["current"] == true {
			current++
		}
	}
	require.Equal(t, 1, current)
	a := here.refused(t, 422, "validation_error", http.MethodPost, "/me/password", map[string]any{"current": "wrong", "password": newPassword})
	require.Equal(t, "current", a.Body["problems"].([]any)[0].(map[string]any)["path"])
	a = here.refused(t, 422, "validation_error", http.MethodPost, "/me/password", map[string]any{"current": dbtest.Password, "password": "short"})
	require.Equal(t, "password", a.Body["problems"].([]any)[0].(map[string]any)["path"])
	here.ok(t, 204, http.MethodPost, "/me/password", map[string]any{"current": dbtest.Password, "password": newPassword})
	here.ok(t, 200, http.MethodGet, "/me", nil)
	there.refused(t, 401, "unauthorized", http.MethodGet, "/me", nil)

	for range 10 {
		here.do(t, http.MethodPost, "/me/password", map[string]any{"current": "wrong", "password": newPassword})
	}
	here.refused(t, 429, "rate_limit_exceeded", http.MethodPost, "/me/password", map[string]any{"current": newPassword, "password": newPassword})
}

func TestSettingsAreOnesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := b.login(t, "admin1")
	require.Equal(t, map[string]any{}, admin.ok(t, 200, http.MethodGet, "/me/settings", nil)["settings"])
	admin.ok(t, 204, http.MethodPut, "/me/settings/views.tasks.7", map[string]any{"value": map[string]any{"name": "Mine"}})
	admin.ok(t, 204, http.MethodPut, "/me/settings/density", map[string]any{"value": "wide"})
	admin.ok(t, 204, http.MethodPut, "/me/settings/density", map[string]any{"value": nil})
	require.Equal(t, map[string]any{"views.tasks.7": map[string]any{"name": "Mine"}}, admin.ok(t, 200, http.MethodGet, "/me/settings", nil)["settings"])
	require.Equal(t, map[string]any{}, b.login(t, "manager1").ok(t, 200, http.MethodGet, "/me/settings", nil)["settings"])
	admin.refused(t, 422, "validation_error", http.MethodPut, "/me/settings/density", map[string]any{"value": strings.Repeat("x", 16<<10)})
	admin.refused(t, 413, "payload_too_large", http.MethodPut, "/me/settings/density", map[string]any{"value": strings.Repeat("x", 20<<10)})
	admin.refused(t, 404, "not_found", http.MethodPut, "/me/settings/Big", map[string]any{"value": 1})
	admin.refused(t, 422, "validation_error", http.MethodPut, "/me/settings/density", map[string]any{"value": "a\x00"})
}

func TestInfoNamesTheTemporalUIToAdminsOnly(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	b := serve(t, w, func(d *api.Deps) {
		d.About = console.About{Version: "v1.2.3", TemporalUIURL: "https://temporal.test", TemporalNamespace: "prod"}
	})
	for name, sees := range map[string]bool{"admin1": true, "manager1": true, "contributor1": false, "reviewer1": false, "outsider1": false} {
		info := b.login(t, name).ok(t, 200, http.MethodGet, "/info", nil)
		require.Equal(t, "v1.2.3", info["version"])
		require.Equal(t, []any{}, info["llm_models"])
		want := [2]any{"", ""}
		if sees {
			want = [2]any{"https://temporal.test", "prod"}
		}
		require.Equal(t, want, [2]any{info["temporal_ui_url"], info["temporal_namespace"]}, name)
	}
	require.NoError(t, w.Store.SetOrgRole(t.Context(), store.Member{UserID: w.Admin, OrgID: w.OrgID, OrgAdmin: true}, w.Outsider, store.OrgRoleAdmin))
	require.NotEmpty(t, b.login(t, "outsider1").ok(t, 200, http.MethodGet, "/info", nil)["temporal_ui_url"])
}
