package state

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/taskloom/taskloom/dev/internal/port"
)

// orphanPatience is how long a part of a killed stack may take to end. The
// kernel tells it to when its supervisor dies; Postgres then shuts down in order.
const orphanPatience = 15 * time.Second

// AwaitOrphans waits until no part of an earlier run is left. We hold the
// lock, so its supervisor is gone and its parts are about to be.
func (d *Dir) AwaitOrphans(ctx context.Context, doing func(string)) error {
	parts := map[string]string{ // part → what its command line holds
		"postgres": "postgres", "temporal": " temporal", "s3": " s3", "serve": " serve", "worker": " worker",
	}
	deadline := time.Now().Add(orphanPatience)
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	for part, word := range parts {
		for {
			pid, line := d.orphan(part, word)
			if pid == 0 {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf(`the %s of an earlier run still runs after %v: pid %d (%s)
  it holds the data in %s: end it with kill %d, then run make dev again`,
					part, orphanPatience, pid, line, d.path, pid)
			}
			doing(fmt.Sprintf("waiting for its %s to end (pid %d)", part, pid))
			select {
			case <-poll.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// orphan returns the process that a pid file names, if it lives and is what
// the file says: the number may belong to somebody else by now.
func (d *Dir) orphan(part, word string) (int, string) {
	text, err := os.ReadFile(d.Pid(part))
	if err != nil {
		return 0, ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 || syscall.Kill(pid, 0) != nil {
		return 0, ""
	}
	line := port.CommandLine(strconv.Itoa(pid))
	if !strings.Contains(line, word) {
		return 0, ""
	}
	return pid, line
}
