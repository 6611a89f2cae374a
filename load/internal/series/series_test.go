package series

import (
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
