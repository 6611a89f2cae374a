package alerts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/alerttest"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// notProvoked are the alerts that this test does not bring about, and why.
var notProvoked = map[string]string{
	"TasksAreRung":      "row 18 of the faults brings it about, with steps that Postgres refuses",
	"DeliveriesRefused": "row 18 of the faults brings it about, with a Temporal that refuses",
	"WorkflowTasksFail": "row 18 of the faults brings it about, with workflow code that panics",
	"DiskFills":         "needs a machine with a full disk; the metrics are node_exporter's",
	"DiskNearlyFull":    "needs a machine with a full disk; the metrics are node_exporter's",
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
			"RATE_LIMIT_KEY=off", "RATE_LIMIT_FAILED_AUTH=2-H", "DATABASE_MAX_CONNS=12", "REQUESTS_AT_ONCE=12",
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
	l.standingSweep()
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
func (l *live) fires(alert string, before, after alerttest.Scrape, scales ...alerttest.Scale) {
	l.t.Helper()
	alerttest.Fires(l.t, alert, before, after, scales...)
	l.provoked[alert] = true
}

// now is what the processes tell.
func (l *live) now() alerttest.Scrape {
	l.t.Helper()
	s := alerttest.Scrape{}
	addrs := map[string]string{"serve": l.Value("METRICS_ADDR"), "worker": l.Value("WORKER_METRICS_ADDR")}
	maps.Copy(addrs, l.extra)
	for name, addr := range addrs {
		maps.Copy(l.types, s.Add(l.t, name, addr))
	}
	return s
}

// until waits until what the processes tell is as wanted, and returns it.
func (l *live) until(what string, ok func(alerttest.Scrape) bool) (s alerttest.Scrape) {
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
func over(name, labels string, bound float64) func(alerttest.Scrape) bool {
	return func(s alerttest.Scrape) bool {
		v, ok := s.Value(name, labels)
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
	l.claim() // that the runs are there
	before := l.now()
	l.exec(`UPDATE task_nodes SET lease_seconds = 1 WHERE status <> 'claimed'`)
	for range 3 {
		l.claim()
	}
	after := l.until("leases expire", over("taskloom_leases_expired_total", `instance="worker"`, 2))
	l.exec(`UPDATE task_nodes SET lease_seconds = 1800`)
	l.fires("LeasesExpire", before, after, alerttest.Scale{From: "> 20", To: "> 2"})
}

// metricsExist demands that serve or worker tells every metric that a rule or a
// panel reads, and says of each of ours in which unit.
func (l *live) metricsExist() {
	l.t.Helper()
	l.until("the SDK tells", over("temporal_request_total", "", 0))
	sdk := sdkMetrics(l.t)
	read := func(where, expr string) {
		for _, name := range alerttest.MetricsIn(expr) {
			base := name
			if histogram.MatchString(name) && l.types[baseName(name)] == "histogram" {
				base = baseName(name)
			}
			switch {
			case strings.HasPrefix(name, "node_"): // node_exporter tells it
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
	for _, r := range alerttest.Rules(l.t) {
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
	for _, r := range alerttest.Rules(t) {
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
