package alerts_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/alerttest"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// inTime does once what is slow later on, so that serve tells of each route: the
// alerts on latency are about a product at work.
func (l *live) inTime() {
	l.t.Helper()
	path, task := l.claim()
	values := map[string]any{"answer": "2", "confident": true}
	for _, c := range []struct {
		caller       *http.Client
		method, path string
		in           any
	}{
		{l.person, http.MethodPut, path + "/draft", map[string]any{"values": values, "revision": 0}},
		{l.person, http.MethodPost, path + "/submit", map[string]any{"values": values}},
		{l.plain, http.MethodGet, l.tasks(), nil},
		{l.plain, http.MethodGet, l.tasks() + "/" + strconv.FormatInt(task, 10), nil},
	} {
		require.Equal(l.t, http.StatusOK, l.send(c.caller, c.method, c.path, c.in, nil), c.path)
	}
}

// slow holds a lock that everybody waits for, with more callers than there are
// connections.
func (l *live) slow() {
	l.t.Helper()
	ctx := l.t.Context()
	l.inTime()
	path, task := l.claim()
	draft := map[string]any{"values": map[string]any{"answer": "2"}, "revision": 0}
	before := l.now()
	conn, err := pgx.Connect(ctx, l.Value("DATABASE_URL"))
	require.NoError(l.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	require.NoError(l.t, err)
	_, err = tx.Exec(ctx, `LOCK TABLE tasks, task_nodes, drafts IN ACCESS EXCLUSIVE MODE`)
	require.NoError(l.t, err)

	var callers errgroup.Group
	call := func(c *http.Client, method, path string, in any) {
		callers.Go(func() error {
			if status := l.send(c, method, path, in, nil); status == 0 {
				return fmt.Errorf("%s %s: no answer", method, path)
			}
			return nil
		})
	}
	one := map[string]any{"tasks": []any{map[string]any{"fields": map[string]string{"question": "2 + 2?"}}}}
	call(l.plain, http.MethodPost, l.tasks(), one)
	call(l.plain, http.MethodGet, l.tasks(), nil)
	call(l.plain, http.MethodGet, l.tasks()+"/"+strconv.FormatInt(task, 10), nil)
	call(l.person, http.MethodPost, l.claimPath(), map[string]string{"role": "contributor"})
	call(l.person, http.MethodPut, path+"/draft", draft)
	call(l.person, http.MethodPost, path+"/submit", map[string]any{"values": map[string]any{"answer": "2", "confident": true}})
	for range 6 { // as many as there are connections, and so places
		call(l.plain, http.MethodGet, l.tasks()+"/"+strconv.FormatInt(task, 10), nil)
	}
	during := l.until("the pool is in use", func(s alerttest.Scrape) bool {
		if s[`taskloom_db_connections{job="taskloom",instance="serve",state="acquired"}`] == "12" {
			return true
		}
		// The scrape has a connection too: whom it keeps from theirs gives up,
		// and somebody else takes their place.
		call(l.plain, http.MethodGet, l.tasks()+"/"+strconv.FormatInt(task, 10), nil)
		return false
	})
	for range 40 { // which are turned away
		call(l.plain, http.MethodGet, l.tasks()+"/"+strconv.FormatInt(task, 10), nil)
	}
	l.until("requests are turned away", over("taskloom_http_overload_refused_total", "", 10))
	require.Eventually(l.t, func() bool {
		var long bool
		err := conn.QueryRow(ctx, `SELECT now() < clock_timestamp() - interval '2500 milliseconds'`).Scan(&long)
		return err == nil && long
	}, patience, 50*time.Millisecond)
	require.NoError(l.t, tx.Rollback(ctx))
	require.NoError(l.t, callers.Wait())
	after := l.now()

	l.fires("PoolSaturated", before, during)
	some := alerttest.Scale{From: "> 50", To: "> 0"}
	for _, alert := range []string{"ClaimSlow", "SubmitSlow", "DraftSlow", "PollStatusSlow", "PollPageSlow"} {
		l.fires(alert, before, after, some)
	}
	l.fires("CreateSlow", before, after, alerttest.Scale{From: "> 10", To: "> 0"})
	l.fires("RequestsAreTurnedAway", before, after)
}

// quarantine moves nodes there, past the product.
func (l *live) quarantine() {
	l.t.Helper()
	before := l.now()
	l.exec(`UPDATE task_nodes SET status = 'quarantined' WHERE key = 'solve'
		AND task_id IN (SELECT task_id FROM task_nodes WHERE key = 'solve' AND status = 'available' LIMIT 12)`)
	after := l.until("they are counted", over("taskloom_nodes", `state="quarantined"`, 11))
	l.exec(`UPDATE task_nodes SET status = 'available' WHERE status = 'quarantined'`)
	l.fires("NodesQuarantined", before, after)
	l.fires("QuarantineGrows", before, after)
}

// deadRows updates rows while a forgotten transaction keeps the old ones.
func (l *live) deadRows() {
	l.t.Helper()
	ctx := l.t.Context()
	before := l.now()
	conn, err := pgx.Connect(ctx, l.Value("DATABASE_URL"))
	require.NoError(l.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	require.NoError(l.t, err)
	_, err = tx.Exec(ctx, `SELECT count(*) FROM tasks`)
	require.NoError(l.t, err)
	for range 20 {
		l.exec(`UPDATE tasks SET priority = priority`)
	}
	after := l.until("dead rows are counted", over("taskloom_table_dead_rows", `table="tasks"`, 500))
	l.fires("DeadTuples", before, after, alerttest.Scale{From: "> 50000", To: "> 500"})
	after = l.until("the transaction grows old", over("taskloom_db_oldest_transaction_seconds", "", 3))
	l.fires("OldTransaction", before, after, alerttest.Scale{From: "> 600", To: "> 3"})
	require.NoError(l.t, tx.Rollback(ctx))
}

// stuckUpload makes an upload whose run is told in an hour.
func (l *live) stuckUpload() {
	l.t.Helper()
	before := l.now()
	l.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, ring_at, updated_at)
		SELECT gen_random_uuid(), org_id, id, 1, 'processing', 'org/1/none', true, now() + interval '1 hour', now() + interval '1 hour',
			now() - interval '21 minutes' FROM pipelines WHERE id = $1`, l.pipeline)
	after := l.until("it stands", over("taskloom_uploads_stalled_seconds", "", 0))
	l.exec(`DELETE FROM uploads`)
	l.fires("UploadsStuck", before, after)
}

// standingSweep leaves an upload that should have been swept an hour ago, where no
// worker has an object store.
func (l *live) standingSweep() {
	l.t.Helper()
	before := l.now()
	l.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, finished_at)
		SELECT gen_random_uuid(), org_id, id, 1, 'failed', 'org/1/none', true, now() - interval '25 hours', now() - interval '25 hours'
		FROM pipelines WHERE id = $1`, l.pipeline)
	after := l.until("it is late", over("taskloom_sweep_overdue_seconds", `sweep="uploads"`, 1800))
	l.exec(`DELETE FROM uploads`)
	l.fires("SweepStandsStill", before, after)
}

func (l *live) guessedKeys() {
	l.t.Helper()
	before := l.now()
	for range 5 {
		l.send(&http.Client{}, http.MethodGet, l.tasks(), nil, nil)
	}
	after := l.until("refusals are counted", over("taskloom_rate_limited_total", `bucket="failed_auth"`, 2))
	l.fires("KeysAreGuessed", before, after, alerttest.Scale{From: "> 100", To: "> 2"})
}

// withoutRedis starts one more serve, whose Redis is nowhere.
func (l *live) withoutRedis() {
	l.t.Helper()
	before := l.now()
	metrics := stacktest.FreeAddr(l.t)
	p := l.Run("serve-without-redis", []string{"serve"}, "ADDR="+stacktest.FreeAddr(l.t), "METRICS_ADDR="+metrics, "REDIS_URL=redis://127.0.0.1:1/0")
	l.extra["serve-without-redis"] = metrics
	after := l.until("it tells", func(s alerttest.Scrape) bool {
		return s[`taskloom_rate_limit_store_up{job="taskloom",instance="serve-without-redis"}`] == "0"
	})
	p.Stop()
	delete(l.extra, "serve-without-redis")
	l.fires("RateLimitStoreDown", before, after)
}
