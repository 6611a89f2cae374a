package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// panicWords are what logs say of a panic: Go's runtime and the line of a request that
// panicked, and Temporal's SDK of what it runs. But for the runtime's, the process goes
// on, what it was at is tried again, and nothing else tells of it.
var panicWords = []string{
	"panic:", "http: panic serving", "fatal error:", "Workflow panic", "Workflow task processing panic", "Activity panic", "Unhandled panic",
}

// deadlocked is the SDK's mark of workflow code that does not yield for seconds. A
// worker that is paused in the midst of it finds the same when it goes on.
const deadlocked = "[TMPRL1101]"

// panicsIn are the lines of a log that tell of a panic.
func panicsIn(log string) (lines []string) {
	for line := range strings.Lines(log) {
		tells := func(word string) bool { return strings.Contains(line, word) }
		if slices.ContainsFunc(panicWords, tells) && !tells(deadlocked) {
			lines = append(lines, fmt.Sprintf("%.400s", strings.TrimSpace(line)))
		}
	}
	return lines
}

// noPanics is for runs in which nothing is made to panic, as in row 18.
func (r *Run) noPanics() {
	r.t.Helper()
	for name, p := range r.processes() {
		if lines := panicsIn(p.Log()); len(lines) > 0 {
			r.Violate("the log of %s tells of %d panics: %s", name, len(lines), strings.Join(lines[:min(5, len(lines))], "; "))
		}
	}
}

func TestLogsTellOfPanics(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`panic: runtime error: invalid memory address or nil pointer dereference`,
		`fatal error: concurrent map writes`,
		`2026/01/01 12:00:00 http: panic serving 127.0.0.1:50000: runtime error: index out of range [3] with length 3`,
		`{"level":"ERROR","msg":"request","error":"panic: index out of range [3] with length 3"}`,
		`{"level":"ERROR","msg":"Workflow panic","Attempt":1,"Error":"planted"}`,
		`{"level":"ERROR","msg":"Activity panic.","ActivityType":"Step","PanicError":"nil map"}`,
	} {
		require.Equal(t, []string{line}, panicsIn("started\n"+line+"\nready\n"))
	}
	for _, line := range []string{
		`{"level":"ERROR","msg":"Workflow panic","Error":"[TMPRL1101] Potential deadlock detected: workflow goroutine \"root\" didn't yield for over 5s"}`,
		`{"level":"ERROR","msg":"request","error":"FATAL: terminating connection due to administrator command (SQLSTATE 57P01)"}`,
	} {
		require.Empty(t, panicsIn(line+"\n"))
	}
	require.Len(t, panicsIn("panic: one\n\ngoroutine 7 [running]:\npanic: two\n"), 2)
}
