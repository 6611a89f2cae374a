package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// mostIdle are the idle connections of a storm, as far as Postgres has room.
const mostIdle = 300

// fault is one of the five.
type fault struct {
	name, says string
	// momentary faults are over at once: recovery counts from their cause. The others
	// last until they are healed.
	momentary bool
	// before is what is done for it while all is well; nothing when nil.
	before func(ctx context.Context, h *havoc) error
	// cause lasts until heal is called.
	cause func(ctx context.Context, h *havoc) (heal func(ctx context.Context) error, err error)
}

var faults = []fault{
	{name: faultKill, says: "a worker killed", before: stopWithWork, cause: killWorker},
	{name: "restart", says: "Postgres crashed", momentary: true, cause: restartPostgres},
	{name: "terminate", says: "backends terminated, 2/s", cause: terminateBackends},
	{name: "idle", says: "idle connections", cause: openIdle},
	{name: faultHeld, says: "snapshot held", cause: holdOld},
}

// faultHeld is the fault that needs its time: what a snapshot keeps from being
// removed grows as long as it is held.
const faultHeld = "held"

// faultKill is the fault that leaves items in dead hands.
const faultKill = "kill"

// killWorker is kill -9 of one of the two workers. Healing starts it again.
func killWorker(_ context.Context, h *havoc) (func(context.Context) error, error) {
	h.keeping.Lock()
	defer h.keeping.Unlock()
	h.away = true
	h.killedAt = time.Now()
	h.system.workers()[0].Kill()
	return func(ctx context.Context) error {
		h.keeping.Lock()
		defer h.keeping.Unlock()
		h.away = false
		return h.system.startWorker(ctx, 0)
	}, nil
}

// restartPostgres lets Postgres crash; whoever runs the stack brings it back.
func restartPostgres(_ context.Context, h *havoc) (func(context.Context) error, error) {
	pid := partPid(partPostgres)
	if pid == 0 {
		return nil, errors.New("DEV_DIR names no Postgres: run `make race`, which starts one")
	}
	return func(ctx context.Context) error {
			conn, err := h.observe(ctx)
			if err != nil {
				return err
			}
			return conn.Close(ctx)
		},
		syscall.Kill(pid, syscall.SIGQUIT)
}

// during repeats f until it is healed.
func during(ctx context.Context, every time.Duration, f func(context.Context)) func(context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait(ctx, every) == nil {
			f(ctx)
		}
	}()
	return func(context.Context) error {
		cancel()
		<-done
		return nil
	}
}

// terminateBackends ends one of the contender's connections twice a second.
func terminateBackends(ctx context.Context, h *havoc) (func(context.Context) error, error) {
	return during(ctx, 500*time.Millisecond, func(ctx context.Context) {
		conn, err := h.observe(ctx)
		if err != nil {
			return
		}
		defer conn.Close(ctx)
		_, _ = conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name <> $1 ORDER BY random() LIMIT 1`, chaosName) // the next one may work
	}), nil
}

// openIdle opens idle connections, as many as a storm has or Postgres has room
// for besides twenty.
func openIdle(ctx context.Context, h *havoc) (func(context.Context) error, error) {
	room, err := countURL(ctx, h.system.databaseURL(), `SELECT current_setting('max_connections')::int - count(*) - 20 FROM pg_stat_activity`)
	if err != nil {
		return nil, err
	}
	var idle []*pgx.Conn
	for range min(mostIdle, int(max(0, room))) {
		conn, err := h.observe(ctx)
		if err != nil {
			return nil, err
		}
		idle = append(idle, conn)
	}
	h.s.Values["idle_connections"] = float64(len(idle))
	return func(ctx context.Context) error {
		for _, c := range idle {
			_ = c.Close(ctx) // it had nothing to say
		}
		return nil
	}, nil
}

// holdOld holds a transaction with an id.
func holdOld(ctx context.Context, h *havoc) (func(context.Context) error, error) {
	conn, err := h.observe(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, `SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()`)
	return conn.Close, err
}
