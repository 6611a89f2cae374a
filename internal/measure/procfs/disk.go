package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Disk is what a block device has done since the machine started.
type Disk struct {
	// Done are reads, writes, discards and flushes that came back, Waiting those that
	// have not yet.
	Done, Waiting int64
}

// DiskOf returns what the block device with a path has done. The error is os.ErrNotExist
// where the path is on none that the kernel counts for, such as in memory.
func DiskOf(path string) (Disk, error) {
	full, err := filepath.Abs(path)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if err != nil {
		return Disk{}, fmt.Errorf("find the disk of %s: %w", path, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Disk{}, fmt.Errorf("read what is mounted: %w", err)
	}
	stats, err := os.ReadFile("/proc/diskstats")
	if err != nil {
		return Disk{}, fmt.Errorf("read what disks do: %w", err)
	}
	return parseDisk(string(stats), deviceOf(string(mounts), full))
}

// deviceOf is the device (major:minor) of what is mounted nearest above a path, the last
// one where several are at the same place; "" for none. See proc_pid_mountinfo(5).
func deviceOf(mounts, path string) string {
	const device, point, enough = 2, 4, 5
	found, best := "", ""
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < enough {
			continue
		}
		at := strings.TrimSuffix(f[point], "/") + "/"
		if strings.HasPrefix(strings.TrimSuffix(path, "/")+"/", at) && len(at) >= len(best) {
			found, best = f[device], at
		}
	}
	return found
}

// parseDisk reads the line of a device in /proc/diskstats. Kernels before 5.5 count no
// flushes, before 4.18 no discards. See Documentation/admin-guide/iostats.rst of Linux.
func parseDisk(stats, device string) (Disk, error) {
	const reads, writes, waiting, discards, flushes, enough = 3, 7, 11, 14, 18, 12
	for line := range strings.Lines(stats) {
		f := strings.Fields(line)
		if len(f) < enough || f[0]+":"+f[1] != device {
			continue
		}
		var d Disk
		for i, into := range map[int]*int64{reads: &d.Done, writes: &d.Done, discards: &d.Done, flushes: &d.Done, waiting: &d.Waiting} {
			if i >= len(f) {
				continue
			}
			n, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return Disk{}, fmt.Errorf("field %d of %q is no number", i, line)
			}
			*into += n
		}
		return d, nil
	}
	return Disk{}, fmt.Errorf("%w: no disk %q", os.ErrNotExist, device)
}
