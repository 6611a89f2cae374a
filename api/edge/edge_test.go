package edge

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func TestMatchesComparesWeakly(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`W/"a"`: true, `"a"`: true, `"b", W/"a"`: true, `*`: true, `"b"`: false, ``: false, `a`: false, `W/"ab"`: false,
	} {
		require.Equal(t, want, Matches(header, `W/"a"`), header)
	}
}

func TestLargeBodiesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget()
		var held []func()
		for range budgetBytes / MaxBody {
			release, err := b.take(t.Context(), MaxBody)
			require.NoError(t, err)
			held = append(held, release)
		}
		free, err := b.take(t.Context(), largeBody)
		require.NoError(t, err, "small bodies pass")
		free()
		_, err = b.take(t.Context(), MaxBody)
		require.True(t, fault.Is(err, fault.Unavailable), "after %s", turnWait)
		held[0]()
		again, err := b.take(t.Context(), MaxBody)
		require.NoError(t, err)
		again()
	})
}

func TestCallersWhoLeaveDoNotWait(t *testing.T) {
	t.Parallel()
	b := newBudget()
	release, err := b.take(t.Context(), budgetBytes)
	require.NoError(t, err)
	defer release()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.take(gone, MaxBody)
	require.Error(t, err)
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "limit=5", "limit=&cursor=x&status=pending", "limit=5&limit=6", "%zz", "status=%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var p TaskPage
		if err := p.read(raw); err != nil {
			require.True(t, fault.Is(err, fault.InvalidRequest))
			return
		}
		require.GreaterOrEqual(t, p.Limit, 1)
		require.LessOrEqual(t, p.Limit, MaxLimit)
	})
}
