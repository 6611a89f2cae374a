package main

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// riverModule is where River's version is read from.
const riverModule = "github.com/riverqueue/river"

// riverItem is a job with a text, as large as the items of the others.
type riverItem struct {
	Question string `json:"question"`
}

// Kind implements river.JobArgs.
func (riverItem) Kind() string { return "item" }

// riverWorker does nothing but tell which job it was given.
type riverWorker struct {
	river.WorkerDefaults[riverItem]

	work func(ctx context.Context, job *river.Job[riverItem]) error
}

// Work implements river.Worker.
func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverItem]) error {
	return w.work(ctx, job)
}

var quiet = slog.New(slog.DiscardHandler)

// migrateRiver makes River's tables.
func migrateRiver(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// insertRiver inserts n jobs with one call per mostPerRequest.
func insertRiver(ctx context.Context, pool *pgxpool.Pool, n, size int) error {
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet})
	if err != nil {
		return err
	}
	for ; n > 0; n -= mostPerRequest {
		if _, err := c.InsertManyFast(ctx, riverItems(min(n, mostPerRequest), size)); err != nil {
			return err
		}
	}
	return nil
}

func riverItems(n, size int) []river.InsertManyParams {
	items := make([]river.InsertManyParams, n)
	for i := range items {
		items[i].Args = riverItem{Question: text(i, max(1, size-itemFrame))}
	}
	return items
}

// riverQueue is a database with River's tables and jobs in them.
type riverQueue struct {
	db   *database
	pool *pgxpool.Pool
}

func openRiver(ctx context.Context, r *room, items int) (*riverQueue, error) {
	q := &riverQueue{}
	var err error
	if q.db, err = r.newDatabase(ctx, nil); err != nil {
		return q, err
	}
	if q.pool, err = newPool(ctx, q.db.url); err != nil {
		return q, err
	}
	if err := migrateRiver(ctx, q.pool); err != nil {
		return q, err
	}
	if err := insertRiver(ctx, q.pool, items, r.payload); err != nil {
		return q, err
	}
	return q, settle(ctx, q.db.url)
}

func (q *riverQueue) finished(ctx context.Context) (int64, error) {
	return countURL(ctx, q.db.url, `SELECT count(*) FROM river_job WHERE state = 'completed'`)
}

func (q *riverQueue) databaseURL() string { return q.db.url }

func (q *riverQueue) children() []*child { return nil }

func (q *riverQueue) end(r *room) {
	if q == nil {
		return
	}
	if q.pool != nil {
		q.pool.Close()
	}
	r.drop(q.db)
}

// riverClaims is River as it is meant: its client fetches and finishes jobs for
// its workers, many at a time.
type riverClaims struct{ *riverQueue }

func riverClaimContender(clients int) *claimContender {
	return &claimContender{
		in: info{
			Name: "River", Version: moduleVersion(riverModule), Contract: "river", Batch: true, Uses: []string{partPostgres},
		},
		clients: clients,
		open: func(ctx context.Context, r *room) (claimQueue, error) {
			q, err := openRiver(ctx, r, r.items)
			return riverClaims{q}, err
		},
	}
}

// work counts from the start of River's client until it has stopped, when all
// that was done is committed.
func (q riverClaims) work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error) {
	run := newClaimRun()
	left, err := countURL(ctx, q.db.url, `SELECT count(*) FROM river_job WHERE state = 'available'`)
	if err != nil {
		return run, err
	}
	limit = min(limit, int(left))
	var mu sync.Mutex
	seen := map[int64]bool{}
	enough := make(chan struct{})
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{work: func(_ context.Context, job *river.Job[riverItem]) error {
		mu.Lock()
		defer mu.Unlock()
		if seen[job.ID] {
			run.doubles++
		}
		seen[job.ID] = true
		if run.done++; run.done == limit {
			close(enough)
		}
		return nil
	}})
	c, err := river.NewClient(riverpgxv5.New(q.pool), &river.Config{
		Logger: quiet, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: clients}},
		FetchCooldown: time.Millisecond, // its least: waiting would be all that is measured
	})
	if err != nil {
		return run, err
	}
	if err := c.Start(ctx); err != nil {
		return run, err
	}
	if limit > 0 {
		select {
		case <-enough:
		case <-time.After(most):
		case <-ctx.Done():
		}
	}
	return run, c.Stop(ctx)
}

func (q riverClaims) pace(context.Context, int, time.Duration) (claimRun, error) {
	return claimRun{}, errPushed
}

// riverStatements is what River's client runs against Postgres, one job at a
// time: its own statements for fetching and for finishing, without its client.
type riverStatements struct {
	*riverQueue
	pulled
}

func riverStatementsContender(clients int) *claimContender {
	return &claimContender{
		in: info{
			Name: "River's statements, one at a time", Version: moduleVersion(riverModule), Contract: "river", Uses: []string{partPostgres},
		},
		clients: clients,
		open: func(ctx context.Context, r *room) (claimQueue, error) {
			q, err := openRiver(ctx, r, r.items)
			s := &riverStatements{riverQueue: q}
			s.claimer = s
			return s, err
		},
	}
}

func (q *riverStatements) claim(ctx context.Context, _ int) (string, string, error) {
	res, err := riverpgxv5.New(q.pool).GetExecutor().JobGetAvailable(ctx, &riverFetch)
	if err != nil {
		return "", "", err
	}
	if len(res.Jobs) == 0 {
		return "", "", errEmpty
	}
	return strconv.FormatInt(res.Jobs[0].ID, 10), "", nil
}

func (q *riverStatements) finish(ctx context.Context, _ int, id, _ string) error {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	_, err = riverpgxv5.New(q.pool).GetExecutor().JobSetStateIfRunningMany(ctx, riverCompleted(n))
	return err
}

// riverFetch is what River's producer asks for when one worker is free.
var riverFetch = riverdriver.JobGetAvailableParams{ClientID: "race", MaxAttemptedBy: 100, MaxToLock: 1, Queue: river.QueueDefault}

// riverCompleted is what River's completer writes for one job.
func riverCompleted(id int64) *riverdriver.JobSetStateIfRunningManyParams {
	p := riverdriver.JobSetStateCompleted(id, time.Now(), nil)
	return &riverdriver.JobSetStateIfRunningManyParams{
		ID: []int64{p.ID}, Attempt: []*int{p.Attempt}, ErrData: [][]byte{p.ErrData}, FinalizedAt: []*time.Time{p.FinalizedAt},
		MetadataDoMerge: []bool{p.MetadataDoMerge}, MetadataUpdates: [][]byte{p.MetadataUpdates},
		ScheduledAt: []*time.Time{p.ScheduledAt}, State: []rivertype.JobState{p.State},
	}
}
