package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/measure/procfs"
	"github.com/taskloom/taskloom/internal/measure/slo"
)

const megabyte = 1e6

// watch looks at memory, tables and the outbox every few seconds until the run
// ends, and rotates the log of histograms. It looks at the disk more often.
func (r *run) watch(ctx context.Context) {
	ctx, r.unwatch = context.WithCancel(ctx)
	r.watching.Go(func() { r.watchDisk(ctx) })
	r.watching.Go(func() {
		next := time.NewTicker(r.sample)
		defer next.Stop()
		for {
			r.look(ctx)
			select {
			case <-next.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// stopWatching takes a last look.
func (r *run) stopWatching(ctx context.Context) {
	if r.unwatch == nil {
		return
	}
	r.unwatch()
	r.watching.Wait()
	r.unwatch = nil
	r.look(ctx)
}

func (r *run) look(ctx context.Context) {
	at := time.Since(r.began)
	add := func(name, unit string, v float64) { r.series.Add(name, unit, at, v) }
	r.lookAtProcesses(add)
	if s := r.disk.get(); !s.good.IsZero() {
		add("disk stood still", "s", s.all.Seconds())
	}
	if err := r.lookAtRows(ctx, add); err != nil && ctx.Err() == nil {
		r.note("the database could not be looked at: %v", err)
	}
	if err := r.rec.Rotate(time.Now()); err != nil {
		r.note("%v", err)
	}
}

// parts are the processes of the stack that this machine runs, by DEV_DIR.
func parts() map[string]int {
	pids := map[string]int{}
	for _, part := range []string{"postgres", "temporal", "s3"} {
		raw, err := os.ReadFile(filepath.Join(os.Getenv("DEV_DIR"), part+".pid"))
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
			pids[part] = pid
		}
	}
	return pids
}

func (r *run) lookAtProcesses(add func(name, unit string, v float64)) {
	table, err := procfs.Read()
	if err != nil {
		return
	}
	for _, p := range r.cluster.processes() {
		pid := p.Pid()
		if held, err := procfs.MemoryOf(pid); pid != 0 && err == nil {
			add("memory "+p.Name, "MB", float64(held.Now)/megabyte)
			r.keepPeak(p.Name, held)
			add("CPU "+p.Name, "s", table[pid].Own.Seconds())
		}
	}
	for part, pid := range parts() {
		add("memory "+part, "MB", float64(procfs.Together(table.Family(pid)))/megabyte)
		add("CPU "+part, "s", table.Tree(pid).Seconds())
	}
	add("CPU load", "s", table[os.Getpid()].Own.Seconds())
}

// keepPeak keeps the most that a process has held since it started, which the
// kernel knows: between two looks it may have been more than at either. One that
// was killed began anew.
func (r *run) keepPeak(name string, held procfs.Memory) {
	r.peaks.with(func(all *map[string]float64) {
		if *all == nil {
			*all = map[string]float64{}
		}
		(*all)[name] = max((*all)[name], float64(held.Peak)/megabyte)
	})
}

// sumMemory tells the peak of each process, and of the largest.
func (r *run) sumMemory() {
	most := 0.0
	for name, peak := range r.peaks.get() {
		r.number("memory "+name+", peak MB", peak)
		most = max(most, peak)
	}
	if most > 0 {
		r.number(slo.Memory, most)
	}
}

// watched are the tables that work changes.
var watched = []string{"tasks", "task_nodes", "task_events", "submissions", "drafts", "task_lag", "outbox", "sessions", "api_keys", "idempotency_keys"}

func (r *run) lookAtRows(ctx context.Context, add func(name, unit string, v float64)) error {
	rows, err := r.pool.Query(ctx, `SELECT relname, n_dead_tup, n_live_tup, pg_table_size(relid), pg_indexes_size(relid)
		FROM pg_stat_user_tables WHERE relname = ANY($1)`, watched)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var dead, live, heap, indexes int64
		if err := rows.Scan(&name, &dead, &live, &heap, &indexes); err != nil {
			return err
		}
		add("dead tuples "+name, "rows", float64(dead))
		add("dead share "+name, "%", 100*float64(dead)/float64(max(1, dead+live)))
		add("size "+name, "MB", float64(heap)/megabyte)
		add("indexes "+name, "MB", float64(indexes)/megabyte)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	b, err := r.backlog(ctx)
	if err != nil {
		return err
	}
	add("outbox depth", "rows", float64(b.rows))
	add("outbox oldest", "s", b.oldest.Seconds())
	add("outbox oldest, people's", "s", b.urgent.Seconds())
	add("applied lag", "tasks", float64(b.lagging))
	add("applied lag oldest", "s", b.lagged.Seconds())
	var connections int64
	var wal float64
	if err := r.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
		pg_current_wal_lsn() - '0/0'::pg_lsn`).Scan(&connections, &wal); err != nil {
		return err
	}
	add("connections", "", float64(connections))
	add("WAL", "MB", wal/megabyte)
	return nil
}

// backlog is how far the runs are behind the journal.
type backlog struct {
	rows, lagging int64
	// oldest is the age of the oldest outbox row, urgent that of the oldest that
	// is no bulk start, lagged that of the oldest task that lags.
	oldest, urgent, lagged time.Duration
}

func (r *run) backlog(ctx context.Context) (b backlog, err error) {
	err = r.pool.QueryRow(ctx, `SELECT o.*, l.* FROM
		(SELECT count(*), coalesce(now() - min(created_at), interval '0'),
			coalesce(now() - min(created_at) FILTER (WHERE priority < 9), interval '0') FROM outbox) o,
		(SELECT count(*), coalesce(now() - min(since), interval '0') FROM task_lag) l`).
		Scan(&b.rows, &b.oldest, &b.urgent, &b.lagging, &b.lagged)
	return b, err
}
