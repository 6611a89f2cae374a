package main

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
)

// readyTimeout bounds the start of a server.
const readyTimeout = 2 * time.Minute

// child is a program that runs beside this one and never outlives it. Its log
// is a file of its own; its output is one as well unless it is piped.
type child = process.Process

// newChild prepares a child; Start starts it.
func (r *room) newChild(name, path string, env []string, args ...string) *child {
	return &child{Name: name, Path: path, Args: args, Env: env, Log: filepath.Join(r.dir, name+".log")}
}

// awaitOK waits for a 200 of a child.
func awaitOK(ctx context.Context, of *child, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c := &http.Client{Timeout: 5 * time.Second}
	defer c.CloseIdleConnections()
	return of.AwaitOK(ctx, c, url)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
