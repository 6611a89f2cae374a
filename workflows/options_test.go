package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However long Postgres was away, a step that waited for it goes on soon enough
// for everything to work again within a minute.
func TestAPatientStepGoesOnSoonAfterAnOutage(t *testing.T) {
	t.Parallel()
	p := patientWrite("a step").RetryPolicy
	require.Zero(t, p.MaximumAttempts, "it is never given up")
	require.LessOrEqual(t, p.MaximumInterval, 30*time.Second)
}

// What a paused worker can keep of one run, one after the other, goes on elsewhere
// within the 30 s of a dead worker.
func TestAPausedWorkerKeepsNoRunForLong(t *testing.T) {
	t.Parallel()
	const workflowTask = 5 * time.Second // thinkTime of package worker
	p := patientWrite("a step")
	again := p.RetryPolicy.InitialInterval
	kept := 2*workflowTask + localTimeout + p.StartToCloseTimeout + again + p.StartToCloseTimeout +
		time.Duration(p.RetryPolicy.BackoffCoefficient*float64(again))
	require.LessOrEqual(t, kept, 30*time.Second)
}
