package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestUpKeepsWhatItHoldsFromRunToRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	began := time.Now()
	first := h.up(t, "RATE_LIMIT_KEY=77-M")
	t.Logf("first start: %v", time.Since(began).Round(time.Millisecond))
	env := h.env(t)

	for _, want := range []string{
		"http://" + h.addr + "/api/v1/docs", env["TEMPORAL_UI_URL"], env["S3_ENDPOINT"], env["DATABASE_URL"],
		"admin@demo.test", "ada@demo.test", "rita@demo.test", "taskloom-demo", env["TASKLOOM_API_KEY"],
	} {
		require.Contains(t, first.out.String(), want)
	}
	require.Contains(t, readFile(t, filepath.Join(h.state, "logs", "serve.log")), "RATE_LIMIT_KEY 77-M",
		"settings pass through to the product")
	require.Equal(t, 1, pasteCurl(t, h, first))
	get(t, env["TEMPORAL_UI_URL"])
	startWorkflow(t, env, "kept")
	putObject(t, env, "kept", "text")
	checkEnvFile(t, h)

	first.interrupt()
	require.Equal(t, 0, first.exit())
	h.goneSoon(t)
	requireNoPidFiles(t, h)

	began = time.Now()
	second := h.up(t)
	took := time.Since(began)
	t.Logf("warm start: %v", took.Round(time.Millisecond))
	require.Less(t, took, 30*time.Second) // a guard, not the measure: machines that test are busy
	require.Equal(t, env, h.env(t), "ports, secrets and the key are kept")
	require.Equal(t, 2, pasteCurl(t, h, second), "the database is kept")
	require.True(t, workflowRuns(t, env, "kept"), "Temporal's runs are kept")
	require.Equal(t, "text", getObject(t, env, "kept"), "S3's objects are kept")

	// A revoked or lost key is replaced.
	exec1(t, env["DATABASE_URL"], `DELETE FROM keys WHERE value = '`+env["TASKLOOM_API_KEY"]+`'; INSERT INTO keys VALUES ('demo', 'x')`)
	second.interrupt()
	require.Equal(t, 0, second.exit())
	third := h.up(t)
	require.NotEqual(t, env["TASKLOOM_API_KEY"], h.env(t)["TASKLOOM_API_KEY"])
	require.Equal(t, 3, pasteCurl(t, h, third))
	third.interrupt()
	require.Equal(t, 0, third.exit())

	// FRESH=1 starts empty, in a shell that has sourced the old environment too.
	sourced := []string{"FRESH=1"}
	for name, value := range env {
		sourced = append(sourced, name+"="+value)
	}
	fresh := h.up(t, sourced...)
	require.NotEqual(t, env["SECRET_KEY"], h.env(t)["SECRET_KEY"])
	require.Equal(t, 1, pasteCurl(t, h, fresh))
	fresh.interrupt()
	require.Equal(t, 0, fresh.exit())
}

// pasteCurl runs the curl line of the banner as a person would and returns how
// many tasks there are afterwards.
func pasteCurl(t *testing.T, h *home, p *process) int {
	t.Helper()
	line := regexp.MustCompile(`(?m)^ +(curl .*)$`).FindStringSubmatch(p.out.String())
	require.NotNil(t, line, "no curl line in:\n%s", p.out)
	out, err := exec.Command("sh", "-c", line[1]).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "success_count")
	conn, err := pgx.Connect(t.Context(), h.env(t)["DATABASE_URL"])
	require.NoError(t, err)
	defer conn.Close(context.Background())
	var tasks int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM tasks`).Scan(&tasks))
	return tasks
}

// checkEnvFile sources the file with a shell and compares it with the simple parser.
func checkEnvFile(t *testing.T, h *home) {
	t.Helper()
	path := filepath.Join(h.state, "env")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	env := h.env(t)
	cmd := exec.Command("sh", "-c", "set -a; . "+path+"; env")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	require.NoError(t, err)
	for name, value := range env {
		require.Contains(t, string(out), name+"="+value+"\n")
		require.NotContains(t, value, "'", "no value needs quotes")
	}
	for _, name := range []string{
		"DATABASE_URL", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_UI_URL", "S3_ENDPOINT", "S3_REGION", "S3_BUCKET",
		"S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "ADDR", "PUBLIC_URL", "METRICS_ADDR", "WORKER_METRICS_ADDR", "SECRET_KEY",
		"TASKLOOM_API_KEY",
	} {
		require.NotEmpty(t, env[name], name)
	}
	require.Regexp(t, `^[0-9a-f]{64}$`, env["SECRET_KEY"])
}

func TestTwoStacksRunSideBySide(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := newHome(t)
	first, second := h.dev(t, nil, "up"), other.dev(t, nil, "up")
	first.waitFor("Ctrl-C stops everything")
	second.waitFor("Ctrl-C stops everything")
	require.Equal(t, 1, pasteCurl(t, h, first))
	require.Equal(t, 1, pasteCurl(t, other, second))

	again := h.dev(t, nil, "up")
	require.Equal(t, 1, again.exit())
	require.Contains(t, again.out.String(), "running already in "+h.state)
	require.Contains(t, again.out.String(), "pid "+strings.TrimSpace(readFile(t, filepath.Join(h.state, "lock"))))

	third := newHome(t)
	third.addr = h.addr
	occupied := third.dev(t, nil, "up")
	require.Equal(t, 1, occupied.exit())
	require.Contains(t, occupied.out.String(), h.addr+" cannot be used (address already in use)")
	require.Contains(t, occupied.out.String(), " serve) listens there")
	require.Regexp(t, `ADDR=127\.0\.0\.1:\d+ make dev`, occupied.out.String())

	first.interrupt()
	require.Equal(t, 0, first.exit())
	h.goneSoon(t)
	require.Equal(t, 2, pasteCurl(t, other, second), "the other stack goes on")
	second.interrupt()
	require.Equal(t, 0, second.exit())
}

func requireNoPidFiles(t *testing.T, h *home) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(h.state, "*.pid"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// exec1 runs SQL in a database.
func exec1(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func TestUpUsesPartsOfTheCallersOwn(t *testing.T) {
	t.Parallel()
	theirs, h := newHome(t), newHome(t)
	run := theirs.exec(t)
	var brought []string
	for name, value := range theirs.env(t) {
		if name == "DATABASE_URL" || name == "TEMPORAL_ADDRESS" || strings.HasPrefix(name, "S3_") {
			brought = append(brought, name+"="+value)
		}
	}
	p := h.up(t, append(brought, "PUBLIC_URL=https://tasks.test?a&b")...)
	require.Contains(t, p.out.String(), "(yours)")
	require.Equal(t, 1, pasteCurl(t, h, p))
	require.Equal(t, theirs.env(t)["DATABASE_URL"], h.env(t)["DATABASE_URL"])
	require.Equal(t, "https://tasks.test?a&b", h.env(t)["PUBLIC_URL"])
	pids, err := filepath.Glob(filepath.Join(h.state, "*.pid"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(h.state, "serve.pid"), filepath.Join(h.state, "worker.pid")}, pids)
	p.interrupt()
	require.Equal(t, 0, p.exit())
	require.Equal(t, 0, run.finish())
}
