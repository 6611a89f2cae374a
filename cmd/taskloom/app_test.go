package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
)

const testSecretKey = "SECRET_KEY=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// outcome is what a run of the command left.
type outcome struct {
	code     int
	out, err string
}

// command runs the binary's own entry with an environment of its own.
func command(t *testing.T, environ []string, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{environ: environ, in: strings.NewReader(stdin), out: &out, err: &errs}
	code := a.run(t.Context(), args)
	return outcome{code, out.String(), errs.String()}
}

func database(t *testing.T) []string {
	t.Helper()
	return []string{"DATABASE_URL=" + dbtest.URL(t)}
}

func fullDocument(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../internal/apply/testdata/full.yaml")
	require.NoError(t, err)
	return string(data)
}

func TestFailuresNameTheWayOut(t *testing.T) {
	t.Parallel()
	nowhere := []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/db"}
	empty := []string{"DATABASE_URL=" + dbtest.EmptyURL(t)}
	for name, c := range map[string]struct {
		environ []string
		args    []string
		words   []string
	}{
		"no database set":        {nil, []string{"key", "list", "--org", "x"}, []string{"DATABASE_URL: is not set"}},
		"nothing set":            {nil, []string{"serve"}, []string{"DATABASE_URL", "SECRET_KEY", "TEMPORAL_ADDRESS"}},
		"worker with nothing":    {nil, []string{"worker"}, []string{"DATABASE_URL", "TEMPORAL_ADDRESS"}},
		"database away":          {nowhere, []string{"key", "list", "--org", "x"}, []string{"127.0.0.1:1/db", "DATABASE_URL"}},
		"database away, migrate": {nowhere, []string{"migrate"}, []string{"127.0.0.1:1/db", "DATABASE_URL"}},
		"not migrated":           {empty, []string{"user", "remove", "--org", "x", "a@b.c"}, []string{"taskloom migrate"}},
		"no such file":           {empty, []string{"apply", "-f", "/nonexistent"}, []string{"/nonexistent"}},
		"unknown output":         {empty, []string{"key", "list", "--org", "x", "-o", "xml"}, []string{"json or table"}},
		"unknown expiry":         {empty, []string{"key", "expire", "--org", "x", "--name", "k", "--expires", "2y"}, []string{"never, 30d, 90d or 1y"}},
		"missing flag":           {empty, []string{"key", "create", "--org", "x"}, []string{"name", "created-by"}},
		"unknown command":        {nil, []string{"dance"}, []string{"dance"}},
		"unknown OpenAPI":        {nil, []string{"openapi", "--version", "2.0"}, []string{"3.1 or 3.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, c.environ, "", c.args...)
			require.Equal(t, 1, got.code)
			for _, word := range c.words {
				require.Contains(t, got.err, word)
			}
			require.NotContains(t, got.err, "hunter2")
			require.Empty(t, got.out)
		})
	}
}

func TestMigrateApplyAndKeys(t *testing.T) {
	t.Parallel()
	environ := []string{"DATABASE_URL=" + dbtest.EmptyURL(t)}
	run := func(stdin string, args ...string) string {
		t.Helper()
		got := command(t, environ, stdin, args...)
		require.Zero(t, got.code, got.err)
		return got.out
	}
	require.Contains(t, run("", "migrate"), "schema: version")
	require.Contains(t, run("", "migrate"), "up to date")

	var applied struct {
		Organizations []struct {
			Slug      string
			ID        int64
			Projects  []struct{ Pipelines []struct{ ID int64 } }
			Pipelines []struct {
				Name, Status string
				ID           int64
			}
			Keys []struct{ Name, Value string } `json:"api_keys"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(run(fullDocument(t), "apply", "-f", "-", "--output", "json")), &applied))
	org := applied.Organizations[0]
	require.Equal(t, "ACTIVE", org.Pipelines[0].Status)
	require.Equal(t, org.Pipelines[0].ID, org.Projects[0].Pipelines[0].ID)
	value := regexp.MustCompile(`pk_live_[0-9a-f]{40}`)
	require.Regexp(t, value, org.Keys[0].Value)

	table := run("", "apply", "-f", "../../internal/apply/testdata/full.yaml")
	require.Contains(t, table, "Grade-school math check")
	require.NotRegexp(t, value, table)

	created := run("", "key", "create", "--org", "acme", "--name", "zip", "--created-by", "ada@acme.test", "--expires", "30d")
	require.Regexp(t, value, created)
	var key keyView
	require.NoError(t, json.Unmarshal([]byte(run("", "key", "create", "--org", "acme", "--name", "zap",
		"--created-by", "Ada@acme.test", "-o", "json")), &key))
	require.Regexp(t, value, key.Value)
	require.Nil(t, key.ExpiresAt)

	require.NoError(t, json.Unmarshal([]byte(run("", "key", "expire", "--org", "acme", "--name", "zap", "--expires", "1y", "-o", "json")), &key))
	require.NotNil(t, key.ExpiresAt)
	require.Contains(t, run("", "key", "revoke", "--org", "acme", "--name", "zap"), "revoked")
	require.Contains(t, run("", "key", "revoke", "--org", "acme", "--name", "zap"), "revoked")
	refused := command(t, environ, "", "key", "expire", "--org", "acme", "--name", "zap", "--expires", "1y")
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.err, "revoked")

	require.Contains(t, run("", "user", "remove", "--org", "acme", "ada@acme.test"), "no member of acme")
	require.Contains(t, run("", "key", "list", "--org", "acme"), "ada@acme.test (removed)")
	var list struct {
		Keys []keyView `json:"api_keys"`
	}
	require.NoError(t, json.Unmarshal([]byte(run("", "key", "list", "--org", "acme", "-o", "json")), &list))
	require.Len(t, list.Keys, 4)
	require.Equal(t, "revoked", list.Keys[3].Status)
	require.Empty(t, list.Keys[0].Value)

	for _, args := range [][]string{
		{"key", "list", "--org", "nowhere"},
		{"key", "revoke", "--org", "acme", "--name", "none"},
		{"key", "create", "--org", "acme", "--name", "k", "--created-by", "ada@acme.test"},
		{"key", "create", "--org", "acme", "--name", "zip", "--created-by", "bob@acme.test"},
		{"user", "remove", "--org", "acme", "ada@acme.test"},
	} {
		require.Equal(t, 1, command(t, environ, "", args...).code, args)
	}
}

func TestApplyListsEveryProblem(t *testing.T) {
	t.Parallel()
	got := command(t, database(t), `organizations: [{slug: X, foo: 1}, {slug: y, api_keys: [{name: k}]}]`, "apply", "-f", "-")
	require.Equal(t, 1, got.code)
	for _, path := range []string{"organizations[0].slug", "organizations[0].foo", "organizations[1].api_keys[0].created_by"} {
		require.Contains(t, got.err, "  "+path+": ")
	}
	require.Contains(t, got.err, "3 problems; nothing was changed")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	require.Contains(t, command(t, nil, "", "version").out, "taskloom dev")
	var b build
	require.NoError(t, json.Unmarshal([]byte(command(t, nil, "", "version", "--json").out), &b))
	require.NotEmpty(t, b.Go)
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args    []string
		version string
		path    string
	}{
		{[]string{"openapi"}, "3.1", "/workflows/{workflow_id}/tasks"},
		{[]string{"openapi", "--version", "3.0"}, "3.0", "/workflows/{workflow_id}/tasks"},
		{[]string{"openapi", "--console"}, "3.1", "login"},
	} {
		got := command(t, nil, "", c.args...)
		require.Zero(t, got.code, got.err)
		var doc struct {
			OpenAPI string                     `json:"openapi"`
			Paths   map[string]json.RawMessage `json:"paths"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		require.True(t, strings.HasPrefix(doc.OpenAPI, c.version), doc.OpenAPI)
		require.Contains(t, got.out, c.path)
		require.NotEmpty(t, doc.Paths)
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	t.Parallel()
	got := command(t, nil, "", "--help")
	require.Zero(t, got.code)
	for _, name := range []string{"serve", "worker", "migrate", "apply", "key", "user", "doctor", "healthcheck", "openapi", "version", "demo"} {
		require.Contains(t, got.out, name)
	}
}

func TestACanceledCommandEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	a := &app{environ: database(t), in: strings.NewReader(""), out: &out, err: &errs}
	require.Equal(t, 1, a.run(ctx, []string{"key", "list", "--org", "x"}))
}
