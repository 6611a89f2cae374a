package record

import (
	"bytes"
	"testing"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"
)

func TestPercentiles(t *testing.T) {
	t.Parallel()
	r, err := New(time.Now(), nil)
	require.NoError(t, err)
	k := Key{Phase: "peak", Op: "claim", Class: OK}
	for i := range 1000 {
		r.Record(k, time.Duration(i+1)*time.Millisecond, 200, "")
	}
	s := r.Select(func(have Key) bool { return have == k })
	require.EqualValues(t, 1000, s.N())
	for percent, want := range map[float64]float64{50: 500, 95: 950, 99: 990, 99.9: 999, 100: 1000} {
		require.InEpsilon(t, want, float64(s.Quantile(percent).Milliseconds()), 0.002, "p%v", percent)
	}
	lines := r.Lines()
	require.Len(t, lines, 1)
	require.InEpsilon(t, 990, lines[0].P99, 0.002)
	require.InEpsilon(t, 1000, lines[0].Max, 0.002)
	require.Equal(t, map[string]int64{"200": 1000}, lines[0].Statuses)
}

func TestBoundsAndNothing(t *testing.T) {
	t.Parallel()
	r, err := New(time.Now(), nil)
	require.NoError(t, err)
	none := r.Select(func(Key) bool { return true })
	require.Zero(t, none.N())
	require.Zero(t, none.Quantile(99))
	r.Record(Key{Op: "x", Class: Failed}, -time.Second, 0, "first")
	r.Record(Key{Op: "x", Class: Failed}, 24*time.Hour, 500, "second")
	all := r.Select(func(Key) bool { return true })
	require.EqualValues(t, 2, all.N())
	require.InEpsilon(t, (10 * time.Minute).Seconds(), all.Quantile(100).Seconds(), 0.001)
	require.Equal(t, map[string]string{"x": "first"}, r.Failures())
}

func TestTheLogHoldsEveryInterval(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	began := time.UnixMilli(1_700_000_000_000)
	r, err := New(began, &log)
	require.NoError(t, err)
	k := Key{Phase: "peak", Op: "claim", Class: OK}
	r.Record(k, time.Millisecond, 200, "")
	require.NoError(t, r.Rotate(began.Add(10*time.Second)))
	r.Record(k, 2*time.Millisecond, 200, "")
	r.Record(k, 3*time.Millisecond, 200, "")
	require.NoError(t, r.Rotate(began.Add(20*time.Second)))
	require.NoError(t, r.Rotate(began.Add(30*time.Second))) // nothing happened
	reader := hdrhistogram.NewHistogramLogReader(&log)
	var counts []int64
	for {
		h, err := reader.NextIntervalHistogram()
		require.NoError(t, err)
		if h == nil {
			break
		}
		require.Equal(t, "peak.claim.ok", h.Tag())
		counts = append(counts, h.TotalCount())
	}
	require.Equal(t, []int64{1, 2}, counts)
	require.EqualValues(t, 3, r.Select(func(Key) bool { return true }).N())
}
