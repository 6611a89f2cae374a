package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A version that is older than what wrote the journal must not go on as if
// nothing had happened.
func TestFoldStopsAtAKindItDoesNotKnow(t *testing.T) {
	t.Parallel()
	g := NewGraph(Definition{
		Nodes: []Node{{Key: "start", Kind: KindStart}, {Key: "solve", Kind: KindSubtask}, {Key: "end", Kind: KindEnd}},
		Edges: []Edge{{From: "start", To: "solve"}, {From: "solve", To: "end"}},
	})
	for _, k := range EventKinds() {
		require.True(t, k.Known(), k)
	}
	_, err := Fold(g, nil, []Event{{Seq: 1, Kind: EventCreate}, {Seq: 2, Kind: "delegate", Node: "solve"}})
	require.EqualError(t, err, `event 2 is of kind "delegate", which this version does not know; a newer one goes on from there`)
}
