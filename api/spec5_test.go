package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// Rows of section 5.

func TestSpec5_1_EveryEndpointButHealthNeedsAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, r := range [][2]string{
		{http.MethodGet, b.workflow("")},
		{http.MethodGet, b.workflow("/schema")},
		{http.MethodPost, b.workflow("/tasks")},
		{http.MethodGet, b.workflow("/tasks")},
		{http.MethodGet, b.workflow("/tasks/1")},
		{http.MethodGet, "/workflows/abc"},
	} {
		a := b.do(t, r[0], "/api/v1"+r[1], nil)
		fails(t, a, http.StatusUnauthorized, "missing_api_key")
		require.Contains(t, a.Header.Get("WWW-Authenticate"), "Bearer")
	}
}

func TestSpec5_2_BothKeyHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/api/v1" + b.workflow("")
	for name, headers := range map[string][]header{
		"bearer":                       {with("Authorization", "Bearer "+b.KeyValue)},
		"bearer in lower case":         {with("Authorization", "bearer "+b.KeyValue)},
		"key header":                   {with("X-API-Key", b.KeyValue)},
		"both alike":                   {with("X-API-Key", b.KeyValue), with("Authorization", "Bearer "+b.KeyValue)},
		"another scheme beside it":     {with("X-API-Key", b.KeyValue), with("Authorization", "Basic dTpw")},
		"an empty one beside it":       {with("X-API-Key", b.KeyValue), with("Authorization", "Bearer ")},
		"an empty key header":          {with("X-API-Key", ""), with("Authorization", "Bearer "+b.KeyValue)},
		"white space around the value": {with("X-API-Key", "  "+b.KeyValue+" ")},
	} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, path, nil, headers...).Status, name)
	}
}

func TestSpec5_3_InvalidAPIKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unknown := apikey.Prefix + strings.Repeat("0", 40)
	for name, headers := range map[string][]header{
		"wrong prefix":     {with("X-API-Key", "pk_test_"+strings.Repeat("0", 40))},
		"unknown":          {with("X-API-Key", unknown)},
		"too short":        {with("X-API-Key", b.KeyValue[:47])},
		"too long":         {with("X-API-Key", b.KeyValue+"0")},
		"upper case":       {with("X-API-Key", strings.ToUpper(b.KeyValue))},
		"not hexadecimal":  {with("X-API-Key", b.KeyValue[:47]+"g")},
		"no key at all":    {with("Authorization", "Bearer hello")},
		"scheme forgotten": {with("Authorization", b.KeyValue)},
		"both, different":  {with("X-API-Key", b.KeyValue), with("Authorization", "Bearer "+unknown)},
		"two key headers": {with("X-API-Key", b.KeyValue), func(r *http.Request) {
			r.Header.Add("X-API-Key", unknown)
		}},
	} {
		a := b.do(t, http.MethodGet, "/api/v1"+b.workflow(""), nil, headers...)
		require.Equal(t, "invalid_api_key", a.code(), name)
		fails(t, a, http.StatusUnauthorized, "invalid_api_key")
		require.NotContains(t, string(a.Raw), b.KeyValue, "a key is never repeated")
	}
}

func TestSpec5_3_MissingAPIKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, h := range []header{
		with("Authorization", "Basic dXNlcjpwYXNz"), with("Authorization", "Bearer"), with("Authorization", "Bearer   "),
		with("X-API-Key", " "), without("X-API-Key"),
	} {
		fails(t, b.do(t, http.MethodGet, "/api/v1"+b.workflow(""), nil, h), http.StatusUnauthorized, "missing_api_key")
	}
}

func TestSpec5_3_ExpiredAndRevokedActAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	b.exec(t, `UPDATE api_keys SET expires_at = now()`)
	fails(t, b.v1(t, http.MethodGet, b.workflow(""), nil), http.StatusUnauthorized, "invalid_api_key")
	b.exec(t, `UPDATE api_keys SET expires_at = now() + interval '1 hour'`)
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	_, err := b.Store.RevokeKey(t.Context(), b.OrgID, b.KeyID, b.Admin)
	require.NoError(t, err)
	fails(t, b.v1(t, http.MethodGet, b.workflow(""), nil), http.StatusUnauthorized, "invalid_api_key")
}

// The body of a creation may be on its way for minutes.
func TestSpec5_3_ARevocationStopsWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"once": "", "with a key for retries": "Idempotency-Key: k\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			server := httptest.NewServer(b.handler)
			t.Cleanup(server.Close)
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			answers := bufio.NewReader(conn)
			body := mustJSON(t, questions(2))
			fmt.Fprintf(conn, "POST /api/v1%s HTTP/1.1\r\nHost: taskloom.test\r\nX-API-Key: %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: %d\r\n%sExpect: 100-continue\r\n\r\n",
				b.workflow("/tasks"), b.KeyValue, len(body), more)
			// It asks for the body once the key has let the request in.
			res, err := http.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusContinue, res.StatusCode)
			_, err = conn.Write(body[:len(body)/2])
			require.NoError(t, err)
			_, err = b.Store.RevokeKey(t.Context(), b.OrgID, b.KeyID, b.Admin)
			require.NoError(t, err)
			_, err = conn.Write(body[len(body)/2:])
			require.NoError(t, err)

			res, err = http.ReadResponse(answers, nil)
			require.NoError(t, err)
			a := answer{Status: res.StatusCode, Header: res.Header}
			a.Raw, err = io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(a.Raw, &a.Body), "%s", a.Raw)
			fails(t, a, http.StatusUnauthorized, "invalid_api_key")
			require.Contains(t, a.message(), "revoked")
			require.Zero(t, b.rows(t))
		})
	}
}

func TestSpec5_3_TheKeyIsCheckedBeforeTheBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, body := range []string{"{", strings.Repeat("x", 33<<20)} {
		a := b.do(t, http.MethodPost, "/api/v1"+b.workflow("/tasks"), body, with("Content-Type", "text/plain"))
		fails(t, a, http.StatusUnauthorized, "missing_api_key")
	}
}

func TestSpec5_4_AKeyReachesItsOwnOrganizationOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	// The creator belongs to both organizations; the key does not.
	b.exec(t, `INSERT INTO org_members (org_id, user_id, role) VALUES ($1, $2, 'org_admin')`, other.OrgID, b.Admin)
	there := &bench{World: other, handler: b.handler, logs: b.logs}
	there.KeyValue = b.KeyValue
	fails(t, there.v1(t, http.MethodGet, there.workflow(""), nil), http.StatusNotFound, "not_found")
}

func TestSpec5_6_AKeyOutlivesItsCreatorOutsideOfZIP(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.RemoveUser(t, b.Admin)
	id := b.created(t, 1)[0]
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow("/tasks"), nil).Status)
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow("/tasks/%v", id), nil).Status)
}

func TestSpec5_AKeyIsNeverLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.v1(t, http.MethodGet, b.workflow(""), nil)
	b.v1(t, http.MethodGet, b.workflow("?key=%s", b.KeyValue), nil)
	b.do(t, http.MethodGet, "/api/v1"+b.workflow(""), nil, with("Authorization", "Bearer "+b.KeyValue+"0"))
	require.NotContains(t, b.logs.text(), b.KeyValue)
	require.NotContains(t, b.logs.text(), apikey.Prefix)
}
