package alerts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// notProvoked are the alerts that this test does not bring about, and why.
var notProvoked = map[string]string{
	"TasksAreRung":      "needs twenty tasks to lag for a minute; worker.TestReconciler counts them",
	"DeliveriesRefused": "Temporal refuses nothing that the product sends; worker.TestARefusedDeliveryIsKeptAndSlowsDown counts them",
	"WorkflowTasksFail": "needs workflow code that fails; the metric is the SDK's",
}

// patience bounds every wait for a figure to move.
const patience = 90 * time.Second

// live is the product, and somebody who works with it.
type live struct {
	*stacktest.Stack
	t        *testing.T
	pipeline int64
	key      string
	person   *http.Client
	plain    *http.Client
	types    map[string]string
	provoked map[string]bool
	extra    map[string]string // metrics addresses of more processes
}

// TestTheAlertsFireOnTheRealProduct breaks the product in one way after the
// other, and gives promtool what its processes tell before and after. Where a
// condition takes minutes or thousands, the rule is scaled down.
func TestTheAlertsFireOnTheRealProduct(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks a whole stack for two minutes")
	}
	document, err := os.ReadFile(filepath.Join(stacktest.Root(t), "dev", "demo.yaml"))
	require.NoError(t, err)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	l := &live{
		Stack: stacktest.Start(t, stacktest.Options{Document: document, ServeEnv: []string{
			"RATE_LIMIT_KEY=off", "RATE_LIMIT_FAILED_AUTH=2-H", "DATABASE_MAX_CONNS=12",
		}}),
		t: t, person: &http.Client{Jar: jar}, plain: &http.Client{}, provoked: map[string]bool{},
		types: map[string]string{}, extra: map[string]string{},
	}
	l.pipeline, l.key = l.Applied.Pipeline("Grade-school math check"), l.Applied.Key("demo")
	require.Equal(t, http.StatusOK, l.send(l.person, http.MethodPost, "/api/console/login",
		map[string]string{"email": "ada@demo.test", "password": "taskloom-demo"}, nil))
	l.create(40)
	l.exec(`UPDATE task_nodes SET lease_seconds = 1800`)

	// The order is that of what heals by itself.
	l.expiring()
	l.metricsExist()
	l.slow()
	l.quarantine()
	l.deadRows()
	l.stuckUpload()
	l.guessedKeys()
	l.withoutRedis()
	l.withoutTemporal()
	l.withoutPostgres()
	l.withoutProcesses()
	for _, a := range alerts(t) {
		if l.provoked[a.Alert] {
			require.NotContains(t, notProvoked, a.Alert)
		} else {
			require.Contains(t, notProvoked, a.Alert, "nothing brings this alert about")
		}
	}
}

// fires checks one alert by two scrapes.
func (l *live) fires(alert string, before, after scrape, scales ...scale) {
	l.t.Helper()
	provoked(l.t, alert, before, after, scales...)
	l.provoked[alert] = true
}

// now is what the processes tell.
func (l *live) now() scrape {
	l.t.Helper()
	s := scrape{}
	addrs := map[string]string{"serve": l.Value("METRICS_ADDR"), "worker": l.Value("WORKER_METRICS_ADDR")}
	maps.Copy(addrs, l.extra)
	for name, addr := range addrs {
		maps.Copy(l.types, s.add(l.t, name, addr))
	}
	return s
}

// until waits until what the processes tell is as wanted, and returns it.
func (l *live) until(what string, ok func(scrape) bool) (s scrape) {
	l.t.Helper()
	if !assert.Eventually(l.t, func() bool {
		s = l.now()
		return ok(s)
	}, patience, 100*time.Millisecond, what) {
		for _, series := range slices.Sorted(maps.Keys(s)) {
			if strings.HasPrefix(series, "taskloom_") && !strings.Contains(series, "_bucket") {
				l.t.Log(series, s[series])
			}
		}
		l.t.FailNow()
	}
	return s
}

// over is the condition that the largest of the series is above a value.
func over(name, labels string, bound float64) func(scrape) bool {
	return func(s scrape) bool {
		v, ok := s.value(name, labels)
		return ok && v > bound
	}
}

func (l *live) exec(sql string, args ...any) {
	l.t.Helper()
	_, err := l.Store().Pool().Exec(l.t.Context(), sql, args...)
	require.NoError(l.t, err)
}

// send returns the status of the answer, 0 when there is none.
func (l *live) send(c *http.Client, method, path string, in, out any) int {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return 0
		}
		body = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, l.URL+path, body)
	if err != nil {
		return 0
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c == l.plain {
		req.Header.Set("Authorization", "Bearer "+l.key)
	}
	res, err := c.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0
	}
	if out != nil && json.Unmarshal(raw, out) != nil {
		return 0
	}
	return res.StatusCode
}

func (l *live) tasks() string { return fmt.Sprintf("/api/v1/workflows/%d/tasks", l.pipeline) }

func (l *live) create(n int) (first int64) {
	l.t.Helper()
	in := map[string][]any{}
	for i := range n {
		in["tasks"] = append(in["tasks"], map[string]any{"fields": map[string]string{"question": fmt.Sprintf("1 + %d?", i)}})
	}
	var out struct {
		IDs []int64 `json:"task_ids"`
	}
	require.Less(l.t, l.send(l.plain, http.MethodPost, l.tasks(), in, &out), 300)
	require.Len(l.t, out.IDs, n)
	return out.IDs[0]
}

func (l *live) claimPath() string { return fmt.Sprintf("/api/console/pipelines/%d/claim", l.pipeline) }

// claim takes a task, as soon as one is there, and returns the claim's path.
func (l *live) claim() (path string, task int64) {
	l.t.Helper()
	var c struct {
		ID   string `json:"claim_id"`
		Task int64  `json:"task_id"`
	}
	require.Eventually(l.t, func() bool {
		return l.send(l.person, http.MethodPost, l.claimPath(), map[string]string{"role": "contributor"}, &c) == http.StatusOK
	}, patience, 50*time.Millisecond)
	require.NotEmpty(l.t, c.ID)
	return "/api/console/claims/" + c.ID, c.Task
}

// expiring lets people leave what they claimed.
func (l *live) expiring() {
	l.t.Helper()
	l.claim() // that the runs are there, and serve tells of claims
	before := l.now()
	l.exec(`UPDATE task_nodes SET lease_seconds = 1 WHERE status <> 'claimed'`)
	for range 3 {
		l.claim()
	}
	after := l.until("leases expire", over("taskloom_leases_expired_total", `instance="worker"`, 2))
	l.exec(`UPDATE task_nodes SET lease_seconds = 1800`)
	l.fires("LeasesExpire", before, after, scale{"> 20", "> 2"})
}

// metricsExist demands that serve or worker tells every metric that a rule or a
// panel reads, and says of each of ours in which unit.
func (l *live) metricsExist() {
	l.t.Helper()
	l.until("the SDK tells", over("temporal_request_total", "", 0))
	sdk := sdkMetrics(l.t)
	read := func(where, expr string) {
		for _, name := range metricsIn(expr) {
			base := name
			if histogram.MatchString(name) && l.types[baseName(name)] == "histogram" {
				base = baseName(name)
			}
			switch {
			case recorded.MatchString(name):
				require.Contains(l.t, recordedSeries(l.t), name, where)
			case strings.HasPrefix(name, "temporal_") && l.types[base] == "":
				// The SDK tells a counter of failures with the first one.
				require.Contains(l.t, sdk, `"`+strings.TrimSuffix(name, "_total")+`"`, where)
				require.Contains(l.t, name, "_fail", where)
			default:
				require.NotEmpty(l.t, l.types[base], "%s reads %s, which neither serve nor worker tells", where, name)
			}
		}
	}
	for _, r := range rules(l.t) {
		read(r.Alert+r.Record, r.Expr)
	}
	for _, p := range theDashboard(l.t).Panels {
		for _, target := range p.Targets {
			read("panel "+p.Title, target.Expr)
		}
	}
}

func recordedSeries(t *testing.T) (names []string) {
	t.Helper()
	for _, r := range rules(t) {
		if r.Record != "" {
			names = append(names, r.Record)
		}
	}
	return names
}

// sdkMetrics is the SDK's own list of its metrics.
func sdkMetrics(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "common", "metrics", "constants.go"))
	require.NoError(t, err)
	return strings.ReplaceAll(string(raw), `TemporalMetricsPrefix + "`, `"temporal_`)
}

// slow holds a lock that everybody waits for, with more callers than there are
// connections.
func (l *live) slow() {
	l.t.Helper()
	ctx := l.t.Context()
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
	during := l.until("the pool is in use", func(s scrape) bool {
		return s[`taskloom_db_connections{job="taskloom",instance="serve",state="acquired"}`] == "12"
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
	some := scale{"> 50", "> 0"}
	for _, alert := range []string{"ClaimSlow", "SubmitSlow", "DraftSlow", "PollStatusSlow", "PollPageSlow"} {
		l.fires(alert, before, after, some)
	}
	l.fires("CreateSlow", before, after, scale{"> 10", "> 0"})
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
	l.fires("DeadTuples", before, after, scale{"> 50000", "> 500"})
	after = l.until("the transaction grows old", over("taskloom_db_oldest_transaction_seconds", "", 3))
	l.fires("OldTransaction", before, after, scale{"> 600", "> 3"})
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

func (l *live) guessedKeys() {
	l.t.Helper()
	before := l.now()
	for range 5 {
		l.send(&http.Client{}, http.MethodGet, l.tasks(), nil, nil)
	}
	after := l.until("refusals are counted", over("taskloom_rate_limited_total", `bucket="failed_auth"`, 2))
	l.fires("KeysAreGuessed", before, after, scale{"> 100", "> 2"})
}

// withoutRedis starts one more serve, whose Redis is nowhere.
func (l *live) withoutRedis() {
	l.t.Helper()
	before := l.now()
	metrics := freeAddr(l.t)
	p := l.Run("serve-without-redis", []string{"serve"}, "ADDR="+freeAddr(l.t), "METRICS_ADDR="+metrics, "REDIS_URL=redis://127.0.0.1:1/0")
	l.extra["serve-without-redis"] = metrics
	after := l.until("it tells", func(s scrape) bool {
		return s[`taskloom_rate_limit_store_up{job="taskloom",instance="serve-without-redis"}`] == "0"
	})
	p.Stop()
	delete(l.extra, "serve-without-redis")
	l.fires("RateLimitStoreDown", before, after)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	var c net.ListenConfig
	ln, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}
