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
