package edge

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
)

// TestAnOperationMayTakeLongerThanItsBody: the time that a body has to arrive
// must not bound the work that follows, nor end later requests of the same
// connection.
func TestAnOperationMayTakeLongerThanItsBody(t *testing.T) {
	t.Parallel()
	const forBody = 20 * time.Millisecond
	router := chi.NewRouter()
	api := humachi.New(router, huma.DefaultConfig("test", "1"))
	api.UseMiddleware(NewReader().Middleware(api, func([]byte) error { return nil }))
	outlive := func(ctx context.Context) error {
		timer := time.NewTimer(10 * forBody)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return huma.Error500InternalServerError("the request was cancelled")
		}
	}
	register := func(method, path string) huma.Operation {
		return huma.Operation{OperationID: path[1:], Method: method, Path: path, MaxBodyBytes: 1000, BodyReadTimeout: forBody}
	}
	huma.Register(api, register(http.MethodPost, "/with"), func(ctx context.Context, _ *struct {
		Body struct {
			X int `json:"x"`
		}
	},
	) (*struct{}, error) {
		return nil, outlive(ctx)
	})
	huma.Register(api, register(http.MethodPost, "/optional"), func(ctx context.Context, _ *struct {
		Body *struct {
			X int `json:"x"`
		}
	},
	) (*struct{}, error) {
		return nil, outlive(ctx)
	})
	huma.Register(api, register(http.MethodGet, "/without"), func(ctx context.Context, _ *struct{}) (*struct{}, error) {
		return nil, ctx.Err()
	})
	server := httptest.NewServer(router)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxConnsPerHost = 1 // one connection for all
	for _, q := range []struct{ method, path, body string }{
		{http.MethodPost, "/with", `{"x": 1}`},
		{http.MethodGet, "/without", ""},
		{http.MethodPost, "/optional", ""},
		{http.MethodGet, "/without", ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), q.method, server.URL+q.path, bytes.NewReader([]byte(q.body)))
		require.NoError(t, err)
		if q.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNoContent, res.StatusCode, "%s %s", q.method, q.path)
	}
}

// TestABodyThatStopsIsAnsweredAndCutOff: who announces more than they send gets
// the error, and holds the connection no longer.
func TestABodyThatStopsIsAnsweredAndCutOff(t *testing.T) {
	t.Parallel()
	rd := NewReader()
	rd.arrival, rd.rest = 50*time.Millisecond, 50*time.Millisecond
	server := httptest.NewServer(Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := rd.Read(w, r, 1000)
		WriteError(w, r, err)
	})))
	t.Cleanup(server.Close)
	for name, sent := range map[string]string{
		"announced": "Content-Length: 100\r\n\r\n{",
		"chunked":   "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: taskloom.test\r\nContent-Type: application/json\r\n"+sent)
		require.NoError(t, err, name)
		received := bufio.NewReader(conn)
		res, err := http.ReadResponse(received, nil)
		require.NoError(t, err, name)
		require.Equal(t, http.StatusBadRequest, res.StatusCode, name)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err, name)
		require.Contains(t, string(body), "invalid_request", name)
		require.Contains(t, string(body), "send it in parts", "%s: what helps", name)
		require.NoError(t, res.Body.Close())
		_, err = received.ReadByte()
		require.ErrorIs(t, err, io.EOF, "%s: the connection is closed", name)
		require.NoError(t, conn.Close())
	}
}
