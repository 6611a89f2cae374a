package edge

import (
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

// Who was refused a moment ago is refused again for that alone, is told how much
// of the wait is left, and is asked for anew soon.
func TestAFloodIsRefusedWithoutAskingAnybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimits(limit.Memory(limit.Rates{limit.Key: {Limit: 1, Period: time.Minute}}), nil)
		again := func(id string) (http.Header, error) {
			h := http.Header{}
			return h, l.AgainRefused(t.Context(), h, id)
		}
		require.NoError(t, l.AdmitKey(t.Context(), http.Header{}, "a", 1))
		_, err := again("a")
		require.NoError(t, err, "it was admitted")
		first := l.AdmitKey(t.Context(), http.Header{}, "a", 1)
		require.Error(t, first)

		pass(rememberFor / 2)
		h, err := again("a")
		require.True(t, fault.Is(err, fault.RateLimited))
		require.Equal(t, `"key";q=1;w=60`, h.Get("RateLimit-Policy"))
		require.Regexp(t, `^"key";r=0;t=\d+$`, h.Get("RateLimit"))
		require.ErrorContains(t, err, "too many requests; wait ")
		_, err = again("b")
		require.NoError(t, err, "another key")

		pass(rememberFor / 2)
		h, err = again("a")
		require.NoError(t, err)
		require.Empty(t, h)
	})
}

// However many keys flood, what is remembered of them has a bound, and makes
// room.
func TestTheMemoryOfRefusalsIsBounded(t *testing.T) {
	t.Parallel()
	var r refusals
	now := time.Now()
	for i := range rememberMost + 5 {
		r.note(strconv.Itoa(i), limit.Decision{Reset: time.Minute}, now)
	}
	require.Len(t, r.at, rememberMost)
	_, full := r.of(strconv.Itoa(rememberMost), now)
	require.False(t, full)
	r.note("new", limit.Decision{Reset: time.Minute}, now.Add(rememberFor))
	require.Len(t, r.at, 1)
	d, full := r.of("new", now.Add(rememberFor+rememberFor/4))
	require.True(t, full)
	require.Equal(t, time.Minute-rememberFor/4, d.Reset)
	r.note("short", limit.Decision{Reset: rememberFor / 4}, now)
	_, full = r.of("short", now.Add(rememberFor/2))
	require.False(t, full, "its window is over")
}
