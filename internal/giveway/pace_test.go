package giveway

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPaceHalvesAndGrowsByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(5, 200, time.Second)
		require.InDelta(t, 200, p.Now(), 0)
		require.True(t, p.Due())
		for _, step := range []struct {
			behind time.Duration
			want   float64
		}{
			{time.Second, 200}, // as long as they may
			{time.Second + 1, 100},
			{time.Minute, 50},
			{time.Minute, 25},
			{0, 26},
			{time.Minute, 13},
			{time.Minute, 6.5},
			{time.Minute, 5}, // at least
			{time.Minute, 5},
			{0, 6},
		} {
			require.InDelta(t, step.want, p.Learn(step.behind), 0)
			require.InDelta(t, step.want, p.Now(), 0)
			require.False(t, p.Due())
			<-time.After(Every) // of the bubble's clock
			require.True(t, p.Due())
		}
		for range 300 {
			p.Learn(0)
		}
		require.InDelta(t, 200, p.Now(), 0, "at most")
	})
}

func TestWhatIsSlowerThanTheLeastStaysAsItIs(t *testing.T) {
	t.Parallel()
	p := New(5, 2, time.Second)
	require.InDelta(t, 2, p.Learn(time.Minute), 0)
	require.InDelta(t, 2, p.Learn(0), 0)
}

func TestAPaceThatRises(t *testing.T) {
	t.Parallel()
	p := New(2, 50, time.Second).Rising(1, 0.25)
	for range 5 {
		p.Learn(time.Minute)
	}
	for _, want := range []float64{3, 4, 5, 6.25, 7.8125} { // by one at least
		require.InDelta(t, want, p.Learn(0), 0)
	}
	for range 9 {
		p.Learn(0)
	}
	require.InDelta(t, 50, p.Now(), 0, "at most")
}

func TestAPaceThatBeginsLow(t *testing.T) {
	t.Parallel()
	p := New(2, 50, time.Second).From(20)
	require.InDelta(t, 20, p.Now(), 0)
	require.InDelta(t, 21, p.Learn(0), 0)
	require.InDelta(t, 2, New(2, 50, time.Second).From(1).Now(), 0, "at least")
	require.InDelta(t, 10, New(2, 10, time.Second).From(20).Now(), 0, "at most")
}

func TestAPaceThatFallsFar(t *testing.T) {
	t.Parallel()
	p := New(2, 160, time.Second).Falling(1. / 8)
	for _, want := range []float64{20, 2.5, 2} { // at least
		require.InDelta(t, want, p.Learn(time.Minute), 0)
	}
	require.InDelta(t, 3, p.Learn(0), 0)
}
