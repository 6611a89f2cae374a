package edge

import (
	"testing"

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
