package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/conformance"
)

func TestConformancePrepare(t *testing.T) {
	t.Parallel()
	environ := append(database(t), "PUBLIC_URL=http://taskloom.test")
	var first, second conformance.Target
	for _, target := range []*conformance.Target{&first, &second} {
		got := command(t, environ, "", "conformance", "prepare")
		require.Zero(t, got.code, got.err)
		require.NoError(t, json.Unmarshal([]byte(got.out), target))
	}
	require.Equal(t, "http://taskloom.test", first.BaseURL)
	for _, key := range []string{first.Key, first.SpareKey, first.RevokedKey, first.ExpiredKey, first.RemovedCreatorKey} {
		require.Regexp(t, `^pk_live_[0-9a-f]{40}$`, key)
	}
	require.NotEqual(t, first.Key, second.Key, "new keys")
	first.Key, first.SpareKey, first.RevokedKey, first.ExpiredKey, first.RemovedCreatorKey = second.Key, second.SpareKey,
		second.RevokedKey, second.ExpiredKey, second.RemovedCreatorKey
	require.Equal(t, first, second, "the same workflows")
	list := command(t, environ, "", "key", "list", "--org", conformance.Organization).out
	for _, word := range []string{"revoked", "expired", "(removed)"} {
		require.Contains(t, list, word)
	}
}

func TestConformanceRuns(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path + " " + r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "target.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"url": "http://nowhere.test", "workflow": 7}`), 0o600))
	environ := []string{keyVariable + "=pk_live_x"}
	run := func(args ...string) outcome {
		return command(t, environ, "", append([]string{"conformance", "--target", file, "--url", server.URL}, args...)...)
	}
	got := run("--only", "4-health")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "ok    4-health")
	<-asked // whether anybody is there
	require.Equal(t, "/api/v1/health ", <-asked, "the flag wins over the file")
	got = run("--only", "5.2-bearer,4-foreign", "--output", "json", "--workflow", "9")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, `"reason": "needs --foreign-workflow"`)
	<-asked
	require.Equal(t, "/api/v1/workflows/9 Bearer pk_live_x", <-asked)
	require.Equal(t, 1, run("--only", "4-foreign", "--no-skips").code)
	failing := run("--only", "2-workflow-name", "--output", "junit")
	require.Equal(t, 1, failing.code)
	require.Contains(t, failing.out, `failures="1"`)
	require.Empty(t, failing.err, "the report says it")
}

func TestConformanceRefusals(t *testing.T) {
	t.Parallel()
	for words, args := range map[string][]string{
		"--url":                  {"--key", "k", "--workflow", "1"},
		"--key":                  {"--url", "http://127.0.0.1:1", "--workflow", "1"},
		"no answer":              {"--url", "http://127.0.0.1:1", "--key", "k", "--workflow", "1"},
		"text, json or junit":    {"--output", "xml"},
		"cannot read the target": {"--target", "/nonexistent"},
		"no JSON object":         {"--item", "7"},
	} {
		got := command(t, nil, "", append([]string{"conformance"}, args...)...)
		require.Equal(t, 1, got.code)
		require.Contains(t, got.err, words)
	}
}
