package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answering serves path with status, and nothing else.
func answering(t *testing.T, path string, status int) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	})
	mux.HandleFunc("GET /elsewhere", func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// addr sets ADDR to the port of a server, at the given host.
func addr(host, server string) []string {
	return []string{"ADDR=" + host + server[strings.LastIndex(server, ":"):]}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	ready := answering(t, "/readyz", http.StatusOK)
	unready := answering(t, "/readyz", http.StatusServiceUnavailable)
	moved := answering(t, "/readyz", http.StatusFound)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		environ []string
		url     []string
		says    string // empty: healthy
	}{
		"ready":                         {nil, []string{ready + "/readyz"}, ""},
		"ready at ADDR":                 {addr("127.0.0.1", ready), nil, ""},
		"ready at every address":        {addr("0.0.0.0", ready), nil, ""},
		"ready, whatever PUBLIC_URL is": {append(addr("", ready), "PUBLIC_URL=https://taskloom.test"), nil, ""},
		"the settings do not matter …":  {[]string{"ADDR=nonsense"}, []string{ready + "/readyz"}, ""},
		"… with no address either":      {append(addr("127.0.0.1", ready), "LOG_LEVEL=loud", "DATABASE_MAX_CONNS=x"), nil, ""},
		"not ready":                     {nil, []string{unready + "/readyz"}, "503 Service Unavailable"},
		"not ready at ADDR":             {addr("127.0.0.1", unready), nil, "503 Service Unavailable"},
		"redirected":                    {nil, []string{moved + "/readyz"}, "302 Found"},
		"another path":                  {nil, []string{ready + "/"}, "404 Not Found"},
		"nobody there":                  {nil, []string{gone.URL}, "connection refused"},
		"no address":                    {nil, []string{"127.0.0.1:8080"}, "write http://host:port/path"},
		"two addresses":                 {nil, []string{ready, ready}, "at most 1 arg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, c.environ, "", append([]string{"healthcheck"}, c.url...)...)
			require.Empty(t, got.out)
			if c.says == "" {
				require.Equal(t, outcome{}, got)
				return
			}
			require.Equal(t, 1, got.code)
			require.Contains(t, got.err, c.says)
			require.Equal(t, 1, strings.Count(got.err, "\n"), got.err)
		})
	}
}

func TestHealthcheckDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done() // until who asked has given up
	}))
	t.Cleanup(s.Close)
	got := command(t, nil, "", "healthcheck", s.URL)
	<-asked
	require.Equal(t, 1, got.code)
	require.Equal(t, "taskloom: "+s.URL+" did not answer within 2s\n", got.err)
}
