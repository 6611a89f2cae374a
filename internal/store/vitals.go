package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Vitals is how the product stands, in figures for monitoring. What reading
// them costs grows neither with the number of tasks nor with the backlog:
// counts of what waits stop at VitalsLimit.
type Vitals struct {
	// OutboxRows are the events that Temporal has not been told yet. Oldest is
	// the age of the oldest of them, UrgentOldest that of the oldest for which
	// somebody waits: neither a start nor a claim; 0 when there is none.
	OutboxRows                 int64
	OutboxOldest, UrgentOldest time.Duration
	// Lagging are the tasks with events whose consequences are not written
	// yet. LagEvents is the largest number of such events of one task,
	// LagOldest how long the one that waits longest has not changed.
	Lagging, LagEvents int64
	LagOldest          time.Duration
	// Workers are those of each task queue that somebody serves.
	Workers map[string]QueueWorkers
	// Nodes are what waits for people: what an archived pipeline has waits for nobody.
	// Tasks are all there are.
	Nodes []NodeCount
	Tasks map[string]int64 // by open, finished, failed
	// UploadsProcessing are being unpacked; UploadStalled is how long the one
	// without progress for longest has not changed, 0 when there is none.
	UploadsProcessing int64
	UploadStalled     time.Duration
	// SweepsOverdue is, by sweep (uploads, files, answers), how long what it should have
	// taken first has been due, 0 when nothing is.
	SweepsOverdue map[string]time.Duration
	// Tables are those whose dead rows slow people down.
	Tables []TableRows
	// OldestTransaction is the age of the transaction that keeps the oldest
	// rows from being removed, as far as the role may see those of others
	// (pg_read_all_stats), prepared ones included; this one is left out. What
	// standbys and replication slots keep is not in it: of that, Postgres knows no
	// time.
	OldestTransaction time.Duration
}

// QueueWorkers are the workers of a task queue: those that were heard, and
// those of them that reach Temporal.
type QueueWorkers struct{ Heard, Ready int64 }

// NodeCount is how many nodes of a kind (subtask, review) are in a state:
// queued (free or claimed), escalated, quarantined.
type NodeCount struct {
	Kind, State string
	N           int64
}

// TableRows are the rows of a table by the statistics of Postgres, which are a
// few seconds old.
type TableRows struct {
	Table      string `db:"relname"`
	Live, Dead int64
}

// VitalsLimit is where counts of what waits stop: "this many, or more".
const VitalsLimit = 10_000

var vitalsWorkersSQL = `SELECT q, count(*), count(*) FILTER (WHERE h.temporal_ok)
	FROM worker_heartbeats h CROSS JOIN unnest(h.queues) AS q WHERE ` + heardSQL("$1::interval") + ` GROUP BY q`

// The other statements of Vitals. Each one reads at most VitalsLimit rows by an
// index, or a table that stays small: kept counts, pipelines, heartbeats, statistics.
const (
	vitalsOutboxSQL = `SELECT (SELECT count(*) FROM (SELECT FROM outbox LIMIT $1) o),
		coalesce(now() - (SELECT created_at FROM outbox ORDER BY id LIMIT 1), interval '0'),
		coalesce(now() - (SELECT min(created_at) FROM (SELECT created_at FROM outbox WHERE priority < $2
			ORDER BY priority, next_attempt_at LIMIT $1) u), interval '0')`

	vitalsLagSQL = `SELECT count(*), coalesce(max((SELECT t.seq - t.applied_seq FROM tasks t WHERE t.id = l.task_id)), 0),
			coalesce(now() - min(l.since), interval '0')
		FROM (SELECT task_id, since FROM task_lag ORDER BY since LIMIT $1) l`

	vitalsCountsSQL = `SELECT version_id = 0, what, sum(n)::bigint FROM (
			SELECT pipeline_id, version_id, what, n FROM pipeline_counts
			UNION ALL SELECT pipeline_id, version_id, what, n FROM count_changes) k
		WHERE NOT EXISTS (SELECT FROM pipelines p WHERE p.id = k.pipeline_id AND p.status = 'ARCHIVED' AND k.version_id = 0)
		GROUP BY 1, 2`

	vitalsUploadsSQL = `SELECT count(*), coalesce(now() - min(updated_at), interval '0') FROM (
		SELECT updated_at FROM uploads WHERE status = 'processing' ORDER BY updated_at LIMIT $1) u`

	vitalsTablesSQL = `SELECT relname, n_live_tup AS live, n_dead_tup AS dead FROM pg_stat_user_tables
		WHERE schemaname = current_schema() AND relname IN ('tasks', 'task_nodes', 'task_events', 'outbox',
			'drafts', 'submissions', 'count_changes', 'uploads') ORDER BY relname`

	// A vacuum holds a snapshot, too, but nobody's rows: Postgres leaves it out. A
	// prepared transaction has no session, and anybody may see it.
	vitalsTransactionSQL = `SELECT coalesce(max(now() - since), interval '0') FROM (
		SELECT xact_start AS since FROM pg_stat_activity a
			WHERE datname = current_database() AND pid <> pg_backend_pid()
				AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
				AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = a.pid)
		UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) t`
)

// Vitals reads them in one round trip. Workers count as heard when their last
// heartbeat is at most within old and they still hold their connection.
func (s *Store) Vitals(ctx context.Context, within time.Duration) (Vitals, error) {
	v := Vitals{Workers: map[string]QueueWorkers{}, Tasks: map[string]int64{}, SweepsOverdue: map[string]time.Duration{}}
	b := &pgx.Batch{}
	b.Queue(vitalsOutboxSQL, VitalsLimit, UrgencyClaimed).QueryRow(func(row pgx.Row) error {
		return row.Scan(&v.OutboxRows, &v.OutboxOldest, &v.UrgentOldest)
	})
	b.Queue(vitalsLagSQL, VitalsLimit).QueryRow(func(row pgx.Row) error {
		return row.Scan(&v.Lagging, &v.LagEvents, &v.LagOldest)
	})
	b.Queue(vitalsWorkersSQL, within).Query(func(rows pgx.Rows) error {
		var queue string
		var w QueueWorkers
		_, err := pgx.ForEachRow(rows, []any{&queue, &w.Heard, &w.Ready}, func() error {
			v.Workers[queue] = w
			return nil
		})
		return err
	})
	b.Queue(vitalsCountsSQL).Query(v.scanCounts)
	b.Queue(vitalsUploadsSQL, VitalsLimit).QueryRow(func(row pgx.Row) error {
		return row.Scan(&v.UploadsProcessing, &v.UploadStalled)
	})
	b.Queue(vitalsSweepsSQL, VitalsLimit).Query(v.scanSweeps)
	b.Queue(vitalsTablesSQL).Query(func(rows pgx.Rows) (err error) {
		v.Tables, err = pgx.CollectRows(rows, pgx.RowToStructByName[TableRows])
		return err
	})
	b.Queue(vitalsTransactionSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&v.OldestTransaction) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return Vitals{}, translate(fmt.Errorf("read vitals: %w", err))
	}
	return v, nil
}

// scanCounts reads kept counts: of nodes as kind:state, of tasks as a state.
func (v *Vitals) scanCounts(rows pgx.Rows) error {
	var ofNodes bool
	var what string
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&ofNodes, &what, &n}, func() error {
		if !ofNodes {
			v.Tasks[what] += n
			return nil
		}
		kind, state, _ := strings.Cut(what, ":")
		v.Nodes = append(v.Nodes, NodeCount{kind, state, n})
		return nil
	})
	return err
}
