package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// The stand-in for bin/taskloom keeps what it must not forget in Postgres and
// is ready when all three parts answer, as the real one.

func runFakeApp(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	switch args[0] {
	case "migrate":
		err = fakeMigrate(ctx)
	case "apply":
		err = fakeApply(ctx)
	case "key":
		err = fakeKey(ctx, args)
	case "serve":
		err = fakeServe(ctx)
	case "worker":
		err = fakeWorker(ctx)
	default:
		err = fmt.Errorf("no such command: %v", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "taskloom:", err)
		return 1
	}
	return 0
}

func fakeDB(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
}

func fakeExec(ctx context.Context, sql string, args ...any) (int64, error) {
	conn, err := fakeDB(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	tag, err := conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

func fakeMigrate(ctx context.Context) error {
	_, err := fakeExec(ctx, `CREATE TABLE IF NOT EXISTS keys (name text PRIMARY KEY, value text);
		CREATE TABLE IF NOT EXISTS tasks (id serial, body text)`)
	return err
}

func newKey(ctx context.Context, name string) (value string, made bool, err error) {
	value = fmt.Sprintf("pk_live_%s_%d", name, os.Getpid())
	n, err := fakeExec(ctx, `INSERT INTO keys VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, value)
	return value, n == 1, err
}

func fakeApply(ctx context.Context) error {
	value, made, err := newKey(ctx, "demo")
	if err != nil {
		return err
	}
	key := map[string]string{"name": "demo"}
	if made {
		key["value"] = value
	}
	pipeline := map[string]any{"name": "Check", "id": 7, "status": "ACTIVE"}
	project := map[string]any{"id": 1, "name": "Grade school", "pipelines": []any{pipeline}}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"organizations": []any{map[string]any{
		"slug": "demo", "id": 1, "projects": []any{project}, "api_keys": []any{key},
	}}})
}

func fakeKey(ctx context.Context, args []string) error {
	for i, arg := range args {
		if arg != "--name" {
			continue
		}
		value, made, err := newKey(ctx, args[i+1])
		if err != nil || !made {
			return fmt.Errorf("a key %q exists (%w)", args[i+1], err)
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"id": 2, "name": args[i+1], "value": value})
	}
	return fmt.Errorf("no name: %v", args)
}

func fakeServe(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := fakeReady(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /api/v1/workflows/7", withKey(func(http.ResponseWriter, *http.Request) {}))
	mux.HandleFunc("POST /api/v1/workflows/7/tasks", withKey(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fakeExec(r.Context(), `INSERT INTO tasks (body) VALUES ('x')`); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, `{"success_count":1}`)
	}))
	for _, addr := range []string{os.Getenv("METRICS_ADDR"), os.Getenv("ADDR")} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		go func() { _ = http.Serve(l, mux) }()
	}
	fmt.Println("serving on", os.Getenv("ADDR"), "with RATE_LIMIT_KEY", os.Getenv("RATE_LIMIT_KEY"))
	<-ctx.Done()
	return nil
}

func fakeReady(ctx context.Context) error {
	if _, err := fakeExec(ctx, `SELECT 1`); err != nil {
		return err
	}
	for _, addr := range []string{os.Getenv("TEMPORAL_ADDRESS"), strings.TrimPrefix(os.Getenv("S3_ENDPOINT"), "http://")} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		conn.Close()
	}
	return nil
}

func withKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		n, err := fakeExec(r.Context(), `SELECT FROM keys WHERE value = $1`, value)
		if err != nil || n != 1 {
			http.Error(w, fmt.Sprintf("no such key (%v)", err), http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func fakeWorker(ctx context.Context) error {
	l, err := net.Listen("tcp", os.Getenv("METRICS_ADDR"))
	if err != nil {
		return err
	}
	defer l.Close()
	<-ctx.Done()
	return nil
}
