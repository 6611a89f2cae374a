package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/store"
)

func TestLoginSetsASessionCookie(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.console(t, http.MethodPost, "/login", map[string]any{"email": " Contributor1@ACME.test ", "password": dbtest.Password})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	c := cookieOf(t, a)
	require.Equal(t, "sid", c.Name)
	require.True(t, c.HttpOnly)
	require.False(t, c.Secure)
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.Equal(t, "/", c.Path)
	require.GreaterOrEqual(t, len(c.Value), 43)
	require.NotContains(t, string(a.Raw), "password")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM sessions WHERE hash = sha256(convert_to($1, 'UTF8'))`, c.Value), "only the hash is stored")
	me := person{b: b, cookie: c}.ok(t, 200, http.MethodGet, "/me", nil)
	require.Equal(t, "contributor1@acme.test", me["email"])
}

func TestLoginUnderHTTPSUsesTheHostPrefix(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.PublicURL = "https://taskloom.test" })
	p := b.login(t, "admin1")
	require.Equal(t, "__Host-sid", p.cookie.Name)
	require.True(t, p.cookie.Secure)
	require.Equal(t, "/", p.cookie.Path)
	require.Empty(t, p.cookie.Domain)
	a := p.do(t, http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.NotEmpty(t, a.Header.Get("Strict-Transport-Security"))
}

func TestLoginFailuresLookAlike(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wrong := b.console(t, http.MethodPost, "/login", map[string]any{"email": b.Email("admin1"), "password": "wrong wrong wrong"})
	unknown := b.console(t, http.MethodPost, "/login", map[string]any{"email": "nobody@acme.test", "password": "wrong wrong wrong"})
	fails(t, wrong, http.StatusUnauthorized, "unauthorized")
	require.Equal(t, string(wrong.Raw), string(unknown.Raw))
	require.Empty(t, wrong.Header.Get("Set-Cookie"))
	require.Empty(t, wrong.Header.Get("WWW-Authenticate"), "no browser dialog")
}

func TestLoginIsThrottledByAccountAndAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	try := func(email string, from string) answer {
		return b.console(t, http.MethodPost, "/login", map[string]any{"email": email, "password": "wrong"},
			func(r *http.Request) { r.RemoteAddr = from + ":1234" })
	}
	for range 10 {
		require.Equal(t, http.StatusUnauthorized, try(b.Email("admin1"), "192.0.2.1").Status)
	}
	a := try(b.Email("admin1"), "192.0.2.1")
	require.Equal(t, http.StatusTooManyRequests, a.Status)
	require.Equal(t, "rate_limit_exceeded", a.code())
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests, try(strings.ToUpper(b.Email("admin1")), "192.0.2.1").Status)
	require.Equal(t, http.StatusUnauthorized, try(b.Email("admin1"), "192.0.2.2").Status, "nobody locks out somebody else")
	require.Equal(t, http.StatusUnauthorized, try(b.Email("manager1"), "192.0.2.1").Status)
}

func TestLoginRenewsTheToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "admin1")
	a := p.do(t, http.MethodPost, "/login", map[string]any{"email": b.Email("admin1"), "password": dbtest.Password})
	require.NotEqual(t, p.cookie.Value, cookieOf(t, a).Value)
	p.refused(t, 401, "unauthorized", http.MethodGet, "/me", nil)
}

// meanwhile is a store in which something happens, once, between the check of a
// password and the session that follows.
type meanwhile struct {
	*store.Store
	happens func(store.User)
}

func (s *meanwhile) CreateSession(ctx context.Context, user store.User, hash [32]byte, agent string, ttl time.Duration) error {
	if happens := s.happens; happens != nil {
		s.happens = nil
		happens(user)
	}
	return s.Store.CreateSession(ctx, user, hash, agent, ttl)
}

func TestAPasswordThatWasReplacedMeanwhileOpensNoSession(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	s := &meanwhile{Store: w.Store}
	b := serve(t, w, func(d *api.Deps) { d.Store = s })
	hash := func(plain string) string {
		h, err := password.Hash(t.Context(), plain)
		require.NoError(t, err)
		return h
	}
	change := func(u store.User) {
		require.NoError(t, w.Store.ChangePassword(t.Context(), u.ID, u.PasswordHash, hash("quite another one"), [32]byte{}))
	}
	login := func() answer {
		return b.console(t, http.MethodPost, "/login", map[string]any{"email": b.Email("manager1"), "password": dbtest.Password})
	}

	s.happens = func(u store.User) { // another login of theirs has renewed the hash
		require.NoError(t, w.Store.RenewPasswordHash(t.Context(), u.ID, u.PasswordHash, hash(dbtest.Password)))
	}
	require.Equal(t, http.StatusOK, login().Status, "it is the same password")
	require.Nil(t, s.happens)

	s.happens = change
	a := login()
	fails(t, a, http.StatusUnauthorized, "unauthorized")
	require.Equal(t, string(a.Raw), string(login().Raw), "like any wrong password")
	require.Empty(t, a.Header.Get("Set-Cookie"))
	require.Zero(t, b.count(t, `SELECT count(*) FROM sessions`))

	token := b.inviteToken(t, other.Email("reviewer1"), "member")
	s.happens = change
	a = b.console(t, http.MethodPost, "/invites/accept", map[string]any{"token": token, "password": dbtest.Password})
	fails(t, a, http.StatusConflict, "api_error")
	require.Contains(t, a.message(), "log in")
	require.Zero(t, b.count(t, `SELECT count(*) FROM sessions WHERE user_id = $1`, other.Reviewers[0]))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM org_members WHERE org_id = $1 AND user_id = $2`, b.OrgID, other.Reviewers[0]))
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "admin1")
	a := p.do(t, http.MethodPost, "/logout", nil)
	require.Equal(t, http.StatusNoContent, a.Status)
	require.Negative(t, cookieOf(t, a).MaxAge)
	require.NotEmpty(t, a.Header.Get("Clear-Site-Data"))
	p.refused(t, 401, "unauthorized", http.MethodGet, "/me", nil)
}

func TestRemovalEndsSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "contributor1")
	require.NoError(t, b.Store.RemoveUser(t.Context(), b.Slug, b.Email("contributor1")))
	p.refused(t, 401, "unauthorized", http.MethodGet, "/me", nil)
	a := b.console(t, http.MethodPost, "/login", map[string]any{"email": b.Email("contributor1"), "password": dbtest.Password})
	require.Equal(t, http.StatusUnauthorized, a.Status)
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "admin1")
	for name, headers := range map[string][]header{
		"cross-site":         {with("Sec-Fetch-Site", "cross-site")},
		"a sibling domain":   {with("Sec-Fetch-Site", "same-site")},
		"a foreign origin":   {with("Origin", "https://evil.test")},
		"the null origin":    {with("Origin", "null")},
		"our name, no HTTPS": {with("Origin", "http://taskloom.test.evil.test")},
	} {
		a := p.do(t, http.MethodPost, b.pipeline("/pause"), nil, headers...)
		require.Equal(t, http.StatusForbidden, a.Status, name)
		require.Equal(t, "forbidden", a.code())
	}
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM pipelines WHERE status = 'ACTIVE'`))
	for name, headers := range map[string][]header{
		"no browser":  nil,
		"same origin": {with("Sec-Fetch-Site", "same-origin"), with("Origin", publicURL)},
		"old browser": {with("Origin", publicURL)},
	} {
		a := p.do(t, http.MethodPost, b.pipeline("/validate"), nil, headers...)
		require.Equal(t, http.StatusOK, a.Status, name)
	}
}

func TestBodiesThatFormsCanMakeAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "admin1")
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		a := p.do(t, http.MethodPost, b.pipeline("/claim"), `{"role": "contributor"}`, with("Content-Type", ct))
		require.Equal(t, http.StatusUnsupportedMediaType, a.Status, ct)
	}
}

func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "contributor1")
	path := b.pipeline("/claim")
	p.refused(t, 422, "validation_error", http.MethodPost, path, `{"role": "contributor", "extra": 1}`)
	p.refused(t, 422, "validation_error", http.MethodPost, path, `{"role": "reviewer", "role": "contributor"}`)
	p.refused(t, 422, "validation_error", http.MethodPost, path, `{"role": "boss"}`)
	p.refused(t, 422, "validation_error", http.MethodPost, path, `{}`)
	p.refused(t, 400, "invalid_request", http.MethodPost, path, `{`)
	p.refused(t, 400, "invalid_request", http.MethodPost, path, "{\"role\": \"\xff\"}")
	p.refused(t, 413, "payload_too_large", http.MethodPost, path, `{"role": "`+strings.Repeat("x", 9<<20)+`"}`)
	p.refused(t, 404, "not_found", http.MethodPost, "/pipelines/abc/claim", `{"role": "contributor"}`)
	a := p.refused(t, 422, "validation_error", http.MethodPost, path, `{"role": "boss", "task_id": "x"}`)
	require.Len(t, a.Body["problems"], 2)
}

func TestAnswersCarrySecurityHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/api/v1/health", "/api/console/me", "/api/v1" + b.workflow("")} {
		h := b.do(t, http.MethodGet, path, nil).Header
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
		require.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"))
		require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "no-store", h.Get("Cache-Control"))
	}
}
