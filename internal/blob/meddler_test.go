package blob_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
)

// meddler is a bad way to the real object store.
type meddler struct {
	store    *blob.Store
	requests atomic.Int64
	// before may answer a request itself, the nth since the last `start`; after
	// may change the answer.
	before func(n int64, w http.ResponseWriter, r *http.Request) (answered bool)
	after  func(n int64, res *http.Response)
	// over ends what hangs.
	over chan struct{}
}

func passOn(to *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // what is signed
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
}

type nth struct{}

func meddle(t testing.TB) *meddler {
	t.Helper()
	c := gateway(t)
	to, err := url.Parse(c.Endpoint)
	require.NoError(t, err)
	m := &meddler{over: make(chan struct{})}
	proxy := passOn(to)
	proxy.ModifyResponse = func(res *http.Response) error {
		if m.after != nil {
			m.after(res.Request.Context().Value(nth{}).(int64), res)
		}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := m.requests.Add(1)
		if m.before != nil && m.before(n, w, r) {
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), nth{}, n)))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(m.over) })
	c.Endpoint = server.URL
	m.store = blob.Open(c).StallAfter(500 * time.Millisecond)
	return m
}

// start begins the counting.
func (m *meddler) start() { m.requests.Store(0) }

// slowDown is how S3 says that it has too much to do.
func slowDown(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
}

func (m *meddler) hang() { <-m.over }

// cut ends the connection after n bytes of the answer.
func cut(res *http.Response, n int64) {
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(res.Body, n), readerFunc(func([]byte) (int, error) {
		panic(http.ErrAbortHandler)
	})), res.Body}
}

// replace answers with another content.
func replace(res *http.Response, content []byte) {
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(content))
	res.ContentLength = int64(len(content))
	res.Header.Del("Content-Length")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func contextWithCause(t testing.TB) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}
