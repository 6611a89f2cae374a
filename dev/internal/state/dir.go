// Package state is the directory that holds everything a stack keeps: its
// lock, its data, its settings, its logs and pid files.
package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// layout is the version of the directory's layout, kept in the marker file.
// Raise it when an older directory can no longer be used as it is.
const (
	layout     = "taskloom-dev 1"
	markerFile = "version"
	lockFile   = "lock"
)

// Dir is a state directory that is locked by this process.
type Dir struct {
	path string
	lock *os.File
}

// Open makes the directory if it is missing and locks it. Nobody else can use
// it until Close or the end of the process.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", path, err)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, unusable(path, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, unusable(path, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, running(path, lock)
		}
		return nil, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	d := &Dir{path: path, lock: lock}
	if err := d.sign(); err != nil {
		lock.Close()
		return nil, fmt.Errorf("write %s: %w", lock.Name(), err)
	}
	return d, nil
}

// sign leaves our pid in the lock file, for the message of whoever finds it locked.
func (d *Dir) sign() error {
	if err := d.lock.Truncate(0); err != nil {
		return err
	}
	_, err := d.lock.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0)
	return err
}

func running(path string, lock *os.File) error {
	pid := "unknown"
	if text, err := io.ReadAll(lock); err == nil && len(text) > 0 {
		pid = strings.TrimSpace(string(text))
	}
	return fmt.Errorf(`a stack is running already in %s (pid %s)
  use it: its addresses are in %s
  stop it: Ctrl-C where it runs, or kill %s
  or start a second one beside it: DEV_DIR=.dev2 ADDR=127.0.0.1:8081 make dev`,
		path, pid, filepath.Join(path, "env"), pid)
}

func unusable(path string, cause error) error {
	way := "choose a directory that you may write to: DEV_DIR=/path/to/dir make dev"
	if errors.Is(cause, fs.ErrPermission) {
		way = "was it made by another user, root perhaps? Run as that user, change its owner, or\n  " + way
	}
	return fmt.Errorf("cannot use the state directory %s: %w\n  %s", path, cause, way)
}

// Close unlocks the directory.
func (d *Dir) Close() { d.lock.Close() }

// Path is the absolute path of something in the directory.
func (d *Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{d.path}, elem...)...)
}

// Log is the path of a part's log, Pid of its pid file.
func (d *Dir) Log(part string) string { return d.Path("logs", part+".log") }

// Pid is the path of a part's pid file.
func (d *Dir) Pid(part string) string { return d.Path(part + ".pid") }
