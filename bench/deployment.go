package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
)

// readyTimeout bounds the start of the product's processes.
const readyTimeout = time.Minute

// deployment is the product as production runs it, each process by itself, on a
// database of its own.
type deployment struct {
	base       string
	workerBase string // where the worker is asked whether it is ready
	env        []string
	binary     string
	api        *process.Process
	worker     *process.Process
}

// manyAtOnce lets every client of a closed loop in at a time. Such a client asks
// again at once: where serve bounds its requests to few, what it refuses comes
// back without the wait that real callers keep, and the refusals are most of what
// is measured. The connections to Postgres remain the bound, as they are for the
// floors.
const manyAtOnce = "REQUESTS_AT_ONCE=64"

// deploy prepares the processes for a database that is migrated, with settings
// besides the usual ones.
func (b *bench) deploy(ctx context.Context, databaseURL string, settings ...string) (*deployment, error) {
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build the product first (make build), or name it with -taskloom", err)
	}
	var addrs [3]string
	for i := range addrs {
		if addrs[i], err = process.FreeAddr(ctx); err != nil {
			return nil, err
		}
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	d := &deployment{base: "http://" + addrs[0], binary: binary}
	d.env = append(os.Environ(), // of two equal names the last counts
		"DATABASE_URL="+databaseURL, "ADDR="+addrs[0], "METRICS_ADDR="+addrs[1], "PUBLIC_URL="+d.base,
		"SECRET_KEY="+hex.EncodeToString(secret[:]), "LOG_LEVEL=info", "LOG_FORMAT=json",
		// What is measured is the product, not how it holds callers back.
		"RATE_LIMIT_KEY=off", "RATE_LIMIT_ADDRESS=off", "RATE_LIMIT_FAILED_AUTH=off")
	d.env = append(d.env, settings...)
	if d.api, err = b.newChild("serve", binary, d.env, "serve"); err != nil {
		return nil, err
	}
	d.workerBase = "http://" + addrs[2]
	d.worker, err = b.newChild("worker", binary, slices.Concat(d.env, []string{"METRICS_ADDR=" + addrs[2]}), "worker")
	return d, err
}

// startServe starts the API alone.
func (d *deployment) startServe(ctx context.Context) error {
	if err := d.api.Start(); err != nil {
		return err
	}
	return awaitOK(ctx, d.api, d.base+"/healthz")
}

// start starts both and waits until the API says that all parts are there.
func (d *deployment) start(ctx context.Context) error {
	if _, err := d.command(ctx, nil, "migrate"); err != nil {
		return err
	}
	if d.api.Pid() == 0 {
		if err := d.startServe(ctx); err != nil {
			return err
		}
	}
	if err := d.worker.Start(); err != nil {
		return err
	}
	if err := awaitOK(ctx, d.worker, d.workerBase+"/readyz"); err != nil {
		return err
	}
	return awaitOK(ctx, d.api, d.base+"/readyz")
}

func (d *deployment) stop() {
	d.worker.Stop()
	d.api.Stop()
}

// awaitOK waits for a 200 of a child.
func awaitOK(ctx context.Context, of *process.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return of.AwaitOK(ctx, &http.Client{Timeout: 5 * time.Second}, url)
}

// command runs a command of the product.
func (d *deployment) command(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, d.binary, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = d.env, stdin, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("taskloom %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// applied are the ids that a document got, by name, and its new API key.
type applied struct {
	org       int64
	pipelines map[string]int64
	key       string
}

// apply brings a document about that has one organization with one API key.
func (d *deployment) apply(ctx context.Context, document string) (applied, error) {
	a := applied{pipelines: map[string]int64{}}
	out, err := d.command(ctx, strings.NewReader(document), "apply", "-f", "-", "--output", "json")
	if err != nil {
		return a, err
	}
	var doc struct {
		Organizations []struct {
			ID        int64
			Pipelines []struct {
				ID   int64
				Name string
			}
			APIKeys []struct{ Value string } `json:"api_keys"`
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return a, fmt.Errorf("read what apply prints: %w", err)
	}
	if len(doc.Organizations) != 1 || len(doc.Organizations[0].APIKeys) != 1 {
		return a, fmt.Errorf("apply prints not one organization with one key: %s", out)
	}
	o := doc.Organizations[0]
	a.org, a.key = o.ID, o.APIKeys[0].Value
	for _, p := range o.Pipelines {
		a.pipelines[p.Name] = p.ID
	}
	return a, nil
}
