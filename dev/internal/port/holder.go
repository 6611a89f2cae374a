package port

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Holder names the process that listens on a TCP port, as far as /proc lets us
// see it; "" when it cannot be told (another user's process, for one).
func Holder(port int) string {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listening(table, port, inodes)
	}
	if len(inodes) == 0 {
		return ""
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil || !inodes[target] {
			continue
		}
		pid := strings.Split(fd, "/")[2]
		return fmt.Sprintf("pid %s (%s)", pid, CommandLine(pid))
	}
	return ""
}

// listening adds the sockets of one table that listen on port, as /proc/PID/fd shows them.
func listening(table string, port int, into map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	const stateListen = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	rows := bufio.NewScanner(f)
	for rows.Scan() {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
		col := strings.Fields(rows.Text())
		if len(col) > 9 && strings.HasSuffix(col[1], suffix) && col[3] == stateListen {
			into["socket:["+col[9]+"]"] = true
		}
	}
}

// CommandLine is the command line of a process, "" when there is none.
func CommandLine(pid string) string {
	if _, err := strconv.Atoi(pid); err != nil {
		return ""
	}
	raw, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(raw, []byte{0}, []byte{' '})))
}
