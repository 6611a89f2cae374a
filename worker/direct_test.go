package worker_test

import (
	"bytes"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thousands of runs wait in a worker's memory. What their calls leave on the stack
// decides whether one takes 8 KB or 16: reflection alone needs two, and the collector
// of garbage halves a stack only while less than a quarter of it is in use. How large
// the SDK's own calls are is not looked at.
func TestARunThatWaitsHasFewCallsOnItsStack(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.create(1)
	var waiting []string
	f.until("a run that waits", func() bool {
		waiting = slices.DeleteFunc(stacks(t), func(stack string) bool {
			return !strings.Contains(stack, "selectorImpl).Select(") || !strings.Contains(stack, "workflows.TaskWorkflow(")
		})
		return len(waiting) > 0
	})
	for _, stack := range waiting {
		at := strings.Index(stack, "selectorImpl).Select(")
		var calls []string // from the wait to where the SDK begins a run
		for line := range strings.Lines(stack[at:]) {
			if name, _, isCall := strings.Cut(line, "("); isCall && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "created by") {
				calls = append(calls, name)
			}
		}
		require.NotContains(t, stack, "reflect.", "the function of a run is called as such")
		require.Contains(t, calls[1], "workflows.TaskWorkflow", "nothing stands between a run and its wait")
	}
}

// stacks are those of all goroutines of this process.
func stacks(t *testing.T) []string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 2))
	return strings.Split(b.String(), "\n\n")
}
