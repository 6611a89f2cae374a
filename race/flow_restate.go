package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/taskloom/taskloom/internal/measure/process"
)

// restateFlow is Restate's server with a handler on Node (js/restate.mjs): it
// waits for three awakeables.
type restateFlow struct {
	db      *database
	pool    *pgxpool.Pool
	server  *child
	handler *child
	ingress *httpClient
	data    string
	last    atomic.Int64
}

func restateFlowContender(o options) *flowContender {
	return &flowContender{
		in: info{
			Name: "Restate", Version: o.nodeVersion("@restatedev/restate-server") + ", SDK " + o.nodeVersion("@restatedev/restate-sdk"),
			Contract: "restate", Uses: []string{partPostgres},
		},
		open: func(ctx context.Context, r *room) (flowSystem, *database, error) {
			f := &restateFlow{}
			var err error
			if f.db, f.pool, err = newFlowDatabase(ctx, r); err != nil {
				return f, f.db, err
			}
			err = f.start(ctx, r)
			return f, f.db, err
		},
	}
}

func (f *restateFlow) start(ctx context.Context, r *room) error {
	var addrs [4]string
	for i := range addrs {
		var err error
		if addrs[i], err = process.FreeAddr(ctx); err != nil {
			return err
		}
	}
	ingress, admin, fabric := addrs[0], addrs[1], addrs[2]
	_, port, _ := strings.Cut(addrs[3], ":")
	dir, err := filepath.Abs(r.nodeDir())
	if err != nil {
		return err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return fmt.Errorf("node is not installed: %w", err)
	}
	if f.data, err = os.MkdirTemp(r.dir, "restate-"); err != nil {
		return err
	}
	f.handler = r.newChild("restate-handler", node, append(os.Environ(), "DATABASE_URL="+f.db.url, "PORT="+port, "POOL="+strconv.Itoa(poolSize),
		"NODE_ENV=production", "RESTATE_LOGGING=ERROR"), "restate.mjs")
	f.handler.Dir = dir
	if err := f.handler.Start(); err != nil {
		return err
	}
	f.server = r.newChild("restate-server", filepath.Join(dir, "node_modules", ".bin", "restate-server"), append(os.Environ(),
		"RESTATE_BASE_DIR="+f.data, "RESTATE_LISTEN_MODE=tcp", "RESTATE_BIND_ADDRESS="+fabric, "RESTATE_ADVERTISED_ADDRESS=http://"+fabric+"/",
		"RESTATE_INGRESS__BIND_ADDRESS="+ingress, "RESTATE_ADMIN__BIND_ADDRESS="+admin, "RESTATE_DISABLE_TELEMETRY=true", "RUST_LOG=warn"),
		"--no-logo", "--node-name", "race")
	f.server.Dir = f.data
	if err := f.server.Start(); err != nil {
		return err
	}
	if err := awaitOK(ctx, f.server, "http://"+admin+"/health"); err != nil {
		return err
	}
	if err := awaitOK(ctx, f.server, "http://"+ingress+"/restate/health"); err != nil {
		return err
	}
	c := newHTTPClient("http://"+admin, 1)
	defer c.closeIdle()
	if _, err := c.decode(ctx, http.MethodPost, "/deployments", map[string]any{"uri": "http://127.0.0.1:" + port, "force": true}, nil); err != nil {
		return f.handler.Complain(f.server.Complain(err))
	}
	f.ingress = newHTTPClient("http://"+ingress, flowClients)
	return nil
}

func (f *restateFlow) begin(ctx context.Context, client int) (life, error) {
	l := life{id: f.last.Add(1)}
	if _, err := f.ingress.decode(ctx, http.MethodPost, "/life/run/send", map[string]int64{"id": l.id}, nil); err != nil {
		return l, err
	}
	return f.message(ctx, client, l, stepClaimed)
}

// message resolves the awakeable that the step before has written down.
func (f *restateFlow) message(ctx context.Context, _ int, l life, step int) (life, error) {
	ctx, cancel := context.WithTimeout(ctx, visibleTimeout)
	defer cancel()
	for {
		var token string
		err := f.pool.QueryRow(ctx, `SELECT token FROM flow_steps WHERE id = $1 AND step = $2`, l.id, step-1).Scan(&token)
		if err == nil {
			_, err = f.ingress.decode(ctx, http.MethodPost, "/restate/awakeables/"+token+"/resolve", step, nil)
			return l, err
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return l, err
		}
		if err := wait(ctx, lookEvery); err != nil {
			return l, err
		}
	}
}

func (f *restateFlow) reached(step int) string { return stepsReached(step) }

func (f *restateFlow) children() []*child { return []*child{f.server, f.handler} }

func (f *restateFlow) directory() string { return f.data }

func (f *restateFlow) end(r *room) {
	if f.ingress != nil {
		f.ingress.closeIdle()
	}
	for _, c := range []*child{f.server, f.handler} {
		if c != nil {
			c.Stop()
		}
	}
	if f.pool != nil {
		f.pool.Close()
	}
	if f.data != "" {
		_ = os.RemoveAll(f.data)
	}
	r.drop(f.db)
}
