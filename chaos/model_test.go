package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The times of these histories are in seconds; a lease holds for 4.
func at(seconds float64) int64 { return int64(seconds * 1e9) }

func on(kind, claim string, from, to float64, o Outcome) Op {
	op := Op{Kind: kind, Claim: claim, Task: 1, Node: nodeSolve, Iteration: 1, Call: at(from), Return: at(to) - 1, Outcome: o}
	if kind == opClaim || kind == opExtend {
		op.LeaseEnds = at(from + 4) // given when it was asked for
	}
	return op
}

func TestHistoriesOfANode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ops  []Op
		want bool
	}{
		"claimed and handed in":                    {[]Op{on(opClaim, "a", 0, 1, OK), on(opDraft, "a", 1, 2, OK), on(opSubmit, "a", 2, 3, OK)}, true},
		"handed in twice, the same":                {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, OK), on(opSubmit, "a", 2, 3, OK)}, true},
		"held by two":                              {[]Op{on(opClaim, "a", 0, 1, OK), on(opClaim, "b", 1, 2, OK)}, false},
		"taken over after the lease":               {[]Op{on(opClaim, "a", 0, 1, OK), on(opClaim, "b", 4, 5, OK), on(opSubmit, "b", 5, 6, OK), on(opSubmit, "a", 6, 7, Refused)}, true},
		"both handed in":                           {[]Op{on(opClaim, "a", 0, 1, OK), on(opClaim, "b", 4, 5, OK), on(opSubmit, "b", 5, 6, OK), on(opSubmit, "a", 6, 7, OK)}, false},
		"released and taken":                       {[]Op{on(opClaim, "a", 0, 1, OK), on(opRelease, "a", 1, 2, OK), on(opClaim, "b", 2, 3, OK)}, true},
		"taken while its release is unknown":       {[]Op{on(opClaim, "a", 0, 1, OK), on(opRelease, "a", 1, 2, Unknown), on(opClaim, "b", 2, 3, OK)}, true},
		"handed in after its release":              {[]Op{on(opClaim, "a", 0, 1, OK), on(opRelease, "a", 1, 2, OK), on(opSubmit, "a", 2, 3, OK)}, false},
		"refused while it holds":                   {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, Refused)}, false},
		"refused after the lease":                  {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 3, 4.5, Refused)}, true},
		"handed in after the lease, nobody came":   {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 6, 7, OK)}, true},
		"an unknown hand-in that came through":     {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, Unknown), on(opSubmit, "a", 2, 3, OK)}, true},
		"an unknown hand-in that did not":          {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, Unknown), on(opClaim, "b", 4, 5, OK), on(opSubmit, "b", 5, 6, OK)}, true},
		"an unknown hand-in that comes much later": {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, Unknown), on(opDraft, "a", 2, 3, OK)}, true},
		"claimed after it was handed in":           {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, OK), on(opClaim, "b", 5, 6, OK)}, false},
		"a repeat that is refused":                 {[]Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, OK), on(opSubmit, "a", 5, 6, Refused)}, false},
		"a draft of somebody who lost the node":    {[]Op{on(opClaim, "a", 0, 1, OK), on(opClaim, "b", 4, 5, OK), on(opDraft, "a", 6, 7, OK)}, false},
		"taken before an extended lease is over":   {[]Op{on(opClaim, "a", 0, 1, OK), on(opExtend, "a", 3, 4, OK), on(opClaim, "b", 5, 6, OK)}, false},
		"taken after an extended lease is over":    {[]Op{on(opClaim, "a", 0, 1, OK), on(opExtend, "a", 3, 4, OK), on(opClaim, "b", 7, 8, OK)}, true},
		"extended by somebody who lost the node":   {[]Op{on(opClaim, "a", 0, 1, OK), on(opClaim, "b", 4, 5, OK), on(opExtend, "a", 6, 7, OK)}, false},
		"an extension refused while it holds":      {[]Op{on(opClaim, "a", 0, 1, OK), on(opExtend, "a", 1, 2, Refused)}, false},
		"an extension refused when it is over":     {[]Op{on(opClaim, "a", 0, 1, OK), on(opExtend, "a", 5, 6, Refused)}, true},
		"an extension that nobody knows of":        {[]Op{on(opClaim, "a", 0, 1, OK), on(opExtend, "a", 3, 4, Unknown), on(opClaim, "b", 5, 6, OK)}, true},
		"side by side, in some order":              {[]Op{on(opClaim, "a", 0, 9, OK), on(opRelease, "a", 0, 9, OK), on(opClaim, "b", 1, 9, OK)}, true},
	} {
		found, looked := checkHistories(histories(c.ops, nil, 4*time.Second))
		require.Equal(t, 1, looked, name)
		require.Equal(t, c.want, len(found) == 0, "%s: %v", name, found)
	}
}

func TestRoundsAndNodesStandForThemselves(t *testing.T) {
	t.Parallel()
	again := on(opClaim, "b", 1, 2, OK)
	again.Iteration = 2
	other := on(opClaim, "c", 1, 2, OK)
	other.Node = nodeTag
	found, looked := checkHistories(histories([]Op{on(opClaim, "a", 0, 1, OK), again, other, {Kind: opPoll, Outcome: OK}}, nil, 4*time.Second))
	require.Equal(t, 3, looked)
	require.Empty(t, found)
}

// An undo gives a claim of the next round, which others have to respect; one whose
// outcome is unknown names the claim that it wants to undo, and gives none.
func TestAnUndoGivesAClaim(t *testing.T) {
	t.Parallel()
	undo := func(claim string, round int, o Outcome) Op {
		op := on(opUndo, claim, 2, 3, o)
		op.Iteration, op.LeaseEnds = round, at(2+4)
		return op
	}
	other := func(from float64) Op {
		op := on(opClaim, "c", from, from+1, OK)
		op.Iteration = 2
		return op
	}
	before := []Op{on(opClaim, "a", 0, 1, OK), on(opSubmit, "a", 1, 2, OK), undo("a", 1, Unknown)}
	for from, want := range map[float64]int{3: 1, 6: 0} { // its lease ends at 6
		found, looked := checkHistories(histories(append(before, undo("b", 2, OK), other(from)), nil, 4*time.Second))
		require.Equal(t, 2, looked)
		require.Len(t, found, want)
	}
	found, _ := checkHistories(histories(append(before, other(3)), nil, 4*time.Second))
	require.Empty(t, found, "it is not known whether anything was undone")
}

// A claim that nobody was told of stands in the way of others all the same.
func TestAGhostHoldsItsNode(t *testing.T) {
	t.Parallel()
	ghost := on(opClaim, "g", 0, 1, Unknown)
	ops := []Op{on(opClaim, "a", 2, 3, OK)}
	found, _ := checkHistories(histories(ops, []Op{ghost}, 4*time.Second))
	require.Len(t, found, 1)
	ops[0] = on(opClaim, "a", 4, 5, OK)
	found, _ = checkHistories(histories(ops, []Op{ghost}, 4*time.Second))
	require.Empty(t, found)
}
