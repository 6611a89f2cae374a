package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
)

// readyTimeout bounds the start of the product's processes.
const readyTimeout = 90 * time.Second

// cluster is the product as production runs it: so many processes of each
// kind, side by side on one database.
type cluster struct {
	binary  string
	env     []string
	serves  []*process.Process
	workers []*process.Process
	bases   []string // where the API listens, one a process
	ready   []string // where a worker is asked whether it is ready
	client  *http.Client
}

// newCluster prepares the processes, on a database that is migrated.
func newCluster(ctx context.Context, o options, databaseURL, dir string) (*cluster, error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build the product first (make build), or name it with -taskloom", err)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	c := &cluster{binary: binary, client: &http.Client{Timeout: 5 * time.Second}}
	for i := range o.serves + o.workers {
		addr, err := process.FreeAddr(ctx)
		if err != nil {
			return nil, err
		}
		metrics, err := process.FreeAddr(ctx)
		if err != nil {
			return nil, err
		}
		level := "info"
		if o.script == "soak" {
			level = "warn" // a day of access log fills disks
		}
		if i == 0 {
			c.env = append(os.Environ(), // of two equal names the last counts
				"DATABASE_URL="+databaseURL, "PUBLIC_URL=http://"+addr, "SECRET_KEY="+hex.EncodeToString(secret[:]),
				"LOG_LEVEL="+level, "LOG_FORMAT=json",
				// All clients have one address here; the limits of keys stay as they are.
				"RATE_LIMIT_ADDRESS=off", "RATE_LIMIT_FAILED_AUTH=off")
		}
		name, args, number := "serve", []string{"serve"}, i+1
		if i >= o.serves {
			name, args, number = "worker", []string{"worker"}, i-o.serves+1
		}
		p := &process.Process{
			Name: fmt.Sprintf("%s-%d", name, number), Path: binary, Args: args,
			Env: slices.Concat(c.env, []string{"ADDR=" + addr, "METRICS_ADDR=" + metrics}),
		}
		p.Log = filepath.Join(dir, p.Name+".log")
		if name == "serve" {
			p.Env = append(p.Env, o.places(os.Getenv)...)
			c.serves, c.bases = append(c.serves, p), append(c.bases, "http://"+addr)
		} else {
			c.workers, c.ready = append(c.workers, p), append(c.ready, "http://"+metrics+"/readyz")
		}
	}
	return c, nil
}

// places bounds the requests that each serve works on at a time: all together two
// for each processor, one each at least. The default, four, supposes that the
// processors are those of one; here they are everybody's, as in the development
// stack and under docker-compose. What the environment says goes first.
func (o options) places(env func(string) string) []string {
	const name, all = "REQUESTS_PER_PROCESSOR", 2
	if cmp.Or(env(name), env("REQUESTS_AT_ONCE")) != "" {
		return nil
	}
	return []string{fmt.Sprintf("%s=%d", name, max(1, all/o.serves))}
}

// through lets the product reach Temporal at another address, from the next
// start on.
func (c *cluster) through(temporal string) {
	for _, p := range c.processes() {
		p.Env = append(p.Env, "TEMPORAL_ADDRESS="+temporal)
	}
}

func (c *cluster) processes() []*process.Process { return slices.Concat(c.serves, c.workers) }

// start starts all and waits until they say that all parts are there.
func (c *cluster) start(ctx context.Context) error {
	for _, p := range c.processes() {
		if err := p.Start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for i, p := range c.workers {
		if err := p.AwaitOK(ctx, c.client, c.ready[i]); err != nil {
			return err
		}
	}
	for i, p := range c.serves {
		if err := p.AwaitOK(ctx, c.client, c.bases[i]+"/readyz"); err != nil {
			return err
		}
	}
	return nil
}

// again starts a worker that is gone, and waits until it is ready.
func (c *cluster) again(ctx context.Context, worker int) error {
	p := c.workers[worker]
	if err := p.Start(); err != nil {
		return err
	}
	return p.AwaitOK(ctx, c.client, c.ready[worker])
}

func (c *cluster) stop() {
	for _, p := range slices.Backward(c.processes()) {
		p.Stop()
	}
}

// dead names the processes that are gone.
func (c *cluster) dead() (names []string) {
	for _, p := range c.processes() {
		if p.Pid() == 0 {
			names = append(names, p.Name)
		}
	}
	return names
}
