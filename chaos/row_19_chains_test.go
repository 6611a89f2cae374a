package chaos

import (
	"fmt"
	"testing"
	"time"

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

// TestRow19TriesOfAClaimAreOneCall shows what the row counts as the same call.
func TestRow19TriesOfAClaimAreOneCall(t *testing.T) {
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

// TestRow19MeetsARestart tells calls that met one from others.
func TestRow19MeetsARestart(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	d := &deploys{restarts: []restart{{"serve 0", at(10), at(12)}}}
	for want, times := range map[bool][][2]int64{
		true:  {{9, 10}, {9, 13}, {11, 11}, {12, 20}},
		false: {{8, 9}, {13, 14}},
	} {
		for _, w := range times {
			require.Equal(t, want, d.during(Op{Call: at(w[0]).UnixNano(), Return: at(w[1]).UnixNano()}), w)
		}
	}
}

// TestRow19EndsInOrder reads ends of logs.
func TestRow19EndsInOrder(t *testing.T) {
	t.Parallel()
	const down, stopped, worker = `{"msg":"Shutting down."}` + "\n", `{"msg":"Stopped."}` + "\n", `{"msg":"The worker has stopped."}` + "\n"
	require.Empty(t, endedInOrder(ofServe, down+stopped))
	require.Empty(t, endedInOrder(ofWorker, worker+stopped))
	for _, bad := range []string{"", down, stopped, stopped + down, down + `{"msg":"` + cutOffSaid + `"}` + "\n" + stopped} {
		require.NotEmpty(t, endedInOrder(ofServe, bad), bad)
	}
	require.NotEmpty(t, endedInOrder(ofWorker, stopped+worker))
}
