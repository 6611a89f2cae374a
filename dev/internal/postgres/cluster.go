package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/progress"
)

// User is the one role of the cluster.
const User = "postgres"

// Setup says what cluster to prepare.
type Setup struct {
	Spawner *child.Spawner
	Say     *progress.Reporter
	// Dir is the state directory; Elsewhere is where an earlier run had to put
	// the cluster instead, "" if it did not.
	Dir, Elsewhere string
	// ID is the stack's own, for a place elsewhere.
	ID       string
	Password string
	Port     int
	// MaxConnections is Postgres' max_connections; 0 is the usual 200.
	MaxConnections int
	// CountStatements loads pg_stat_statements, which costs a little.
	CountStatements bool
	Log, Pid        string
	// Keep remembers a new place elsewhere for the next run.
	Keep func(base string) error
}

// Cluster is a cluster that is ready to be started.
type Cluster struct {
	Setup
	Base     string // the directory that holds Data
	Data     string
	Binaries Binaries
	Account  Account
}

// Prepare finds the account, the place and the binaries, and makes the cluster
// if there is none yet. An existing one is never changed or removed.
func (s Setup) Prepare(ctx context.Context, doing func(string)) (*Cluster, error) {
	base := s.Dir
	if s.Elsewhere != "" {
		base = s.Elsewhere
	}
	account, err := chooseAccount(filepath.Join(base, "postgres"))
	if err != nil {
		return nil, err
	}
	if base, err = s.place(ctx, account); err != nil {
		return nil, err
	}
	c := &Cluster{Setup: s, Base: base, Data: filepath.Join(base, "postgres"), Account: account}
	made, exists, err := madeBy(c.Data)
	if err != nil {
		return nil, err
	}
	if c.Binaries, err = c.binaries(ctx, made); err != nil {
		return nil, err
	}
	if !exists {
		doing("making the database cluster")
		if err := c.initdb(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// madeBy returns the major version that made the cluster.
func madeBy(data string) (major int, exists bool, err error) {
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	file := filepath.Join(data, "PG_VERSION")
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false, fmt.Errorf(`%s holds no database that can be used: %w
  put the directory right, or start empty: FRESH=1 make dev`, data, err)
	}
	major, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, false, fmt.Errorf(`%s says %q, which is no version of PostgreSQL that is known here
  put the directory right, or start empty: FRESH=1 make dev`, file, strings.TrimSpace(string(text)))
	}
	return major, true, nil
}

// binaries finds the binaries for a cluster of version made, or the newest
// ones for a new cluster, and installs some on a machine that has none.
func (c *Cluster) binaries(ctx context.Context, made int) (Binaries, error) {
	tools := filepath.Join(c.Base, "tools")
	found := find(ctx, tools)
	if b, ok := pick(found, made); ok {
		return b, nil
	}
	if _, usable := pick(found, 0); !usable {
		install := Installer{Spawner: c.Spawner, Say: c.Say, Tools: tools}
		if err := install.Install(ctx); err != nil {
			return Binaries{}, err
		}
		found = find(ctx, tools)
		if b, ok := pick(found, made); ok {
			return b, nil
		}
	}
	var have []string
	for _, b := range found {
		have = append(have, b.String())
	}
	return Binaries{}, fmt.Errorf(`the database in %s was made by PostgreSQL %d, and here is only PostgreSQL %s
  install that version: apt-get install postgresql-%d
  or start empty: FRESH=1 make dev (the data in it is lost then)
  or leave it and use another directory: DEV_DIR=.dev2 make dev`, c.Data, made, strings.Join(have, ", "), made)
}

// initdb makes the cluster beside its place and moves it there when it is
// whole: an interrupted initdb leaves nothing that looks like a cluster.
func (c *Cluster) initdb(ctx context.Context) error {
	unfinished := c.Data + ".init"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove an unfinished cluster: %w", err)
	}
	if err := os.Mkdir(unfinished, 0o700); err != nil {
		return fmt.Errorf("make the cluster's directory: %w", err)
	}
	if err := c.Account.own(unfinished); err != nil {
		return fmt.Errorf("hand the cluster's directory to %s: %w", c.Account.Name, err)
	}
	password, err := c.passwordFile()
	if err != nil {
		return fmt.Errorf("password for the cluster: %w", err)
	}
	defer os.Remove(password)

	cmd := exec.Command(filepath.Join(c.Binaries.Dir, "initdb"), "-D", unfinished, "-U", User,
		"-A", "scram-sha-256", "--pwfile="+password, "-E", "UTF8", "--locale=C", "--no-instructions")
	cmd.Dir, cmd.Env = c.Base, c.env()
	cmd.SysProcAttr = child.Attr(syscall.SIGKILL, c.Account.Credential)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := c.Spawner.Run(ctx, cmd); err != nil {
		return fmt.Errorf("initdb as %s: %w\n%s", c.Account.Name, err, lastLines(out.String(), 8))
	}
	if err := os.Rename(unfinished, c.Data); err != nil {
		return fmt.Errorf("put the new cluster in place: %w", err)
	}
	return nil
}

// passwordFile hands the password to initdb without showing it to ps.
func (c *Cluster) passwordFile() (string, error) {
	f, err := os.CreateTemp(c.Base, ".password-*") // mode 0600
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteString(c.Password + "\n"); err != nil {
		return f.Name(), err
	}
	return f.Name(), c.Account.own(f.Name())
}

// env is deliberately small: PG* variables of the caller must not reach the server.
func (c *Cluster) env() []string {
	return []string{"PATH=" + c.Binaries.Dir + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
}
