package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// machine is what figures were taken on: the product, its versions and settings, and
// the shape of the machine.
type machine struct {
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	MemoryGB float64           `json:"memory_gb"`
	Kernel   string            `json:"kernel"`
	Go       string            `json:"go"`
	Node     string            `json:"node"`
	Python   string            `json:"python"`
	Postgres string            `json:"postgres"`
	Product  string            `json:"product"`
	Settings map[string]string `json:"postgres_settings"`
	Modules  map[string]string `json:"modules"`
	LSCPU    []string          `json:"lscpu,omitempty"`
	// Autogroup is procfs.Autogroup.
	Autogroup string `json:"sched_autogroup,omitempty"`
	// Date and the loads are of a run that was kept before its races said theirs.
	Date       string `json:"date,omitempty"`
	LoadBefore string `json:"load_before,omitempty"`
	LoadAfter  string `json:"load_after,omitempty"`
}

func describeMachine(ctx context.Context, o options, databaseURL string) (*machine, error) {
	m := &machine{
		Cores: runtime.NumCPU(), Go: runtime.Version(),
		CPU: fieldOf("/proc/cpuinfo", "model name"), Kernel: firstLine("/proc/sys/kernel/osrelease"),
		Settings: map[string]string{}, Modules: map[string]string{},
		Node: firstOf(ctx, "node", "--version"), Python: firstOf(ctx, "python3", "--version"),
		Product: firstOf(ctx, o.binary, "version"), LSCPU: output(ctx, "lscpu"),
		Autogroup: procfs.Autogroup(),
	}
	if kb, err := strconv.ParseFloat(strings.TrimSuffix(fieldOf("/proc/meminfo", "MemTotal"), " kB"), 64); err == nil {
		m.MemoryGB = float64(int(kb/1024/102.4)) / 10
	}
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, d := range built.Deps {
			m.Modules[d.Path] = d.Version
		}
	}
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return m, fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `SELECT name, current_setting(name) FROM pg_settings WHERE name IN
		('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_compression', 'jit',
		'autovacuum', 'max_connections') OR source IN ('configuration file', 'command line')`)
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		m.Settings[name] = value
		return nil
	})
	m.Postgres = m.Settings["server_version"]
	delete(m.Settings, "server_version")
	return m, err
}

// moduleVersion is the version of a Go module that this program was built with.
func moduleVersion(path string) string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, d := range built.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return ""
}

// output is what a program prints; nothing where there is no such program.
func output(ctx context.Context, name string, args ...string) []string {
	raw, _ := exec.CommandContext(ctx, name, args...).Output() // as just said
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
}

func firstOf(ctx context.Context, name string, args ...string) string {
	if lines := output(ctx, name, args...); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// loadAverage is the machine's load over the last minute.
func loadAverage() float64 {
	first, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	v, _ := strconv.ParseFloat(first, 64) // 0 where there is none
	return v
}

func firstLine(name string) string {
	data, _ := os.ReadFile(name) // empty where there is none
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// fieldOf returns the first value of a name in a file of "name: value" lines.
func fieldOf(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
