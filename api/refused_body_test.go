package api_test

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
)

// Who sends all of a large body before they look for the answer is told why they were
// refused, whatever it was that refused them.
func TestWhoSendsFirstHearsTheRefusal(t *testing.T) {
	t.Parallel()
	b := limited(t, minutely(2, 100, 100))
	server := httptest.NewServer(b.handler)
	t.Cleanup(server.Close)
	tasks, json := b.workflow("/tasks"), with("Content-Type", "application/json")
	for _, row := range []struct {
		name, path string
		change     header
		size       int
		status     int
	}{
		{"no such key", tasks, with("X-API-Key", apikey.Prefix+strings.Repeat("0", 40)), 16 << 20, http.StatusUnauthorized},
		{"nor may it be as large", tasks, with("X-API-Key", apikey.Prefix+strings.Repeat("0", 40)), 40 << 20, http.StatusUnauthorized},
		{"no JSON", tasks, with("Content-Type", "text/csv"), 16 << 20, http.StatusUnsupportedMediaType},
		{"no such workflow", "/workflows/987654321/tasks", json, 16 << 20, http.StatusNotFound},
		{"too often", tasks, json, 16 << 20, http.StatusTooManyRequests},
		{"too often again", tasks, json, 16 << 20, http.StatusTooManyRequests},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/v1"+row.path, bytes.NewReader(make([]byte, row.size)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-API-Key", b.KeyValue)
		row.change(req)
		require.NoError(t, req.Write(conn), "%s: everything is sent before the answer is read", row.name)
		res, err := http.ReadResponse(bufio.NewReader(conn), req)
		require.NoError(t, err, row.name)
		require.Equal(t, row.status, res.StatusCode, row.name)
		require.NoError(t, res.Body.Close())
		require.NoError(t, conn.Close())
	}
	require.Zero(t, b.count(t, `SELECT count(*) FROM tasks`))
}
