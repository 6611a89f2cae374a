package series

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTrend(t *testing.T) {
	t.Parallel()
	var s Set
	for i := range 10 {
		s.Add("grows", "MB", time.Duration(i)*time.Minute, 100+float64(i))
		s.Add("stays", "rows", time.Duration(i)*time.Minute, 7)
	}
	trends := s.Trends()
	require.Len(t, trends, 2)
	require.Equal(t, "grows", trends[0].Name)
	require.InDelta(t, 60, trends[0].Slope, 1e-6) // 1 MB a minute
	require.Equal(t, [4]float64{100, 100, 109, 109}, [4]float64{trends[0].First, trends[0].Min, trends[0].Max, trends[0].Last})
	require.InDelta(t, 0, trends[1].Slope, 1e-9)

	var one Set
	one.Add("x", "", time.Second, 3)
	require.Zero(t, one.Trends()[0].Slope)
}

// TestBounded has a day of looks, with a peak and a low that last for one of them.
func TestBounded(t *testing.T) {
	t.Parallel()
	s := Series{Unit: "MB"}
	for i := range 17_280 {
		s.Seconds, s.Values = append(s.Seconds, float64(5*i)), append(s.Values, 100+float64(i%7))
	}
	s.Values[9_000], s.Values[12_345] = 900, 1
	got := s.Bounded(400)
	require.LessOrEqual(t, len(got.Values), 400)
	require.Greater(t, len(got.Values), 300)
	require.Len(t, got.Seconds, len(got.Values))
	require.IsIncreasing(t, got.Seconds)
	require.Equal(t, [2]float64{s.Seconds[0], s.Seconds[17_279]}, [2]float64{got.Seconds[0], got.Seconds[len(got.Seconds)-1]})
	require.InDelta(t, 45_000, got.Seconds[slices.Index(got.Values, 900)], 0, "a peak stays where it was")
	require.Contains(t, got.Values, 1.0)
	require.Equal(t, "MB", got.Unit)

	short := Series{Seconds: []float64{0, 5, 10}, Values: []float64{1, 3, 2}}
	require.Equal(t, short, short.Bounded(4))
	require.Equal(t, Series{}, Series{}.Bounded(4))
	level := Series{Seconds: []float64{0, 5, 10, 15, 20, 25}, Values: []float64{2, 2, 2, 2, 2, 2}}
	require.Equal(t, []float64{0, 5, 25}, level.Bounded(4).Seconds)

	var set Set
	for i := range 10 {
		set.Add("x", "rows", time.Duration(i)*time.Second, float64(i))
	}
	require.Len(t, set.Bounded(4)["x"].Values, 4)
	require.Len(t, set.All()["x"].Values, 10, "trends are of all")
}
