package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/envfile"
)

// demoFile is what every new stack starts with.
const demoFile = "dev/demo.yaml"

// app is the product's own program.
type app struct {
	binary string
	env    Environ
	vars   []envfile.Var
}

// findApp finds what make has built before us.
func findApp(env Environ) (*app, error) {
	binary, err := filepath.Abs("bin/taskloom")
	if err != nil {
		return nil, fmt.Errorf("find bin/taskloom: %w", err)
	}
	for path, way := range map[string]string{
		binary:   "make dev builds it; by hand: go build -o bin/taskloom ./cmd/taskloom",
		demoFile: "run this in the root of the repository",
	} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not there\n  %s", path, way)
		} else if err != nil {
			return nil, err
		}
	}
	return &app{binary: binary, env: env}, nil
}

func (a *app) migrate(ctx context.Context, s *Stack) error {
	_, err := a.run(ctx, s, "taskloom migrate", "migrate")
	return err
}

// apply loads the demo organization; what is there already stays.
func (a *app) apply(ctx context.Context, s *Stack) (*demo, error) {
	out, err := a.run(ctx, s, "taskloom apply", "apply", "-f", demoFile, "--output", "json")
	if err != nil {
		return nil, err
	}
	return readDemo(out)
}

// start runs the product's two processes and waits until both can work.
func (a *app) start(ctx context.Context, s *Stack) error {
	ready := answersOK(baseURL(lookup(a.vars, "ADDR"))+"/readyz", readyTime)
	workerVars := envfile.Var{Name: "METRICS_ADDR", Value: lookup(a.vars, "WORKER_METRICS_ADDR")}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return s.sup.Start(ctx, s.appProcess(serve, a.binary, a.env.with(a.vars, a.env.places()...), ready))
	})
	group.Go(func() error {
		return s.sup.Start(ctx, s.appProcess(worker, a.binary, a.env.with(a.vars, workerVars), started))
	})
	// A worker that dies at once leaves the API waiting for it in vain.
	var failed error
	settled := make(chan struct{})
	go func() {
		failed = group.Wait()
		close(settled)
	}()
	select {
	case <-settled:
		return failed
	case death := <-s.sup.deaths:
		cancel()
		<-settled // both are registered or not begun: Stop finds what runs
		return death
	}
}

// createKey makes another API key, for when the value of the first is lost:
// only its hash is in the database.
func (a *app) createKey(ctx context.Context, s *Stack, org, by string) (string, error) {
	var last error
	for n := 2; n < 10; n++ {
		out, err := a.run(ctx, s, "taskloom key create", "key", "create", "--org", org,
			"--name", fmt.Sprintf("%s-%d", org, n), "--created-by", by, "--output", "json")
		if err != nil {
			last = err // the name is taken, most likely
			continue
		}
		var made struct{ Value string }
		if err := json.Unmarshal(out, &made); err != nil || made.Value == "" {
			return "", fmt.Errorf("taskloom key create printed no key: %q", out)
		}
		return made.Value, nil
	}
	return "", last
}

// run runs one of the product's commands and returns what it prints on stdout.
// Both outputs go to a log as well, with the secrets of stdout left out.
func (a *app) run(ctx context.Context, s *Stack, title string, args ...string) ([]byte, error) {
	step := s.say.Start(title, "")
	out, err := a.runQuiet(ctx, s, args)
	step.Done(err)
	return out, err
}

func (a *app) runQuiet(ctx context.Context, s *Stack, args []string) ([]byte, error) {
	log := s.dir.Log(args[0])
	if err := child.KeepPrevious(log); err != nil {
		return nil, err
	}
	to, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of taskloom %s: %w", args[0], err)
	}
	defer to.Close()
	cmd := exec.Command(a.binary, args...)
	cmd.Env = a.env.with(a.vars)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, to
	if err := s.spawner.Run(ctx, cmd); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tail := strings.Join(child.Tail(log, tailLines), "\n    ")
		return nil, fmt.Errorf("bin/taskloom %s: %s\n    %s\n  log: %s", strings.Join(args, " "), child.How(err), tail, log)
	}
	return out.Bytes(), nil
}
