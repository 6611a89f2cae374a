package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/taskloom/taskloom/internal/measure/process"
)

// The floor of polls is a process of its own, as the product's API is: this
// program, started again. chi, pgx and encoding/json answer with the product's
// SQL; there is no key, no limit, no cursor, no entity tag, no request id, no
// log and no metric.
const (
	floorCommand = "poll-floor"
	floorPaths   = "/workflows/{workflow}/tasks"
)

// floorAsked reports whether this process is to be the floor.
func floorAsked() bool { return len(os.Args) > 1 && os.Args[1] == floorCommand }

// startPollFloor starts it for the organization of a world.
func (b *bench) startPollFloor(ctx context.Context, w *world) (floor *process.Process, base string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	addr, err := process.FreeAddr(ctx)
	if err != nil {
		return nil, "", err
	}
	env := append(os.Environ(), "DATABASE_URL="+w.url)
	floor, err = b.newChild("floor", self, env, floorCommand, addr, strconv.FormatInt(w.orgID, 10))
	if err != nil {
		return nil, "", err
	}
	if err := floor.Start(); err != nil {
		return nil, "", err
	}
	base = "http://" + addr
	return floor, base, awaitOK(ctx, floor, base+"/healthz")
}

// floorMain is the floor's process.
func floorMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := serveFloor(ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		return 1
	}
	return 0
}

func serveFloor(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("the floor takes an address and an organization")
	}
	org, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	config.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	f := &pollFloor{pool: pool, org: org}
	r := chi.NewRouter()
	r.Get("/healthz", func(http.ResponseWriter, *http.Request) {})
	r.Get(floorPaths, f.list)
	r.Get(floorPaths+"/{task}", f.status)
	server := &http.Server{Addr: args[0], Handler: r, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // nobody is left to answer
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type pollFloor struct {
	pool *pgxpool.Pool
	org  int64
}

// floorTask is what both tell of a task.
type floorTask struct {
	ID          int64  `json:"id"`
	Status      string `json:"status"`
	NodeSummary struct {
		Total      int `json:"total"`
		Finished   int `json:"finished"`
		InProgress int `json:"in_progress"`
		Pending    int `json:"pending"`
	} `json:"node_summary"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

const floorColumns = `t.id, t.status, t.n_total, t.n_finished, t.n_in_progress, t.n_pending, t.created_at, t.updated_at`

func (t *floorTask) into() []any {
	s := &t.NodeSummary
	return []any{&t.ID, &t.Status, &s.Total, &s.Finished, &s.InProgress, &s.Pending, &t.CreatedAt, &t.UpdatedAt}
}

func (t *floorTask) utc() { t.CreatedAt, t.UpdatedAt = t.CreatedAt.UTC(), t.UpdatedAt.UTC() }

func (f *pollFloor) status(w http.ResponseWriter, r *http.Request) {
	workflow, err := strconv.ParseInt(chi.URLParam(r, "workflow"), 10, 64)
	if err != nil {
		http.Error(w, "no such workflow", http.StatusNotFound)
		return
	}
	id, err := strconv.ParseInt(chi.URLParam(r, "task"), 10, 64)
	if err != nil {
		http.Error(w, "no such task", http.StatusNotFound)
		return
	}
	var t floorTask
	var paused bool
	err = f.pool.QueryRow(r.Context(), `SELECT `+floorColumns+`, p.status = $4
		FROM tasks t JOIN pipelines p ON p.id = t.pipeline_id AND p.org_id = t.org_id
		WHERE t.id = $1 AND t.pipeline_id = $2 AND t.org_id = $3`, id, workflow, f.org, "PAUSED").Scan(append(t.into(), &paused)...)
	if err != nil {
		http.Error(w, "no such task", http.StatusNotFound)
		return
	}
	t.utc()
	answerJSON(w, t)
}

func (f *pollFloor) list(w http.ResponseWriter, r *http.Request) {
	workflow, err := strconv.ParseInt(chi.URLParam(r, "workflow"), 10, 64)
	if err != nil {
		http.Error(w, "no such workflow", http.StatusNotFound)
		return
	}
	var page struct {
		Tasks      []floorTask `json:"tasks"`
		NextCursor *string     `json:"next_cursor"`
		HasMore    bool        `json:"has_more"`
	}
	var paused bool
	b := &pgx.Batch{}
	b.Queue(`SELECT status = $3 FROM pipelines WHERE id = $1 AND org_id = $2`, workflow, f.org, "PAUSED").
		QueryRow(func(row pgx.Row) error { return row.Scan(&paused) })
	b.Queue(`SELECT `+floorColumns+` FROM tasks t WHERE t.pipeline_id = $1 AND t.org_id = $2 AND t.id < $3 ORDER BY t.id DESC LIMIT $4`,
		workflow, f.org, int64(1<<63-1), pageSize+1).Query(func(rows pgx.Rows) (err error) {
		page.Tasks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (floorTask, error) {
			var t floorTask
			err := row.Scan(t.into()...)
			t.utc()
			return t, err
		})
		return err
	})
	if err := f.pool.SendBatch(r.Context(), b).Close(); err != nil {
		http.Error(w, "no such workflow", http.StatusNotFound)
		return
	}
	if page.HasMore = len(page.Tasks) > pageSize; page.HasMore {
		page.Tasks = page.Tasks[:pageSize]
	}
	answerJSON(w, page)
}

func answerJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a caller who left misses it
}
