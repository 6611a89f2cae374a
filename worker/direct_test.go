package worker_test

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thousands of runs wait in a worker's memory. What their calls leave on the stack
// decides whether one takes 8 KB or 16: reflection alone needs two, and the collector
// of garbage halves a stack only while less than a quarter of it is in use.
func TestARunThatWaitsTakesLittle(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.create(1)
	f.drained()
	waits := 0
	for _, stack := range stacks(t) {
		at := strings.Index(stack, "selectorImpl).Select(")
		if at < 0 || !strings.Contains(stack, "workflows.TaskWorkflow(") {
			continue
		}
		waits++
		var calls []string // from the wait to where the SDK begins a run
		for line := range strings.Lines(stack[at:]) {
			if name, _, isCall := strings.Cut(line, "("); isCall && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "created by") {
				calls = append(calls, name)
			}
		}
		require.NotContains(t, stack, "reflect.", "the function of a run is called as such")
		require.Contains(t, calls[1], "workflows.TaskWorkflow", "nothing stands between a run and its wait")
	}
	require.Positive(t, waits, "there is a run that waits")
}

// stacks are those of all goroutines of this process.
func stacks(t *testing.T) []string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 2))
	return strings.Split(b.String(), "\n\n")
}
