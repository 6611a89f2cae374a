package limit

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const testBucket = Bucket("test")

func per(n int64, period time.Duration) Rates { return Rates{testBucket: {Limit: n, Period: period}} }

// Whoever waits as long as they are told is admitted, wherever in the second
// the window began and the refusal came.
func TestWhoWaitsAsToldIsAdmitted(t *testing.T) {
	t.Parallel()
	for _, period := range []time.Duration{time.Second, time.Minute} {
		for begin := time.Duration(0); begin < 1100*time.Millisecond; begin += 137 * time.Millisecond {
			for later := time.Duration(0); later < period; later += period/7 + time.Millisecond {
				synctest.Test(t, func(t *testing.T) {
					l := Memory(per(1, period))
					<-time.After(begin)
					require.False(t, l.Take(t.Context(), testBucket, "a", 1).Reached)
					<-time.After(later)
					d := l.Take(t.Context(), testBucket, "a", 1)
					require.True(t, d.Reached)
					wait := time.Duration(d.Seconds()) * time.Second
					require.Less(t, wait, period-later+3*time.Second, "nor do they wait for long in vain")
					<-time.After(wait)
					require.False(t, l.Take(t.Context(), testBucket, "a", 1).Reached, "began %s, later %s", begin, later)
				})
			}
		}
	}
}

func TestWindowsThatAreOverAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := Memory(per(5, time.Minute))
		m := l.store.(*memoryStore)
		for i := range 1000 {
			l.Take(t.Context(), testBucket, strconv.Itoa(i), 1)
		}
		require.Equal(t, 1000, remembered(m))
		<-time.After(cleanEvery + time.Second)
		l.Take(t.Context(), testBucket, "another", 1)
		synctest.Wait()
		require.LessOrEqual(t, remembered(m), 1)
		require.LessOrEqual(t, m.keys.Load(), int64(1))
	})
}

// Who got hold of a window before it was dropped is counted in the next one: a count
// in a window that nobody finds any more is lost.
func TestNobodyIsCountedInADroppedWindow(t *testing.T) {
	t.Parallel()
	var w window
	_, _, ok := w.add(1, 0, time.Minute)
	require.True(t, ok)
	require.False(t, w.drop(time.Minute), "it is not over")
	_, _, ok = w.add(1, time.Minute, time.Minute)
	require.True(t, ok)
	require.True(t, w.drop(2*time.Minute))
	_, _, ok = w.add(1, 2*time.Minute, time.Minute)
	require.False(t, ok)

	synctest.Test(t, func(t *testing.T) {
		l := Memory(per(1000, time.Second))
		m := l.store.(*memoryStore)
		l.Take(t.Context(), testBucket, "me", 1)
		<-time.After(2 * time.Second)
		m.windows.Range(func(_, known any) bool { // who drops it has not come to its deletion yet
			require.True(t, known.(*window).drop(m.age()))
			return true
		})
		require.EqualValues(t, 999, l.Take(t.Context(), testBucket, "me", 1).Remaining)
		require.EqualValues(t, 998, l.Take(t.Context(), testBucket, "me", 1).Remaining, "in the window of before")
		require.Equal(t, 1, remembered(m))
	})
}

// Names that somebody makes up fill the memory to a bound only; who was counted
// before still is.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := Memory(per(2, time.Minute))
		m := l.store.(*memoryStore)
		m.maxKeys = 100
		require.Equal(t, int64(1), l.Take(t.Context(), testBucket, "me", 1).Remaining)
		for i := range 1000 {
			d := l.Take(t.Context(), testBucket, strconv.Itoa(i), 1)
			require.Equal(t, i >= 99, d.Unknown, i)
		}
		require.Equal(t, 100, remembered(m))
		require.Equal(t, int64(0), l.Take(t.Context(), testBucket, "me", 1).Remaining)
		require.True(t, l.Take(t.Context(), testBucket, "me", 1).Reached)
		<-time.After(time.Minute + time.Second)
		l.Take(t.Context(), testBucket, "new", 1)
		synctest.Wait()
		require.False(t, l.Take(t.Context(), testBucket, "new", 1).Unknown, "there is room again")
	})
}

func remembered(m *memoryStore) (n int) {
	m.windows.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}
