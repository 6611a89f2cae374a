package pipeline

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAGraphThatNobodyHoldsIsForgotten(t *testing.T) {
	t.Parallel()
	const doc = `{"nodes":[{"key":"held by nobody","kind":"start"}]}`
	func() {
		var g Graph
		require.NoError(t, json.Unmarshal([]byte(doc), &g))
		again := g // a copy holds it
		g = Graph{}
		require.Empty(t, g.Nodes)
		runtime.GC()
		held, ok := graphs.get([]byte(doc))
		require.True(t, ok)
		require.Same(t, &again.Nodes[0], &held.Nodes[0])
		runtime.KeepAlive(again)
	}()
	require.Eventually(t, func() bool {
		runtime.GC()
		graphs.mu.Lock()
		defer graphs.mu.Unlock()
		_, kept := graphs.held[doc]
		return !kept
	}, 10*time.Second, time.Millisecond)

	var g Graph
	require.NoError(t, json.Unmarshal([]byte(doc), &g))
	require.Equal(t, "held by nobody", g.Nodes[0].Key)
}
