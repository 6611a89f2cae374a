package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/workflows"
)

// TestTheTimesOfAHeartbeatAddUp asserts that a step outlives a Temporal that is
// slow or away for five seconds, whenever that begins: the SDK has half of the
// interval for one heartbeat, repeats included, and the server then still waits.
func TestTheTimesOfAHeartbeatAddUp(t *testing.T) {
	t.Parallel()
	const away = 5 * time.Second
	require.GreaterOrEqual(t, heartbeatEvery/2, away, "the SDK would call the step off")
	require.LessOrEqual(t, heartbeatEvery+away, workflows.MissedAfter, "the server would give the worker up for dead")
}
