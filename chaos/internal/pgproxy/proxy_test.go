package pgproxy_test

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// rig is a database with a way around the proxy and one through it.
type rig struct {
	t      *testing.T
	proxy  *pgproxy.Proxy
	direct *pgx.Conn
	url    string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	direct := dbtest.EmptyURL(t)
	u, err := url.Parse(direct)
	require.NoError(t, err)
	p, err := pgproxy.Listen(t.Context(), u.Host, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	u.Host = p.Addr()
	r := &rig{t: t, proxy: p, direct: connect(t, direct), url: u.String()}
	_, err = r.direct.Exec(t.Context(), `CREATE TABLE things (id text PRIMARY KEY, note text)`)
	require.NoError(t, err)
	return r
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// has reports whether the row comes to be there. A server that lost its client
// ends what it was at shortly after.
func (r *rig) has(id string) bool {
	r.t.Helper()
	var n int
	require.NoError(r.t, r.direct.QueryRow(r.t.Context(), `SELECT count(*) FROM things WHERE id = $1`, id).Scan(&n))
	return n == 1
}

// alone waits until the server has no connection but the direct one: whatever
// the cut ones were at is then decided.
func (r *rig) alone() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		var n int
		err := r.direct.QueryRow(r.t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n)
		return err == nil && n == 0
	}, 10*time.Second, 5*time.Millisecond)
}

// The ways in which internal/store commits, each writing the row id.
var ways = map[string]func(ctx context.Context, c *pgx.Conn, id string) error{
	"transaction": func(ctx context.Context, c *pgx.Conn, id string) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO things VALUES ($1)`, id)
			return err
		})
	},
	"single statement": func(ctx context.Context, c *pgx.Conn, id string) error {
		_, err := c.Exec(ctx, `INSERT INTO things VALUES ($1)`, id)
		return err
	},
	"statement that writes in WITH and returns a row": func(ctx context.Context, c *pgx.Conn, id string) error {
		var back string
		return c.QueryRow(ctx, `WITH new AS (INSERT INTO things VALUES ($1) RETURNING id) SELECT id FROM new`, id).Scan(&back)
	},
	"statement without parameters": func(ctx context.Context, c *pgx.Conn, id string) error {
		_, err := c.Exec(ctx, `INSERT INTO things VALUES ('`+id+`')`)
		return err
	},
	"copy in a transaction": func(ctx context.Context, c *pgx.Conn, id string) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"things"}, []string{"id"}, pgx.CopyFromRows([][]any{{id}}))
			return err
		})
	},
	"batch": func(ctx context.Context, c *pgx.Conn, id string) error {
		b := &pgx.Batch{}
		b.Queue(`SELECT 1`)
		b.Queue(`INSERT INTO things VALUES ($1)`, id)
		return c.SendBatch(ctx, b).Close()
	},
}

func TestItCarriesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := connect(t, r.url)
	for name, write := range ways {
		require.NoError(t, write(t.Context(), c, name), name)
		require.True(t, r.has(name), name)
	}
	long := strings.Repeat("a long note. ", 200_000)
	_, err := c.Exec(t.Context(), `UPDATE things SET note = $1`, long)
	require.NoError(t, err)
	var back string
	require.NoError(t, c.QueryRow(t.Context(), `SELECT note FROM things LIMIT 1`).Scan(&back))
	require.Equal(t, long, back)
	var n int
	require.NoError(t, c.QueryRow(t.Context(), `SELECT count(*) FROM generate_series(1, 100000)`).Scan(&n))
	require.Equal(t, 100_000, n)

	_, err = c.Exec(t.Context(), `SELECT 1/0`)
	require.ErrorContains(t, err, "division by zero", "errors come through")
	require.Equal(t, int64(len(ways)+1), r.proxy.Stats().Commits)
}

func TestACutBeforeTheCommitUndoesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, write := range ways {
		c := connect(t, r.url)
		r.proxy.CutNext(pgproxy.Before, 1)
		require.Error(t, write(t.Context(), c, name), name)
		r.alone()
		require.False(t, r.has(name), name)
	}
	require.Equal(t, int64(len(ways)), r.proxy.Stats().Before)
	require.Zero(t, r.proxy.Stats().After)
}

func TestACutAfterTheCommitHidesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, write := range ways {
		c := connect(t, r.url)
		r.proxy.CutNext(pgproxy.After, 1)
		require.Error(t, write(t.Context(), c, name), "%s: the client must not hear of its success", name)
		r.alone()
		require.True(t, r.has(name), name)
	}
	require.Equal(t, int64(len(ways)), r.proxy.Stats().After)
	require.Zero(t, r.proxy.Stats().Before)
}

func TestReadsAndRollbacksAreNoCommits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := connect(t, r.url)
	r.proxy.CutNext(pgproxy.Before, 1)
	_, err := c.Exec(t.Context(), `SELECT id FROM things WHERE id = $1`, "x")
	require.NoError(t, err)
	tx, err := c.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT id FROM things WHERE id = $1 FOR UPDATE`, "x")
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO things VALUES ($1)`, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, r.proxy.Pending())
	require.Zero(t, r.proxy.Stats().Commits)
	r.proxy.CutNext(pgproxy.None, 0)
	require.Zero(t, r.proxy.Pending())
}

func TestARateCutsItsShare(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.proxy.SetRate(0.5)
	const commits = 60
	acknowledged := map[string]bool{}
	for i := range commits {
		c, err := pgx.Connect(t.Context(), r.url)
		require.NoError(t, err)
		id := strconv.Itoa(i)
		acknowledged[id] = ways["transaction"](t.Context(), c, id) == nil
		_ = c.Close(t.Context())
	}
	r.alone()
	s := r.proxy.Stats()
	require.Equal(t, int64(commits), s.Commits)
	require.Positive(t, s.Before)
	require.Positive(t, s.After)
	there := int64(0)
	for id, ack := range acknowledged {
		if r.has(id) {
			there++
		} else {
			require.False(t, ack, "what was acknowledged is there")
		}
	}
	require.Equal(t, commits-s.Before, there)
}

func TestWhoCommitsCanBeKilledBeforeItKnows(t *testing.T) {
	t.Parallel()
	for _, where := range []pgproxy.Cut{pgproxy.Before, pgproxy.After} {
		r := newRig(t)
		c := connect(t, r.url)
		there := make(chan bool, 2)
		r.proxy.CutNextThen(where, nil, func() { there <- r.has("x") })
		require.Error(t, ways["transaction"](t.Context(), c, "x"))
		require.Equal(t, where == pgproxy.After, <-there, where)
		require.Empty(t, there, "it is told once")
		require.NoError(t, ways["transaction"](t.Context(), connect(t, r.url), "y"), "only the one")
	}
}

func TestACutChoosesItsTransaction(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		r := newRig(t)
		there := make(chan bool, 2)
		r.proxy.CutNextThen(pgproxy.After, regexp.MustCompile(`(?i)update things`), func() { there <- r.has("special") })
		require.NoError(t, way(t.Context(), connect(t, r.url), "usual"), name)
		c := connect(t, r.url)
		require.NoError(t, pgx.BeginFunc(t.Context(), c, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT id FROM things`)
			return err
		}), name)
		require.Empty(t, there, name)
		require.Error(t, pgx.BeginFunc(t.Context(), c, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things VALUES ($1)`, "special")
			if err == nil {
				_, err = tx.Exec(t.Context(), `UPDATE things SET note = $1`, "here")
			}
			return err
		}), name)
		require.True(t, <-there, name)
	}
}

func TestACutKnowsArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	there := make(chan bool, 2)
	r.proxy.CutNextThen(pgproxy.Before, regexp.MustCompile(`^INSERT .*\x00hold$`), func() { there <- r.has("hold") })
	for _, id := range []string{"holds", "unhold", strings.Repeat("long ", 20) + "\x01hold"} {
		for _, name := range []string{"transaction", "single statement", "batch"} {
			require.NoError(t, ways[name](t.Context(), connect(t, r.url), id+name+id), name)
		}
	}
	require.Empty(t, there)
	require.Error(t, ways["batch"](t.Context(), connect(t, r.url), "hold"))
	require.False(t, <-there)
}

// A commit that the server refuses is no commit: the cut is still to come.
func TestARefusedCommitIsNotTheOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, ways["single statement"](t.Context(), connect(t, r.url), "x"))
	there := make(chan bool, 2)
	r.proxy.CutNextThen(pgproxy.After, regexp.MustCompile(`INSERT`), func() { there <- r.has("y") })
	require.Error(t, ways["single statement"](t.Context(), connect(t, r.url), "x"), "it is there already")
	require.Empty(t, there)
	require.Error(t, ways["single statement"](t.Context(), connect(t, r.url), "y"))
	require.True(t, <-there)
}

func TestSeverCutsWhatIsOpenAndServesAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := connect(t, r.url)
	require.NoError(t, c.Ping(t.Context()))
	require.Equal(t, 1, r.proxy.Sever())
	require.Error(t, c.Ping(t.Context()))
	require.NoError(t, connect(t, r.url).Ping(t.Context()))
}

func TestWrites(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		`SELECT 1`: false,
		`WITH c AS (SELECT id FROM t FOR NO KEY UPDATE SKIP LOCKED) UPDATE t SET a = 1`: true,
		`SELECT id FROM t ORDER BY id FOR UPDATE OF t SKIP LOCKED`:                      false,
		`delete from t`: true,
		`SELECT updated_at, copy_of FROM deleted`:                          false,
		`WITH n AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM n`: true,
	} {
		require.Equal(t, want, pgproxy.Writes(sql), sql)
	}
}
