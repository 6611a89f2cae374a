// Package disk gives tests file systems of a fixed size, to be filled up. They
// live in memory; making one needs root.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// place is where file systems are mounted: prefix, the test's process, and
	// a name.
	place  = "/var/tmp"
	prefix = "taskloom-disk-"

	page = 4096
	// refill is how often a disk that shall be full is filled up again, since
	// others give back what they had.
	refill = 20 * time.Millisecond
)

// Missing says why no file system can be made here, "" when one can.
func Missing() string {
	dir, err := os.MkdirTemp(place, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err == nil {
		err = mount(dir, 1<<20)
		remove(dir)
	}
	if err != nil {
		return fmt.Sprintf("needs a file system of a fixed size, which only root can mount: %v", err)
	}
	return ""
}

func mount(dir string, bytes int64) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, fmt.Sprintf("size=%d,mode=1777", bytes))
}

// Disk is a file system of a fixed size.
type Disk struct {
	// Dir is where it is mounted. Every account may enter and write.
	Dir string

	t    testing.TB
	mu   sync.Mutex
	stop chan struct{} // closed: it need not be full any more; nil while it is not
	done chan struct{}
}

// New mounts a file system until the test is over. What runs on it must end
// before: register its cleanup later.
func New(t testing.TB, bytes int64) *Disk {
	t.Helper()
	removeLeftovers()
	dir, err := os.MkdirTemp(place, fmt.Sprintf("%s%d-", prefix, os.Getpid())) //nolint:usetesting // TempDir is closed to other users
	require.NoError(t, err)
	require.NoError(t, mount(dir, bytes))
	d := &Disk{Dir: dir, t: t}
	t.Cleanup(func() {
		d.Free()
		remove(dir)
	})
	return d
}

// remove unmounts a directory, also one that is in use, and removes it.
func remove(dir string) {
	_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	_ = os.Remove(dir)
}

// removeLeftovers removes the disks of tests that were killed.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(place, prefix+"*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		n, err := strconv.Atoi(pid)
		if err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			remove(dir)
		}
	}
}

// Fill leaves no room, and keeps it so until Free.
func (d *Disk) Fill() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		return nil
	}
	f, err := os.Create(d.filler())
	if err != nil {
		return err
	}
	size, err := d.fill(f, 0)
	if err != nil {
		_ = f.Close()
		return err
	}
	stop, done := make(chan struct{}), make(chan struct{})
	d.stop, d.done = stop, done
	go func() {
		defer close(done)
		defer f.Close()
		tick := time.NewTicker(refill)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				size, _ = d.fill(f, size) // another time, then
			}
		}
	}()
	return nil
}

// fill takes what there is, the largest pieces first, from where the filler
// ends, and returns where it ends then.
func (d *Disk) fill(f *os.File, from int64) (int64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &stat); err != nil {
		return from, fmt.Errorf("look how full %s is: %w", d.Dir, err)
	}
	step := max(int64(stat.Bavail)*stat.Bsize, page) //nolint:gosec // of a small disk
	for step >= page {
		err := syscall.Fallocate(int(f.Fd()), 0, from, step)
		switch {
		case err == nil:
			from += step
		case errors.Is(err, syscall.ENOSPC):
			step = step / 2 / page * page
		case !errors.Is(err, syscall.EINTR):
			return from, fmt.Errorf("fill %s: %w", d.Dir, err)
		}
	}
	return from, nil
}

// Free gives back what Fill took. Freeing twice is fine.
func (d *Disk) Free() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop == nil {
		return
	}
	close(d.stop)
	<-d.done
	d.stop = nil
	_ = os.Remove(d.filler())
}

func (d *Disk) filler() string { return filepath.Join(d.Dir, "filler") }

// Used is the share of the disk that is taken, from 0 to 1.
func (d *Disk) Used() float64 {
	d.t.Helper()
	var stat syscall.Statfs_t
	require.NoError(d.t, syscall.Statfs(d.Dir, &stat))
	return 1 - float64(stat.Bavail)/float64(stat.Blocks)
}
