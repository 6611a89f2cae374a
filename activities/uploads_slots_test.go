package activities

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/archive"
)

func TestAThirdArchiveWaitsAndThenGoesToAnotherWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewUploads(nil, nil, archive.DefaultLimits())
		leave, err := a.enter(t.Context())
		require.NoError(t, err)
		_, err = a.enter(t.Context())
		require.NoError(t, err)

		start := time.Now()
		_, err = a.enter(t.Context())
		var busy *temporal.ApplicationError
		require.ErrorAs(t, err, &busy)
		require.False(t, busy.NonRetryable())
		require.Equal(t, slotRetry, busy.NextRetryDelay())
		require.Equal(t, slotWait, time.Since(start))

		time.AfterFunc(time.Second, leave)
		_, err = a.enter(t.Context())
		require.NoError(t, err, "it was free in time")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = a.enter(gone)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, a.waiting.Load())
	})
}
