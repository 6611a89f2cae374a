package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/store"
)

// minutely are rates of so many a minute.
func minutely(key, address, failedAuth int64) limit.Rates {
	return limit.Rates{
		limit.Key: {Limit: key, Period: time.Minute}, limit.Address: {Limit: address, Period: time.Minute},
		limit.FailedAuth: {Limit: failedAuth, Period: time.Minute},
	}
}

// limited is a bench with rates, counted in this process.
func limited(t *testing.T, rates limit.Rates, more ...func(*api.Deps)) *bench {
	t.Helper()
	return serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.Limits = limit.Memory(rates)
		for _, change := range more {
			change(d)
		}
	})
}

func from(addr string) header {
	return func(r *http.Request) { r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(addr), 1234).String() }
}

// keyless calls the External API without a key.
func (b *bench) keyless(t *testing.T, method, path string, headers ...header) answer {
	t.Helper()
	return b.do(t, method, "/api/v1"+path, nil, headers...)
}

// tooMany checks a 429: the wait is in it twice, and is not for nothing.
func tooMany(t *testing.T, a answer) (wait time.Duration) {
	t.Helper()
	fails(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, seconds, 1)
	require.InDelta(t, seconds, a.Body["retry_after"], 0)
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	require.Empty(t, a.Header.Get("WWW-Authenticate"))
	return time.Duration(seconds) * time.Second
}

// left is how much a bucket still has, as the answer tells.
func left(t *testing.T, a answer, bucket string) int {
	t.Helper()
	var r, wait int
	_, err := fmt.Sscanf(a.Header.Get("RateLimit"), `"`+bucket+`";r=%d;t=%d`, &r, &wait)
	require.NoError(t, err, "%q", a.Header.Get("RateLimit"))
	require.Positive(t, wait)
	return r
}

func TestSpec8_ABucketForEachKey(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(3, 100, 100))
	path := "/api/v1" + b.workflow("")
	for i, h := range []header{
		with("X-API-Key", b.KeyValue), with("Authorization", "Bearer "+b.KeyValue), with("X-API-Key", b.KeyValue),
	} {
		a := b.do(t, http.MethodGet, path, nil, h, from(fmt.Sprintf("192.0.2.%d", i)))
		require.Equal(t, http.StatusOK, a.Status)
		require.Equal(t, `"key";q=3;w=60`, a.Header.Get("RateLimit-Policy"))
		require.Equal(t, 2-i, left(t, a, "key"))
	}
	a := b.v1(t, http.MethodGet, b.workflow(""), nil)
	wait := tooMany(t, a)
	require.Greater(t, wait, 50*time.Second)
	require.LessOrEqual(t, wait, 62*time.Second)
	require.Equal(t, fmt.Sprintf("too many requests; wait %d seconds", int(wait/time.Second)), a.message())
	require.Equal(t, 0, left(t, a, "key"))
	require.Contains(t, a.Header.Get("RateLimit"), fmt.Sprintf("t=%d", int(wait/time.Second)), "both say the same")

	other := strings.Repeat("ab", 20)
	_, err := b.Store.CreateKey(t.Context(), b.OrgID, b.Admin, "other", apikey.Hash(apikey.Prefix+other), other[36:], nil, b.Admin)
	require.NoError(t, err)
	a = b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-API-Key", apikey.Prefix+other))
	require.Equal(t, http.StatusOK, a.Status, "another key has a bucket of its own")
}

// Nothing is done for a request that is refused: its body is not even asked for.
func TestWhatIsRefusedIsNotWorkedOn(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(1, 1, 1))
	b.created(t, 1)
	before := b.rows(t)
	read := make(chan struct{}, 1)
	tooMany(t, b.create(t, signal{read}, with("Expect", "100-continue")))
	require.Empty(t, read)
	require.Equal(t, before, b.rows(t))
	tooMany(t, b.create(t, `{`))
	tooMany(t, b.v1(t, http.MethodGet, b.workflow("/tasks?cursor=bad"), nil))
}

// Refusals are repeated for a moment without a look at the key; one that was
// revoked meanwhile is told so all the same.
func TestARevokedKeyThatFloodsIsToldSo(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(1, 100, 1000))
	b.v1(t, http.MethodGet, b.workflow(""), nil)
	tooMany(t, b.v1(t, http.MethodGet, b.workflow(""), nil))
	tooMany(t, b.v1(t, http.MethodGet, b.workflow(""), nil))
	keys, err := b.Store.Keys(t.Context(), b.OrgID)
	require.NoError(t, err)
	for _, k := range keys {
		_, err = b.Store.RevokeKey(t.Context(), b.OrgID, k.ID, b.Admin)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		return b.v1(t, http.MethodGet, b.workflow(""), nil).Status == http.StatusUnauthorized
	}, 10*time.Second, 50*time.Millisecond)
}

func TestWhoWaitsAsToldIsAdmitted(t *testing.T) {
	t.Parallel()
	b := limited(t, limit.Rates{limit.Key: {Limit: 1, Period: time.Second}})
	for range 2 {
		var refused answer
		require.Eventually(t, func() bool {
			refused = b.v1(t, http.MethodGet, b.workflow(""), nil)
			return refused.Status == http.StatusTooManyRequests
		}, 10*time.Second, time.Millisecond)
		<-time.After(tooMany(t, refused))
		require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	}
}

// What needs no key counts for the address, whatever it is: the health check,
// documents, paths and methods that are none.
func TestSpec8_ABucketForEachAddress(t *testing.T) {
	t.Parallel()
	open := [][2]string{
		{http.MethodGet, "/health"},
		{http.MethodHead, "/health"},
		{http.MethodGet, "/docs"},
		{http.MethodGet, "/openapi.json"},
		{http.MethodGet, "/openapi-3.0.json"},
		{http.MethodGet, "/nothing"},
		{http.MethodGet, "/"},
		{http.MethodDelete, "/health"},
		{http.MethodPut, "/workflows/1/tasks"},
		{http.MethodGet, ""},
	}
	all := int64(len(open))
	b := limited(t, minutely(100, all, 100))
	for i, call := range open {
		a := b.keyless(t, call[0], call[1])
		require.NotEqual(t, http.StatusTooManyRequests, a.Status)
		require.Contains(t, a.Header.Get("RateLimit"), `"address";r=`, "%s %s", call[0], call[1])
		require.Equal(t, len(open)-1-i, left(t, a, "address"), "%s %s", call[0], call[1])
	}
	for _, call := range open {
		a := b.keyless(t, call[0], call[1])
		require.Equal(t, http.StatusTooManyRequests, a.Status, "%s %s", call[0], call[1])
	}
	tooMany(t, b.keyless(t, http.MethodGet, "/health"))
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status, "a key has its own bucket")
	require.Equal(t, http.StatusOK, b.keyless(t, http.MethodGet, "/health", from("192.0.2.99")).Status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/healthz", nil).Status, "probes are not limited")
}

// A method that the router does not know is limited as well, and meets all else
// that stands before the path; the log has it as it came.
func TestSpec8_UnknownMethodsAreLimited(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(100, 2, 100))
	for i := range 2 {
		a := b.keyless(t, "FOO", "/health")
		fails(t, a, http.StatusMethodNotAllowed, "api_error")
		require.JSONEq(t, `{"error": "api_error", "message": "other is not possible here; use GET or HEAD"}`, string(a.Raw))
		require.Equal(t, "GET, HEAD", a.Header.Get("Allow"))
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		require.Equal(t, 1-i, left(t, a, "address"))
	}
	tooMany(t, b.keyless(t, "FOO", "/health"))
	tooMany(t, b.keyless(t, "get", "/nothing"))
	tooMany(t, b.keyless(t, http.MethodOptions, "/health"))
	lines := b.logs.lines(t)
	require.Equal(t, "FOO", lines[0]["method"])
	require.Equal(t, "unmatched", lines[0]["route"])
	a := b.console(t, "FOO", "/login", nil, with("Sec-Fetch-Site", "cross-site"))
	require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Raw)
}

// A key that is sent where none is needed is the one that pays, in the bucket
// that it has anyway.
func TestSpec8_OpenPathsCountForTheKeyThatIsSent(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(2, 1, 100))
	require.Equal(t, 1, left(t, b.v1(t, http.MethodGet, "/health", nil), "key"))
	require.Equal(t, 0, left(t, b.v1(t, http.MethodGet, b.workflow(""), nil), "key"))
	tooMany(t, b.v1(t, http.MethodGet, "/health", nil))
	tooMany(t, b.v1(t, http.MethodGet, b.workflow(""), nil))
	a := b.keyless(t, http.MethodGet, "/health", with("X-API-Key", "no key at all"))
	require.Equal(t, 0, left(t, a, "address"), "what is no key counts for the address")
	tooMany(t, b.keyless(t, http.MethodGet, "/health"))
}

func TestSpec5_7_FailedAuthenticationsAreLimited(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(100, 100, 3))
	path := b.workflow("")
	for i, h := range []header{
		without("X-API-Key"), with("X-API-Key", apikey.Prefix+strings.Repeat("0", 40)), with("Authorization", "Bearer hello"),
	} {
		a := b.keyless(t, http.MethodGet, path, h)
		require.Equal(t, http.StatusUnauthorized, a.Status)
		require.Equal(t, 2-i, left(t, a, "failed_auth"))
		require.Equal(t, `"failed_auth";q=3;w=60`, a.Header.Get("RateLimit-Policy"))
	}
	a := b.keyless(t, http.MethodGet, path)
	tooMany(t, a)
	require.Contains(t, a.message(), "check the key")
	tooMany(t, b.keyless(t, http.MethodPost, b.workflow("/tasks"), with("X-API-Key", "guess")))
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, path, nil).Status, "a good key passes from that address, too")
	require.Equal(t, http.StatusUnauthorized, b.keyless(t, http.MethodGet, path, from("192.0.2.99")).Status)
	require.Equal(t, http.StatusOK, b.keyless(t, http.MethodGet, "/health").Status, "nor is the address shut out")
}

// A database that is away is no failed authentication.
func TestOnlyBadKeysAreFailedAuthentications(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.Limits = limit.Memory(minutely(100, 100, 1))
		st, err := store.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", store.Options{MaxConns: 1})
		require.NoError(t, err)
		t.Cleanup(st.Close)
		d.Store = st
	})
	for range 3 {
		a := b.v1(t, http.MethodGet, b.workflow(""), nil)
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Empty(t, a.Header.Get("RateLimit"))
	}
	require.Equal(t, http.StatusUnauthorized, b.keyless(t, http.MethodGet, b.workflow("")).Status)
}

func TestNobodyMovesTheirAddress(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(100, 2, 2), func(d *api.Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for _, c := range []struct {
		path   string
		status int
	}{{"/health", http.StatusOK}, {b.workflow(""), http.StatusUnauthorized}} {
		get := func(peer, forwarded string) int {
			return b.keyless(t, http.MethodGet, c.path, from(peer), with("X-Forwarded-For", forwarded), with("X-Real-Ip", forwarded),
				with("Forwarded", "for="+forwarded), with("True-Client-Ip", forwarded)).Status
		}
		for i := range 2 {
			require.Equal(t, c.status, get("192.0.2.1", fmt.Sprintf("198.51.100.%d", i)))
		}
		require.Equal(t, http.StatusTooManyRequests, get("192.0.2.1", "198.51.100.9"), "not from a proxy: made up")
		require.Equal(t, http.StatusTooManyRequests, get("10.0.0.1", "198.51.100.9, 192.0.2.1"), "the proxy's word counts, what is left of it does not")
		require.Equal(t, c.status, get("10.0.0.1", "192.0.2.2"))
		for i := range 2 {
			require.Equal(t, c.status, get(fmt.Sprintf("2001:db8:1:2::%d", i), ""))
		}
		require.Equal(t, http.StatusTooManyRequests, get("2001:db8:1:2:ffff::9", ""), "a household has a whole /64")
		require.Equal(t, c.status, get("2001:db8:1:3::1", ""))
	}
}

// Each MiB that a body begins after the first costs one more, and refuses only
// what comes next.
func TestLargeBodiesCostMore(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(10, 100, 100))
	padded := func(size int) []byte {
		body := mustJSON(t, questions(1))
		return append(body, bytes.Repeat([]byte(" "), size-len(body))...)
	}
	for _, c := range []struct{ size, left int }{{1 << 20, 9}, {1<<20 + 1, 7}, {4 << 20, 3}, {8 << 20, 0}} {
		a := b.create(t, padded(c.size))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
		require.Equal(t, c.left, left(t, a, "key"), c.size)
	}
	tooMany(t, b.create(t, padded(100)))
}

func TestWithoutLimitsNothingIsSaid(t *testing.T) {
	t.Parallel()
	for _, b := range []*bench{setup(t), limited(t, limit.Rates{}), limited(t, limit.Rates{limit.Key: {}})} {
		for range 5 {
			for _, a := range []answer{
				b.v1(t, http.MethodGet, b.workflow(""), nil), b.keyless(t, http.MethodGet, "/health"), b.keyless(t, http.MethodGet, b.workflow("")),
			} {
				require.NotEqual(t, http.StatusTooManyRequests, a.Status)
				require.Empty(t, a.Header.Get("RateLimit"))
				require.Empty(t, a.Header.Get("RateLimit-Policy"))
			}
		}
	}
}

func TestRefusalsAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	b := limited(t, minutely(1, 1, 1), func(d *api.Deps) { d.Metrics = reg })
	for range 3 {
		b.v1(t, http.MethodGet, b.workflow(""), nil)
		b.keyless(t, http.MethodGet, "/health")
	}
	require.Equal(t, map[string]float64{"key": 2, "address": 2, "failed_auth": 0}, metric(t, reg, "taskloom_rate_limited_total", "bucket"))
	require.Equal(t, map[string]float64{"": 1}, metric(t, reg, "taskloom_rate_limit_store_up", ""))
	marked := 0
	for _, line := range b.logs.lines(t) {
		if line["rate_limited"] != nil {
			marked++
		}
	}
	require.Equal(t, 4, marked)
}

// Whoever is to stop a guesser must know where they are: the log has the network of
// those who are refused for it, as it counts, and of nobody else.
func TestTheLogHasTheNetworkOfWhoIsRefusedForIt(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(1, 1, 1))
	for range 2 {
		b.v1(t, http.MethodGet, b.workflow(""), nil)
		b.keyless(t, http.MethodGet, "/health", from("192.0.2.7"))
		b.keyless(t, http.MethodGet, b.workflow(""), from("2001:db8:1:2::7"))
	}
	told := map[any]any{}
	for _, line := range b.logs.lines(t) {
		if bucket := line["rate_limited"]; bucket != nil {
			told[bucket] = line["client"]
		} else {
			require.NotContains(t, line, "client")
		}
	}
	require.Equal(t, map[any]any{"key": nil, "address": "192.0.2.7", "failed_auth": "2001:db8:1:2::/64"}, told)
}

// metric returns the values of a metric by one of its labels.
func metric(t *testing.T, reg *prometheus.Registry, name, label string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			value := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == label {
					value = l.GetValue()
				}
			}
			out[value] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return out
}

func TestMadeUpKeysDoNotEscapeTheAddress(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.Limits = limit.Memory(limit.Rates{
			limit.Key: {Limit: 100, Period: time.Hour}, limit.Address: {Limit: 2, Period: time.Hour},
		})
	})
	for i := range 20 {
		key := fmt.Sprintf("pk_live_%040x", i)
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/api/v1/health", nil, with("X-API-Key", key)).Status)
	}
	fails(t, b.do(t, http.MethodGet, "/api/v1/health", nil, with("X-API-Key", fmt.Sprintf("pk_live_%040x", 20))), 429, "rate_limit_exceeded")
}
