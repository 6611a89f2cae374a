package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
)

// person is somebody with a session, or without one when cookie is nil.
type person struct {
	b      *bench
	cookie *http.Cookie
}

// login logs a person of the world in.
func (b *bench) login(t *testing.T, name string) person {
	t.Helper()
	return b.loginAs(t, b.Email(name))
}

func (b *bench) loginAs(t *testing.T, email string) person {
	t.Helper()
	a := b.console(t, http.MethodPost, "/login", map[string]any{"email": email, "password": dbtest.Password})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	return person{b: b, cookie: cookieOf(t, a)}
}

func cookieOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: a.Header}).Cookies()
	require.Len(t, cookies, 1)
	return cookies[0]
}

// console calls the console API without a session.
func (b *bench) console(t *testing.T, method, path string, body any, headers ...header) answer {
	t.Helper()
	return b.do(t, method, "/api/console"+path, body, headers...)
}

// do calls the console API as the person.
func (p person) do(t *testing.T, method, path string, body any, headers ...header) answer {
	t.Helper()
	if p.cookie != nil {
		headers = append([]header{func(r *http.Request) { r.AddCookie(p.cookie) }}, headers...)
	}
	return p.b.console(t, method, path, body, headers...)
}

// ok calls the console API and wants the status.
func (p person) ok(t *testing.T, status int, method, path string, body any) map[string]any {
	t.Helper()
	a := p.do(t, method, path, body)
	require.Equal(t, status, a.Status, "%s %s: %s\n%s", method, path, a.Raw, p.b.logs.text())
	return a.Body
}

// refused calls the console API and wants an error.
func (p person) refused(t *testing.T, status int, code, method, path string, body any) answer {
	t.Helper()
	a := p.do(t, method, path, body)
	require.Equal(t, status, a.Status, "%s %s: %s", method, path, a.Raw)
	require.Equal(t, code, a.code())
	require.NotEmpty(t, a.message())
	return a
}

// claim claims the next node of the world's pipeline.
func (p person) claim(t *testing.T, role string) map[string]any {
	t.Helper()
	return p.ok(t, http.StatusOK, http.MethodPost, p.b.pipeline("/claim"), map[string]any{"role": role})
}

// pipeline is the console path of the world's pipeline.
func (b *bench) pipeline(rest string) string {
	return fmt.Sprintf("/pipelines/%d%s", b.PipelineID, rest)
}

// onClaim is the console path of a claim.
func onClaim(claim map[string]any, rest string) string {
	return fmt.Sprintf("/claims/%s%s", claim["claim_id"], rest)
}

func values(pairs ...any) map[string]any {
	v := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i].(string)] = pairs[i+1]
	}
	return map[string]any{"values": v}
}
