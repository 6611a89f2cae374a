package s3proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// object is what the store behind the proxy holds.
var object = bytes.Repeat([]byte("0123456789abcdef"), 16<<10)

func proxied(t *testing.T) *Proxy {
	t.Helper()
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			_, _ = io.Copy(w, r.Body)
			return
		}
		w.Header().Set("ETag", `"true"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(object))
	}))
	t.Cleanup(store.Close)
	p, err := Listen(t.Context(), store.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func ask(t *testing.T, p *Proxy, method, span string, body io.Reader) (*http.Response, []byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.URL()+"/bucket/key", body)
	require.NoError(t, err)
	if span != "" {
		req.Header.Set("Range", "bytes="+span)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res, got, err
}

func TestItPassesOn(t *testing.T) {
	t.Parallel()
	p := proxied(t)
	res, got, err := ask(t, p, http.MethodGet, "100-199", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusPartialContent, res.StatusCode)
	require.Equal(t, object[100:200], got)
	_, got, err = ask(t, p, http.MethodPut, "", strings.NewReader("content"))
	require.NoError(t, err)
	require.Equal(t, "content", string(got))
	require.EqualValues(t, 2, p.Requests())
	require.Zero(t, p.Harmed())
}

func TestItGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	p := proxied(t)
	p.Down()
	p.Down()
	_, _, err := ask(t, p, http.MethodGet, "", nil)
	require.Error(t, err)
	require.NoError(t, p.Up(t.Context()))
	require.NoError(t, p.Up(t.Context()))
	_, got, err := ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.Equal(t, object, got)
}

func TestItCutsAndSlows(t *testing.T) {
	t.Parallel()
	p := proxied(t)
	p.Set(Way{Pass: 1, Cut: 1000})
	_, got, err := ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.Len(t, got, len(object))
	_, got, err = ask(t, p, http.MethodGet, "", nil)
	require.Error(t, err)
	require.LessOrEqual(t, len(got), 1000)
	_, _, err = ask(t, p, http.MethodPut, "", bytes.NewReader(object))
	require.Error(t, err)
	require.EqualValues(t, 2, p.Harmed())

	p.Set(Way{Rate: len(object)})
	began := time.Now()
	_, got, err = ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.Equal(t, object, got)
	require.Greater(t, time.Since(began), 500*time.Millisecond)

	p.Set(Way{Delay: 300 * time.Millisecond, Jitter: 50 * time.Millisecond})
	began = time.Now()
	_, _, err = ask(t, p, http.MethodHead, "", nil)
	require.NoError(t, err)
	require.Greater(t, time.Since(began), 240*time.Millisecond)
}

func TestItLies(t *testing.T) {
	t.Parallel()
	p := proxied(t)
	p.Set(Truncated())
	res, _, err := ask(t, p, http.MethodHead, "", nil)
	require.NoError(t, err)
	require.EqualValues(t, len(object)/2, res.ContentLength)
	res, got, err := ask(t, p, http.MethodGet, "131000-132000", nil)
	require.NoError(t, err)
	require.Equal(t, "bytes 131000-131071/131072", res.Header.Get("Content-Range"))
	require.Equal(t, object[131000:131072], got)
	res, _, err = ask(t, p, http.MethodGet, "200000-200001", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestedRangeNotSatisfiable, res.StatusCode)

	p.Set(OtherTag())
	res, got, err = ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.NotEqual(t, `"true"`, res.Header.Get("ETag"))
	require.Equal(t, object, got)

	p.Set(SlowDown())
	res, got, err = ask(t, p, http.MethodPut, "", strings.NewReader("content"))
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Contains(t, string(got), "SlowDown")

	p.Set(Redirects())
	res, _, err = ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, res.StatusCode)
	require.Contains(t, res.Header.Get("Location"), p.URL()+"/bucket/key?turn=1")

	p.Set(Garbage(http.StatusInternalServerError, 1<<20))
	res, got, err = ask(t, p, http.MethodGet, "", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, res.StatusCode)
	require.GreaterOrEqual(t, len(got), 1<<20)
}

func TestALorisStaysOne(t *testing.T) {
	t.Parallel()
	p := proxied(t)
	p.Set(Loris())
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+"/bucket/key", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	p.Set(Way{})
	got, err := io.ReadAll(res.Body)
	require.ErrorIs(t, errors.Join(err, ctx.Err()), context.DeadlineExceeded)
	require.Less(t, len(got), 5)
}
