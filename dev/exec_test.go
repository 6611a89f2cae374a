package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// running is an exec whose command waits until it is told to finish.
type running struct {
	*process
	stdin io.Closer
}

// exec brings the three parts up in the home's state directory.
func (h *home) exec(t *testing.T, flags ...string) *running {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	args := append([]string{"exec", "--dir", h.state}, flags...)
	h.stdin = read
	p := h.start(t, self, nil, append(args, "--", "sh", "-c", "echo the parts are up; cat")...)
	h.stdin = nil
	read.Close()
	p.waitFor("the parts are up")
	return &running{process: p, stdin: write}
}

// finish lets the command end and returns the exit code.
func (r *running) finish() int {
	r.t.Helper()
	require.NoError(r.t, r.stdin.Close())
	return r.exit()
}

func TestExecReturnsTheExitCodeAndLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tmp := filepath.Join(h.root, "tmp")
	require.NoError(t, os.Mkdir(tmp, 0o755))
	p := h.dev(t, []string{"TMPDIR=" + tmp, "DATABASE_URL=postgres://elsewhere/x"}, "exec", "--", "sh", "-c", `echo "$DATABASE_URL"; exit 7`)
	require.Equal(t, 7, p.exit())
	require.Contains(t, p.out.String(), "@127.0.0.1:", "a test must not reach a database of the caller's")
	h.goneSoon(t)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestExecCountsStatementsWhereItIsAsked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	run := h.exec(t, "--statements")
	conn, err := pgx.Connect(t.Context(), h.env(t)["DATABASE_URL"])
	require.NoError(t, err)
	var calls int
	_, err = conn.Exec(t.Context(), `CREATE EXTENSION pg_stat_statements`)
	require.NoError(t, err)
	for range 3 {
		_, err = conn.Exec(t.Context(), `SELECT 'counted'`)
		require.NoError(t, err)
	}
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT calls FROM pg_stat_statements WHERE query = 'SELECT $1'`).Scan(&calls))
	require.Equal(t, 3, calls)
	require.NoError(t, conn.Close(t.Context()))
	require.Equal(t, 0, run.finish())
	h.goneSoon(t)
}

func TestExecsCommandDiesWithItsSupervisor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.dev(t, nil, "exec", "--dir", h.state, "--", "sh", "-c", "sleep 1000 & echo the parts are up; wait")
	p.waitFor("the parts are up")
	require.NoError(t, p.cmd.Process.Kill())
	p.exit()
	h.goneSoon(t) // the grandchild too
}

func TestRestartBringsKilledPartsBackWhereTheyWere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	run := h.exec(t, "--restart")
	env := h.env(t)
	exec1(t, env["DATABASE_URL"], `CREATE TABLE kept (n int)`)
	client := temporalClient(t, env)

	for round, part := range []string{"postgres", "temporal", "s3", "postgres"} {
		h.kill(t, part)
		run.waitFor(part + " died (signal: killed); starting it again")
		id := fmt.Sprint("after-", round)
		eventually(t, "Postgres is back", func() error {
			conn, err := pgx.Connect(t.Context(), env["DATABASE_URL"])
			if err != nil {
				return err
			}
			defer conn.Close(context.Background())
			_, err = conn.Exec(t.Context(), `INSERT INTO kept VALUES (1)`)
			return err
		})
		eventually(t, "Temporal is back", func() error { return tryWorkflow(t.Context(), client, id) })
		eventually(t, "S3 is back", func() error { return tryPut(t.Context(), env, id) })
		require.NoError(t, syscall.Kill(h.pid(t, part), 0), "the pid file names the new process")
	}
	require.Equal(t, 0, run.finish())
	h.goneSoon(t)
}

func TestTemporalsSchema(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	run := h.exec(t)
	url := h.env(t)["DATABASE_URL"]
	main, visibility := databaseURL(url, "temporal"), databaseURL(url, "temporal_visibility")
	startWorkflow(t, h.env(t), "older")
	// An older one is migrated, on a copy. The last migration only adds things,
	// so it can run once more.
	exec1(t, main, `UPDATE schema_version SET curr_version = '1.18'`)
	require.Equal(t, 0, run.finish())
	run = h.exec(t)
	require.True(t, workflowRuns(t, h.env(t), "older"))

	// A set-up that was cut short heals: as after a kill between CREATE DATABASE
	// and the schema, in the middle of the schema, and while the copy was built.
	exec1(t, main, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	exec1(t, visibility, `TRUNCATE executions_visibility; DELETE FROM schema_version`)
	exec1(t, url, `CREATE DATABASE temporal_next`)
	require.Equal(t, 0, run.finish())
	run = h.exec(t)
	startWorkflow(t, h.env(t), "healed")

	// One that is newer than the server is refused and left alone.
	exec1(t, main, `UPDATE schema_version SET curr_version = '99.0'`)
	require.Equal(t, 0, run.finish())
	p := h.dev(t, nil, "up")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), `"temporal" has schema 99.0, made by a newer Temporal server`)
}

// databaseURL is the URL of another database on the same server.
func databaseURL(of, name string) string {
	u, err := url.Parse(of)
	if err != nil {
		return ""
	}
	u.Path = "/" + name
	return u.String()
}

func TestTheDatabaseMovesWhenItsAccountCannotReachTheStateDirectory(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root lends Postgres another account")
	}
	h := newHome(t)
	private := filepath.Join(h.root, "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	h.state = filepath.Join(private, "state")
	run := h.exec(t)
	require.Contains(t, run.out.String(), "The database goes to /var/lib/taskloom-dev/")
	_, rest, _ := strings.Cut(run.out.String(), "The database goes to ")
	base, _, _ := strings.Cut(rest, ":")
	require.DirExists(t, filepath.Join(base, "postgres"))
	exec1(t, h.env(t)["DATABASE_URL"], `CREATE TABLE kept (n int)`)
	require.Equal(t, 0, run.finish())

	run = h.exec(t)
	exec1(t, h.env(t)["DATABASE_URL"], `INSERT INTO kept VALUES (1)`)
	require.Equal(t, 0, run.finish())

	// FRESH=1 removes it there too, before it finds that the product is missing.
	require.NoError(t, os.Remove(filepath.Join(h.root, "bin", "taskloom")))
	require.Equal(t, 1, h.dev(t, []string{"FRESH=1"}, "up").exit())
	require.NoDirExists(t, base)
}

func TestExecRunsAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("every test runs as an ordinary user then")
	}
	h := newHome(t)
	h.as = &syscall.Credential{Uid: 65534, Gid: 65534}
	require.NoError(t, os.Chown(h.root, 65534, 65534))
	p := h.start(t, publicBinary(t), []string{"TMPDIR=" + h.root}, "exec", "--", "sh", "-c", "exit 3")
	require.Equal(t, 3, p.exit())
	h.goneSoon(t)
}

// publicBinary is a copy of the test binary that every user may run: the go
// tool keeps the original in a private directory.
func publicBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "taskloom-test-bin-") //nolint:usetesting // t.TempDir lies in a directory that its owner alone may enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "taskloom-dev")
	if os.Link(self, path) == nil {
		return path
	}
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return path
}
