package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// The history of a node in one round, as a state machine: it is free, held by
// a claim, or handed in under one. The checker looks for an order of the calls,
// each at some moment between its beginning and its end, that the machine
// allows.

// nodeState is where a node is. The zero value is free.
type nodeState struct {
	holder    string // the claim, "" when free
	leaseEnds int64  // of the holder, Unix time in nanoseconds
	handedIn  bool   // under holder
}

// nodeCall is a call on a node.
type nodeCall struct {
	kind    string // opClaim (an undo's too), opExtend, opDraft, opSubmit (verdicts too), opRelease
	claim   string
	outcome Outcome
	// at and leaseEnds are of a claim: when the database gave it, and until
	// when it holds, both by the database's clock. An extension has leaseEnds.
	at, leaseEnds int64
	// ended is when the client had the answer.
	ended int64
}

func (c nodeCall) String() string {
	return fmt.Sprintf("%s %s: %s", c.kind, c.claim, c.outcome)
}

// step returns the states that the call may leave behind, none when it cannot
// have happened in this state.
func (s nodeState) step(c nodeCall) []nodeState {
	held := s.holder == c.claim && !s.handedIn
	done := s.holder == c.claim && s.handedIn
	// A lease that ran out may have been taken back by the time the answer
	// came.
	lapsed := held && c.ended >= s.leaseEnds
	same, free := []nodeState{s}, []nodeState{{}}
	switch c.kind {
	case opClaim: // only those that were given are looked at
		if s.handedIn || s.holder != "" && c.at < s.leaseEnds {
			return nil
		}
		return []nodeState{{holder: c.claim, leaseEnds: c.leaseEnds}}
	case opExtend: // one of unknown outcome is left out: that only lets more be right
		switch {
		case c.outcome == OK && held:
			return []nodeState{{holder: s.holder, leaseEnds: max(s.leaseEnds, c.leaseEnds)}}
		case c.outcome == OK, held && !lapsed:
			return nil
		}
		return same
	case opDraft: // only those that were saved
		if !held {
			return nil
		}
		return same
	case opSubmit:
		in := []nodeState{{holder: c.claim, leaseEnds: s.leaseEnds, handedIn: true}}
		switch {
		case c.outcome == OK && (held || done):
			return in
		case c.outcome == Refused && done, c.outcome == Refused && held && !lapsed, c.outcome == OK:
			return nil
		case c.outcome == Unknown && held:
			return append(in, s)
		}
		return same
	case opRelease:
		switch {
		case c.outcome == OK && held:
			return free
		case c.outcome == OK, c.outcome == Refused && held && !lapsed:
			return nil
		case c.outcome == Unknown && held:
			return append(free, s)
		}
		return same
	}
	return nil
}

var nodeModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{nodeState{}} },
	Step: func(state, input, _ any) []any {
		var out []any
		for _, s := range state.(nodeState).step(input.(nodeCall)) {
			out = append(out, s)
		}
		return out
	},
	DescribeOperation: func(input, _ any) string { return input.(nodeCall).String() },
}).ToModel()

// round names a node in one of its iterations.
type round struct {
	task      int64
	node      string
	iteration int
}

// histories sorts the calls by the node and round that they are about. ghosts
// are claims that the database gave and no client was told of.
func histories(ops, ghosts []Op, lease time.Duration) map[round][]porcupine.Operation {
	out := map[round][]porcupine.Operation{}
	for _, op := range slices.Concat(ops, ghosts) {
		c := nodeCall{kind: op.Kind, claim: op.Claim, outcome: op.Outcome, ended: op.Return}
		ends := op.Return
		switch op.Kind {
		case opClaim, opUndo:
			// An undo has the claim that it gave once it is acknowledged.
			if op.Claim == "" || op.Outcome == Refused || op.Kind == opUndo && op.Outcome == Unknown {
				continue
			}
			c.kind = opClaim
			c.leaseEnds, c.at = op.LeaseEnds, op.LeaseEnds-int64(lease)
		case opExtend:
			if op.Outcome == Unknown {
				continue
			}
			c.leaseEnds = op.LeaseEnds
		case opDraft:
			if op.Outcome != OK {
				continue
			}
		case opReview:
			c.kind = opSubmit
		case opSubmit, opRelease:
			if op.forTheRole() {
				continue
			}
		default:
			continue
		}
		if op.Outcome == Unknown {
			ends = math.MaxInt64 // its effect may come at any time after
		}
		k := round{op.Task, op.Node, op.Iteration}
		out[k] = append(out[k], porcupine.Operation{Input: c, Call: op.Call, Return: ends, Metadata: op.Who})
	}
	return out
}

// checkHistories returns the rounds whose calls no order explains, in words,
// and how many rounds it looked at.
func checkHistories(all map[round][]porcupine.Operation) (found []string, looked int) {
	const patience = 20 * time.Second // for one round
	for k, ops := range all {
		looked++
		switch porcupine.CheckOperationsTimeout(nodeModel, ops, patience) {
		case porcupine.Ok:
		case porcupine.Illegal:
			found = append(found, fmt.Sprintf("no order of the calls on node %s of task %d in round %d explains what clients saw:\n%s",
				k.node, k.task, k.iteration, describe(ops)))
		case porcupine.Unknown:
			found = append(found, fmt.Sprintf("the calls on node %s of task %d in round %d could not be ordered within %s",
				k.node, k.task, k.iteration, patience))
		}
	}
	return found, looked
}

func describe(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	clock := func(ns int64) string {
		if ns == math.MaxInt64 {
			return "any later time"
		}
		return time.Unix(0, ns).UTC().Format("15:04:05.000000")
	}
	for _, op := range ops {
		c := op.Input.(nodeCall)
		fmt.Fprintf(&b, "  %s to %s  %v  %s", clock(op.Call), clock(op.Return), op.Metadata, c)
		if c.kind == opClaim {
			fmt.Fprintf(&b, " given %s, holds until %s", clock(c.at), clock(c.leaseEnds))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
