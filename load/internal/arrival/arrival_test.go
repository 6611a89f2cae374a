package arrival

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEven(t *testing.T) {
	t.Parallel()
	got := slices.Collect(Even(4, 0.5, time.Second, 2*time.Second))
	require.Equal(t, []time.Duration{1125 * time.Millisecond, 1375 * time.Millisecond, 1625 * time.Millisecond, 1875 * time.Millisecond}, got)
	require.Empty(t, slices.Collect(Even(0, 0, 0, time.Hour)))
	require.Len(t, slices.Collect(Even(50, 0, 0, time.Minute)), 3000)
}

func TestPoissonFollowsItsRateAndItsSeed(t *testing.T) {
	t.Parallel()
	rate := func(at time.Duration) float64 {
		if at < time.Minute {
			return 10
		}
		return 40
	}
	one := slices.Collect(Poisson(7, rate, 40, 0, 2*time.Minute))
	require.Equal(t, one, slices.Collect(Poisson(7, rate, 40, 0, 2*time.Minute)))
	require.NotEqual(t, one, slices.Collect(Poisson(8, rate, 40, 0, 2*time.Minute)))
	require.True(t, slices.IsSorted(one))
	quiet := slices.IndexFunc(one, func(at time.Duration) bool { return at >= time.Minute })
	require.InDelta(t, 600, quiet, 5*math.Sqrt(600))
	require.InDelta(t, 2400, len(one)-quiet, 5*math.Sqrt(2400))
	require.Less(t, one[len(one)-1], 2*time.Minute)
	require.Empty(t, slices.Collect(Poisson(1, rate, 0, 0, time.Minute)))
}

func TestBurst(t *testing.T) {
	t.Parallel()
	got := slices.Collect(Burst(500, time.Second, 10*time.Second))
	require.Len(t, got, 500)
	require.Equal(t, time.Second, got[0])
	require.Equal(t, 20*time.Millisecond, got[1]-got[0])
	require.Less(t, got[499], 11*time.Second)
}

func TestASequenceEndsWhenItsReaderDoes(t *testing.T) {
	t.Parallel()
	for _, s := range []Times{
		Even(10, 0, 0, time.Hour), Burst(10, 0, time.Hour), At(1, 2, 3),
		Poisson(1, func(time.Duration) float64 { return 1 }, 1, 0, time.Hour),
	} {
		n := 0
		for range s {
			if n++; n == 2 {
				break
			}
		}
		require.Equal(t, 2, n)
	}
}

func TestThinkTimesHaveTheirMean(t *testing.T) {
	t.Parallel()
	const n = 20_000
	think := NewThink(1)
	var sum time.Duration
	below := 0
	for range n {
		d := think.LogNormal(time.Minute)
		sum += d
		if d < time.Minute {
			below++
		}
	}
	require.InDelta(t, 60, (sum / n).Seconds(), 2)
	require.InDelta(t, 0.655, float64(below)/n, 0.02) // Φ(σ/2)
	first, again := NewThink(3), NewThink(3)
	require.Equal(t, first.LogNormal(time.Hour), again.LogNormal(time.Hour))
}

func TestADayHasTheMeanOne(t *testing.T) {
	t.Parallel()
	day, sum := Day(WorkingDay), 0.0
	for minute := range 8 * 60 {
		v := day(time.Duration(minute) * time.Minute)
		require.LessOrEqual(t, v, DayMost)
		sum += v
	}
	require.InDelta(t, 1, sum/(8*60), 0.001)
	require.Zero(t, day(WorkingDay))
	require.Zero(t, day(-1))
}
