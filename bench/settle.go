package main

import (
	"syscall"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// keptFree is memory that settle leaves alone, in bytes.
const keptFree = 1 << 30

// settle lets the machine come to rest before a sample that reads and writes so many
// bytes, so that none pays for what went before it. Two things do that here:
//
//   - Linux lets who writes run ahead of the disk for a part of the memory, and slows
//     them down then. What was written before goes to the disk.
//   - A virtual machine may hand free memory back to its host, and be slow to get it
//     again: on the one of docs/benchmarks.md, page cache of memory that was free for a
//     minute takes six times the CPU of memory freed just now. So all that the sample may
//     fill is taken from the host before.
//
// It does the second as far as it can: that is no reason to measure nothing.
func settle(bytes int64) {
	syscall.Sync()
	free, err := procfs.FreeMemory()
	if err != nil {
		return
	}
	n := min(free-keptFree, 2*bytes)
	if n <= 0 {
		return
	}
	const populated = syscall.MAP_PRIVATE | syscall.MAP_ANON | syscall.MAP_POPULATE
	if filled, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, populated); err == nil {
		_ = syscall.Munmap(filled)
	}
}
