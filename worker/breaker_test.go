package worker

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

// Whoever looks why nothing is delivered reads once, when the breaker opens, what
// Temporal answered: that it is away, or that it is full.
func TestTheBreakerSaysWhatTemporalAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := newMetrics(prometheus.NewRegistry())
		require.NoError(t, err)
		var told bytes.Buffer
		b := newBreaker(slog.New(slog.NewTextHandler(&told, nil)), m)
		full := fmt.Errorf("signal: %w", serviceerror.NewResourceExhausted(enums.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "too fast"))
		for range tripAfter {
			require.Empty(t, told.String())
			_, err = b.Execute(func() (outcome, error) { return "", full })
			require.ErrorIs(t, err, full)
		}
		require.Equal(t, 1, strings.Count(told.String(), "\n"))
		for _, words := range []string{"to=open", "ResourceExhausted", "signal: too fast"} {
			require.Contains(t, told.String(), words)
		}

		told.Reset()
		pause(t.Context(), openFor+time.Millisecond)
		_, err = b.Execute(func() (outcome, error) { return delivered, nil })
		require.NoError(t, err)
		require.Contains(t, told.String(), "to=closed")
		require.NotContains(t, told.String(), "ResourceExhausted", "that is over")
	})
}
