package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// vitalsBudget is how long the database has to answer a scrape: less than
// Prometheus gives the whole.
const vitalsBudget = 2 * time.Second

// vitals tells Prometheus how the product stands as a whole. Every process
// tells the same, so that it is told when there is no worker; alerts take the
// largest. The figures are read when they are asked for: what stands there is
// never old, and when the database does not answer nothing stands there but
// that.
type vitals struct {
	read func(ctx context.Context, within time.Duration) (store.Vitals, error)

	up, rows, oldest, urgent, lagging, lagEvents, lagOldest, heard, ready *prometheus.Desc
	nodes, tasks, uploads, stalled, overdue, live, dead, transaction      *prometheus.Desc
}

func newVitals(st *store.Store) *vitals {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("taskloom_"+name, help, labels, nil)
	}
	return &vitals{
		read:        st.Vitals,
		up:          desc("database_up", "1 when the database answered this scrape within 2 seconds, 0 when not."),
		rows:        desc("outbox_rows", "Events that Temporal has not been told yet, in rows; 10000 means that many or more."),
		oldest:      desc("outbox_oldest_seconds", "Age of the oldest event that Temporal has not been told yet, in seconds, starts of new tasks included."),
		urgent:      desc("outbox_urgent_oldest_seconds", "Age of the oldest event that Temporal has not been told yet and that somebody waits for: neither a start nor a claim, in seconds."),
		lagging:     desc("tasks_lagging", "Tasks with events whose consequences are not written yet (seq > applied_seq), in tasks; 10000 means that many or more."),
		lagEvents:   desc("tasks_lag_events", "Largest seq - applied_seq of a task, in events."),
		lagOldest:   desc("tasks_lag_oldest_seconds", "How long the task that lags for longest has not changed, in seconds."),
		heard:       desc("workers_heard", "Workers whose heartbeat was heard lately and that hold their connection, in workers.", "queue"),
		ready:       desc("workers_ready", "Workers that were heard and reach Temporal, in workers.", "queue"),
		nodes:       desc("nodes", "Nodes that wait for people, by kind and state (queued, escalated, quarantined), in nodes; those of archived pipelines wait for nobody.", "kind", "state"),
		tasks:       desc("tasks", "Tasks by state (open, finished, failed), in tasks.", "state"),
		uploads:     desc("uploads_processing", "Uploads that are being unpacked, in uploads."),
		stalled:     desc("uploads_stalled_seconds", "How long the upload without progress for longest stands, in seconds."),
		overdue:     desc("sweep_overdue_seconds", "How long what a sweep should have deleted first has been due, in seconds, by sweep: what uploads and files of people leave, and answers kept for repeated requests; 0 when nothing is.", "sweep"),
		live:        desc("table_live_rows", "Live rows of a table by the statistics of Postgres, in rows.", "table"),
		dead:        desc("table_dead_rows", "Dead rows of a table, which vacuum has not removed yet, by the statistics of Postgres, in rows.", "table"),
		transaction: desc("db_oldest_transaction_seconds", "Age of the oldest transaction that keeps dead rows from being removed, in seconds, prepared ones included, as far as the role may see (pg_read_all_stats)."),
	}
}

// Describe implements prometheus.Collector.
func (v *vitals) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		v.up, v.rows, v.oldest, v.urgent, v.lagging, v.lagEvents, v.lagOldest, v.heard, v.ready,
		v.nodes, v.tasks, v.uploads, v.stalled, v.overdue, v.live, v.dead, v.transaction,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (v *vitals) Collect(ch chan<- prometheus.Metric) {
	// A scrape has no context here.
	ctx, cancel := context.WithTimeout(context.Background(), vitalsBudget)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	is, err := v.read(ctx, workersSeen)
	if err != nil {
		gauge(v.up, 0)
		return
	}
	gauge(v.up, 1)
	gauge(v.rows, float64(is.OutboxRows))
	gauge(v.oldest, is.OutboxOldest.Seconds())
	gauge(v.urgent, is.UrgentOldest.Seconds())
	gauge(v.lagging, float64(is.Lagging))
	gauge(v.lagEvents, float64(is.LagEvents))
	gauge(v.lagOldest, is.LagOldest.Seconds())
	for _, queue := range []string{workflows.TaskQueue, workflows.IngestQueue} {
		gauge(v.heard, float64(is.Workers[queue].Heard), queue)
		gauge(v.ready, float64(is.Workers[queue].Ready), queue)
	}
	for k, n := range nodeCounts(is.Nodes) {
		gauge(v.nodes, n, k.Kind, k.State)
	}
	for _, state := range []string{"open", "finished", "failed"} {
		gauge(v.tasks, float64(is.Tasks[state]), state)
	}
	gauge(v.uploads, float64(is.UploadsProcessing))
	gauge(v.stalled, is.UploadStalled.Seconds())
	for sweep, by := range is.SweepsOverdue {
		gauge(v.overdue, by.Seconds(), sweep)
	}
	for _, t := range is.Tables {
		gauge(v.live, float64(t.Live), t.Table)
		gauge(v.dead, float64(t.Dead), t.Table)
	}
	gauge(v.transaction, is.OldestTransaction.Seconds())
}

// nodeCounts has every kind and state, also those without nodes: a figure that
// comes and goes raises no alert when it comes.
func nodeCounts(found []store.NodeCount) map[store.NodeCount]float64 {
	counts := map[store.NodeCount]float64{}
	for _, kind := range []string{"subtask", "review"} {
		for _, state := range []string{"queued", "escalated", "quarantined"} {
			counts[store.NodeCount{Kind: kind, State: state}] = 0
		}
	}
	for _, c := range found {
		counts[store.NodeCount{Kind: c.Kind, State: c.State}] += float64(c.N)
	}
	return counts
}
