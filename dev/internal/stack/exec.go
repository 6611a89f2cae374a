package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/envfile"
	"github.com/taskloom/taskloom/dev/internal/progress"
	"github.com/taskloom/taskloom/dev/internal/state"
)

// ExecOptions says what to run beside the three parts.
type ExecOptions struct {
	Dir     string // "": a temporary one, removed afterwards
	Restart bool   // bring parts back that die
	UI      bool   // run Temporal's Web UI too
	// Connections is Postgres' max_connections; 0 is the usual.
	Connections int
	Statements  bool // Postgres counts what each statement costs
	Command     []string
	Environ     Environ
	Say         *progress.Reporter
}

// command is the name of exec's child, as in pid files.
const command = "command"

// Exec brings up Postgres, Temporal and S3, runs a command with their
// addresses in its environment, stops everything and returns the exit code of
// the command. It always uses parts of its own: a test must not reach a
// database that happens to be named in the environment.
func Exec(parent context.Context, o ExecOptions) (code int, err error) {
	ctx, in := OnInterrupt(parent)
	temporary := o.Dir == ""
	if temporary {
		removeLeftovers()
		if o.Dir, err = os.MkdirTemp("", temporaryPrefix); err != nil {
			return 1, fmt.Errorf("make a temporary directory: %w\n  choose another place with TMPDIR or --dir", err)
		}
	}
	s, err := open(ctx, o.Dir, o.Say, o.Restart, in)
	if err != nil {
		return 1, err
	}
	defer s.close()
	if temporary {
		s.discard = true
		defer remove(s.dir)
	}
	defer s.stop()

	want := wanted{
		postgres: true, database: true, temporal: true, ui: o.UI, s3: true,
		connections: o.Connections, statements: o.Statements,
	}
	if err := s.settle(append(want.ports(), portMetrics, portWorkerMetrics, portApp)...); err != nil {
		return 1, err
	}
	vars := s.vars(Environ{}, want, s.local(portApp))
	if err := envfile.Write(s.dir.Path("env"), vars); err != nil {
		return 1, err
	}
	if err := s.start(ctx, want); err != nil {
		return 1, err
	}
	return s.run(ctx, o, o.Environ.with(vars))
}

// run runs the command until it ends, a part dies, or we are told to stop.
func (s *Stack) run(ctx context.Context, o ExecOptions, env []string) (int, error) {
	if over(ctx) {
		return 128 + int(syscall.SIGINT), nil
	}
	c, err := s.spawner.StartCommand(child.Spec{
		Name: command, Path: s.self, Args: append([]string{"leash", "--"}, o.Command...), Env: env,
		Orphan: child.LeashSignal, Pid: s.dir.Pid(command),
		Stop: []child.Stop{{Signal: syscall.SIGINT, Patience: 20 * time.Second}, {Signal: syscall.SIGTERM, Patience: 5 * time.Second}},
	}, term.IsTerminal(int(os.Stdin.Fd())))
	if err != nil {
		return 1, err
	}
	select {
	case <-c.Done():
		return c.ExitCode(), nil
	case death := <-s.sup.deaths:
		c.HaltGroup(s.sup.hurry)
		return 1, fmt.Errorf("%w\n  %s was stopped", death, o.Command[0])
	case <-ctx.Done():
		c.HaltGroup(s.sup.hurry)
		return c.ExitCode(), nil
	}
}

// temporaryPrefix begins the name of every temporary state directory.
const temporaryPrefix = "taskloom-dev-"

// removeLeftovers removes the temporary directories of runs that were killed.
// Those in use are locked.
func removeLeftovers() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), temporaryPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range dirs {
		info, err := os.Stat(filepath.Join(path, "settings.json"))
		if err != nil {
			continue // just being made, or not a state directory
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			continue // another user's
		}
		if dir, err := state.Open(path); err == nil {
			remove(dir)
			dir.Close()
		}
	}
}

// remove removes a temporary state directory and what belongs to it elsewhere.
func remove(dir *state.Dir) {
	if err := dir.Wipe(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	_ = os.RemoveAll(dir.Path())
}
