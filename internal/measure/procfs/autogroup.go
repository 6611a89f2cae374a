package procfs

import (
	"os"
	"strings"
)

// Autogroup is "1" where Linux shares the processors by session, of which each backend
// of Postgres makes one, "0" where it does not, and empty where it cannot (autogroups,
// sched(7)). Processes in a cgroup of their own, as containers have, know nothing of it.
func Autogroup() string {
	raw, _ := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled") // empty where there is none
	return strings.TrimSpace(string(raw))
}
