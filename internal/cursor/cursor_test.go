package cursor_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/cursor"
)

var (
	codec = cursor.New([]byte("a secret of the deployment, 32 b"))
	scope = cursor.Scope{OrgID: 3, PipelineID: 7, Filter: "status=pending"}
)

func TestCursorComesBackAsItWent(t *testing.T) {
	t.Parallel()
	for _, id := range []int64{1, 2, 255, 256, 1 << 40, math.MaxInt64} {
		text := codec.Encode(scope, id)
		require.Len(t, text, cursor.Length)
		got, err := codec.Decode(scope, text)
		require.NoError(t, err)
		require.Equal(t, id, got)
	}
}

func TestCursorWorksOnlyWhereItWasMade(t *testing.T) {
	t.Parallel()
	text := codec.Encode(scope, 42)
	for name, other := range map[string]cursor.Scope{
		"another organization":             {OrgID: 4, PipelineID: 7, Filter: "status=pending"},
		"another pipeline":                 {OrgID: 3, PipelineID: 8, Filter: "status=pending"},
		"organization and pipeline turned": {OrgID: 7, PipelineID: 3, Filter: "status=pending"},
		"another filter":                   {OrgID: 3, PipelineID: 7, Filter: "status=finished"},
		"no filter":                        {OrgID: 3, PipelineID: 7},
	} {
		_, err := codec.Decode(other, text)
		require.ErrorIs(t, err, cursor.ErrMalformed, name)
	}
	_, err := cursor.New([]byte("another secret")).Decode(scope, text)
	require.ErrorIs(t, err, cursor.ErrMalformed, "another deployment")
}

func TestChangedCursorIsRefused(t *testing.T) {
	t.Parallel()
	text := codec.Encode(scope, 42)
	for i := range text {
		for _, c := range []string{"A", "B", "_", "=", " "} {
			changed := text[:i] + c + text[i+1:]
			if changed == text {
				continue
			}
			_, err := codec.Decode(scope, changed)
			require.ErrorIs(t, err, cursor.ErrMalformed, "character %d", i)
		}
	}
	for _, other := range []string{"", "x", text + "A", text[1:], strings.Repeat("A", cursor.Length), text + "=="} {
		_, err := codec.Decode(scope, other)
		require.ErrorIs(t, err, cursor.ErrMalformed)
	}
}

func TestCursorOfNoRowIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []int64{0, -1, math.MinInt64} {
		_, err := codec.Decode(scope, codec.Encode(scope, id))
		require.ErrorIs(t, err, cursor.ErrMalformed)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(codec.Encode(scope, 42))
	f.Add("")
	f.Add("AQAAAAAAAAAqAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := codec.Decode(scope, text)
		if err != nil {
			require.ErrorIs(t, err, cursor.ErrMalformed)
			return
		}
		require.Equal(t, text, codec.Encode(scope, id), "a page has one cursor only")
	})
}
