package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDoctorAsksWhatABrowserAsks(t *testing.T) {
	t.Parallel()
	const origin = "https://taskloom.example.com"
	for name, c := range map[string]struct {
		status                   int
		origin, methods, headers string
		want                     verdict
	}{
		"as it should be":    {http.StatusNoContent, origin, "GET, HEAD, PUT", "Content-Type", fine},
		"open to all":        {http.StatusOK, "*", "*", "*", fine},
		"no rule":            {http.StatusForbidden, "", "", "", failure},
		"another origin":     {http.StatusOK, "https://other.example.com", "PUT", "*", failure},
		"reading only":       {http.StatusOK, origin, "GET, HEAD", "*", failure},
		"no content type":    {http.StatusOK, origin, "PUT", "x-amz-acl", failure},
		"no word about CORS": {http.StatusOK, "", "", "", failure},
	} {
		var asked http.Header
		store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.Header
			w.Header().Set("Access-Control-Allow-Origin", c.origin)
			w.Header().Set("Access-Control-Allow-Methods", c.methods)
			w.Header().Set("Access-Control-Allow-Headers", c.headers)
			w.WriteHeader(c.status)
		}))
		f := preflight(t.Context(), store.URL+"/bucket/key?X-Amz-Signature=x", origin)
		require.Equal(t, c.want, f.verdict, "%s: %s", name, f.text)
		require.Equal(t, c.want != fine, f.wayOut != "", name)
		require.Equal(t, origin, asked.Get("Origin"))
		require.Equal(t, "PUT", asked.Get("Access-Control-Request-Method"))
		store.Close()
		f = preflight(t.Context(), store.URL, origin)
		require.Equal(t, warning, f.verdict, "it may be out of our reach, but in that of browsers")
	}
}
