package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ours are the names that a stack makes in its directory. FRESH=1 removes
// these and nothing else; the lock, the marker and downloaded tools stay.
var ours = []string{
	"env", "settings.json", "postgres", "postgres.init", "s3", "logs",
	"postgres.pid", "temporal.pid", "s3.pid", "serve.pid", "worker.pid", "command.pid",
}

// Check tells whether the directory is one that this version can use, and
// marks a new one as ours.
func (d *Dir) Check() error {
	found, err := d.marker()
	if err != nil {
		return err
	}
	switch {
	case found == layout:
		return d.prepare()
	case found != "":
		return fmt.Errorf(`%s was made by another version of taskloom-dev (it says %q, this one writes %q)
  go back to that version, start empty with FRESH=1 make dev, or use another directory with DEV_DIR`,
			d.path, found, layout)
	}
	if name := d.holdsState(); name != "" {
		return d.notOurs(name)
	}
	if err := os.WriteFile(d.Path(markerFile), []byte(layout+"\n"), 0o644); err != nil {
		return fmt.Errorf("mark the state directory: %w", err)
	}
	return d.prepare()
}

// prepare makes what every stack needs and lets the account that runs Postgres
// pass through: what is secret inside has modes of its own.
func (d *Dir) prepare() error {
	if err := os.MkdirAll(d.Path("logs"), 0o700); err != nil {
		return fmt.Errorf("make the log directory: %w", err)
	}
	info, err := os.Stat(d.path)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if os.Geteuid() == 0 && info.Mode().Perm()&0o001 == 0 {
		if err := os.Chmod(d.path, info.Mode().Perm()|0o011); err != nil {
			return fmt.Errorf("let the account of Postgres pass through %s: %w", d.path, err)
		}
	}
	return nil
}

// Wipe removes the state, for FRESH=1, but only from a directory that bears
// our marker.
func (d *Dir) Wipe() error {
	found, err := d.marker()
	if err != nil {
		return err
	}
	name := d.holdsState()
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(found, "taskloom-dev ") {
		return d.notOurs(name)
	}
	if err := d.wipeOutside(); err != nil {
		return err
	}
	for _, name := range ours {
		if err := os.RemoveAll(d.Path(name)); err != nil {
			return fmt.Errorf("FRESH=1: remove the old state: %w", err)
		}
	}
	// The marker of an older layout goes last: a wipe that is cut short can go on.
	return os.Remove(d.Path(markerFile))
}

// wipeOutside removes the cluster that could not live in the directory itself.
func (d *Dir) wipeOutside() error {
	settings, err := d.LoadSettings()
	if err != nil || settings.PostgresBase == "" {
		return nil //nolint:nilerr // unreadable settings name no place to clean
	}
	owner, err := os.ReadFile(filepath.Join(settings.PostgresBase, OwnerFile))
	if err != nil || strings.TrimSpace(string(owner)) != d.path || filepath.Dir(settings.PostgresBase) != Elsewhere {
		return nil //nolint:nilerr // not recognisably ours: left alone
	}
	if err := os.RemoveAll(settings.PostgresBase); err != nil {
		return fmt.Errorf("FRESH=1: remove the old database: %w", err)
	}
	return nil
}

func (d *Dir) marker() (string, error) {
	text, err := os.ReadFile(d.Path(markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the marker of the state directory: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// holdsState returns the first of our names that the directory holds, logs and
// pid files aside; "" if it holds none.
func (d *Dir) holdsState() string {
	for _, name := range ours[:5] {
		if _, err := os.Lstat(d.Path(name)); err == nil {
			return name
		}
	}
	return ""
}

func (d *Dir) notOurs(name string) error {
	return fmt.Errorf(`%s holds %q but no %q file of taskloom-dev, so it is not touched
  choose another directory: DEV_DIR=.dev2 make dev
  or, if nothing in it is needed, remove it yourself: rm -r %s`, d.path, name, markerFile, d.path)
}
