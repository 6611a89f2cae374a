package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// The delay is what the database says that a row had waited, and what the delivery took.
// The worker's own clock, which stands in the year 2000 here, has no part in it; nor is
// there a delay of less than nothing where the database's was set back.
func TestADelayIsToldByOneClock(t *testing.T) {
	t.Parallel()
	for waited, delay := range map[time.Duration]float64{3 * time.Second: 3.5, -time.Hour: 0} {
		synctest.Test(t, func(t *testing.T) {
			handedIn := row(5, 3, pipeline.EventSubmit)
			handedIn.Waited = waited
			b := newBench(t, newFakeOutbox(handedIn), &fakeRuns{slow: 500 * time.Millisecond})
			b.serve(2 * time.Second)
			require.Zero(t, b.out.left())
			var told dto.Metric
			require.NoError(t, b.metrics.delay.WithLabelValues(delayOfEvents).(prometheus.Metric).Write(&told))
			require.EqualValues(t, 1, told.GetHistogram().GetSampleCount())
			require.InDelta(t, delay, told.GetHistogram().GetSampleSum(), 0.1)
		})
	}
}
