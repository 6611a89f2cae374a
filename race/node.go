package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// nodeDir is where install.sh puts the contenders that run on Node.
func (o options) nodeDir() string { return filepath.Join(o.cache, "js") }

// nodeVersion is the version of an npm package that is installed.
func (o options) nodeVersion(name string) string {
	raw, err := os.ReadFile(filepath.Join(o.nodeDir(), "node_modules", name, "package.json"))
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	_ = json.Unmarshal(raw, &p) // no version then
	return p.Version
}

// pythonVersion is the version of a package in the virtual environment.
func (o options) pythonVersion(name string) string {
	return firstOf(context.Background(), filepath.Join(o.cache, "venv", "bin", "python"), "-c",
		"from importlib.metadata import version; print(version('"+name+"'))")
}

// nodeDriver is a process of js/queues.mjs: one command and one answer a line.
type nodeDriver struct {
	*child

	mu     sync.Mutex
	in     io.WriteCloser
	out    *bufio.Reader
	outEnd io.Closer
}

// startNode starts a driver on a database.
func (r *room) startNode(name, system, databaseURL string) (*nodeDriver, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("node is not installed: %w", err)
	}
	dir, err := filepath.Abs(r.nodeDir())
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "queues.mjs")); err != nil {
		return nil, fmt.Errorf("%w: run race/install.sh first, as `make race` does", err)
	}
	env := append(os.Environ(), "DATABASE_URL="+databaseURL, "POOL="+strconv.Itoa(poolSize), "NODE_ENV=production")
	c := r.newChild(name, node, env, "queues.mjs", system)
	c.Dir = dir
	in, out, err := c.StartPiped()
	if err != nil {
		return nil, err
	}
	return &nodeDriver{child: c, in: in, out: bufio.NewReaderSize(out, 1<<20), outEnd: out}, nil
}

// do sends a command and decodes its answer.
func (d *nodeDriver) do(ctx context.Context, command string, args map[string]any, into any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := map[string]any{"cmd": command}
	maps.Copy(line, args)
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, d.Kill)
	defer stop()
	if _, err := d.in.Write(append(raw, '\n')); err != nil {
		return d.Complain(fmt.Errorf("%s: %s: %w", d.Name, command, err))
	}
	text, err := d.out.ReadBytes('\n')
	if err != nil {
		return d.Complain(fmt.Errorf("%s: %s: %w", d.Name, command, errors.Join(ctx.Err(), err)))
	}
	var answer struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("%s answers %.200q: %w", d.Name, text, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("%s: %s: %s", d.Name, command, answer.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.OK, into)
}

// finish lets the process end by itself, for a while.
func (d *nodeDriver) finish() {
	_ = d.in.Close() // it ends with its input
	select {
	case <-d.Done():
	case <-time.After(5 * time.Second):
		d.Kill()
	}
	_ = d.outEnd.Close() // nothing comes any more
}
