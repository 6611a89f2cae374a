package chaos

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// chains are calls with all of their tries: the servers on which they failed. A
// call that a client repeats by itself keeps its intent; somebody whose claim
// failed claims once more, which is the same wish with another intent, until
// they hear how it ended. They may do so at the same server, which a proxy that
// retries would not.
type chains map[string]map[string]bool

// count adds a call, in the order in which clients heard of them, and returns on
// how many servers what it wants has failed by now; 0 for those that do not
// count.
func (c chains) count(op Op, counts bool) int {
	wish := fmt.Sprint("intent ", op.Intent)
	if op.Kind == opClaim {
		wish = "next claim of " + op.Who
	}
	switch {
	case op.Outcome != Unknown:
		delete(c, wish)
		return 0
	case !counts:
		return 0
	case c[wish] == nil:
		c[wish] = map[string]bool{}
	}
	c[wish][op.Server] = true
	return len(c[wish])
}

// TestRow20TriesOfAClaimAreOneCall shows what the row counts as the same call.
func TestRow20TriesOfAClaimAreOneCall(t *testing.T) {
	t.Parallel()
	c := chains{}
	failed := func(intent int64, who, kind, server string) int {
		return c.count(Op{Intent: intent, Who: who, Kind: kind, Server: server, Outcome: Unknown}, true)
	}
	require.Equal(t, 1, failed(1, "a", opClaim, "x"))
	require.Equal(t, 1, failed(2, "b", opClaim, "y"))
	require.Equal(t, 1, failed(3, "a", opClaim, "x"))
	require.Equal(t, 2, failed(4, "a", opClaim, "y"))
	require.Zero(t, c.count(Op{Intent: 5, Who: "a", Kind: opClaim, Server: "y", Outcome: OK}, true))
	require.Equal(t, 1, failed(6, "a", opClaim, "y"))
	require.Equal(t, 1, failed(7, "a", opSubmit, "x"))
	require.Equal(t, 1, failed(8, "a", opSubmit, "y"))
	require.Equal(t, 2, failed(7, "a", opSubmit, "y"))
	require.Zero(t, c.count(Op{Intent: 7, Who: "a", Kind: opSubmit, Server: "x", Outcome: Unknown}, false))
}
