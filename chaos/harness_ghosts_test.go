package chaos

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Claims that the journal has and no client was told of.

// suspect is a call of unknown outcome that may have given a claim.
type suspect struct {
	who string
	// from and until are when it can have begun to: from when it was sent until it was
	// certainly given up, by the database's clock.
	from, until int64
	// task, node and iteration are those that it asked for, each 0 or "" for any.
	task      int64
	node      string
	iteration int
}

// explains reports whether a claim can have been given by the call.
func (s suspect) explains(g given) bool {
	at := g.At.UnixNano()
	return s.who == g.Who && s.from <= at && at <= s.until &&
		(s.task == 0 || s.task == g.Task) && (s.node == "" || s.node == g.Node) && (s.iteration == 0 || s.iteration == g.Iteration)
}

// lateBy is how long after its client gave up a call may begin what it does: it may lie
// before a server that stands still, which may stand still once more before it is done
// with it; then it waits for a connection, for a lock that looks who asks, and for its
// turn on a busy machine.
func (r *Run) lateBy() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return 2*r.servePaused + poolWait + lockWait + slack
}

// suspects are the calls whose outcome nobody knows: as they were seen, and by the
// database's clock.
func (r *Run) suspects(seen, ops []Op) (out []suspect) {
	late := r.lateBy()
	for i, op := range ops {
		if op.Outcome != Unknown {
			continue
		}
		s := suspect{who: op.Who, from: op.Call, until: r.latestOnDatabase(time.Unix(0, seen[i].Return).Add(late)).UnixNano()}
		switch op.Kind {
		case opClaim:
			var asked struct {
				Task int64  `json:"task_id"`
				Node string `json:"node"`
			}
			_ = json.Unmarshal(op.Content, &asked) // of what names nothing, any will do
			s.task, s.node = asked.Task, asked.Node
		case opUndo:
			s.task, s.node, s.iteration = op.Task, op.Node, op.Iteration+1
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

// ghosts finds the claims that no client was told of, as calls that began when the
// database says that they did, and whose outcome is unknown. Each must have a call of
// its own to explain it.
func (r *Run) ghosts(journal []given, ops []Op, unknown []suspect) []Op {
	told := map[string]Op{}
	for _, op := range ops {
		if op.Kind == opClaim && op.Claim != "" || op.Kind == opUndo && op.Outcome == OK {
			told[op.Claim] = op
		}
	}
	var untold []given
	for _, g := range journal {
		op, ok := told[g.Claim]
		if !ok {
			untold = append(untold, g)
			continue
		}
		if op.Who != g.Who || op.Task != g.Task || op.Node != g.Node || op.Iteration != g.Iteration {
			r.Violate("I2: claim %s was told to %s as node %s of task %d, the journal has %+v", g.Claim, op.Who, op.Node, op.Task, g)
		}
		delete(told, g.Claim)
	}
	for claim, op := range told {
		r.Violate("I2: claim %s, told to %s, is not in the journal", claim, op.Who)
	}
	for _, g := range unexplained(untold, unknown) {
		r.Violate("I2: the journal has claim %s of %s on node %s of task %d in round %d, given at %s, for which no call of theirs can have asked",
			g.Claim, g.Who, g.Node, g.Task, g.Iteration, g.At)
	}
	out := make([]Op, len(untold))
	for i, g := range untold {
		// The journal has when the claim's transaction began, so it was not given before.
		out[i] = Op{
			Who: g.Who, Kind: opClaim, Outcome: Unknown, Call: g.At.UnixNano(), Return: g.At.UnixNano(), LeaseEnds: g.LeaseEnds.UnixNano(),
			Claim: g.Claim, Task: g.Task, Node: g.Node, Iteration: g.Iteration,
		}
	}
	return out
}

// unexplained are the claims that are left when as many as can be have a call of their
// own that explains them. Which call it is does not matter: a claim gets another one
// where that lets one more have one (augmenting paths).
func unexplained(claims []given, calls []suspect) (left []given) {
	of := map[string][]int{} // calls by who made them
	for i, s := range calls {
		of[s.who] = append(of[s.who], i)
	}
	taken := map[int]int{} // claims by their call
	var find func(claim int, tried map[int]bool) bool
	find = func(claim int, tried map[int]bool) bool {
		for _, i := range of[claims[claim].Who] {
			if tried[i] || !calls[i].explains(claims[claim]) {
				continue
			}
			tried[i] = true
			if other, busy := taken[i]; !busy || find(other, tried) {
				taken[i] = claim
				return true
			}
		}
		return false
	}
	for i, g := range claims {
		if !find(i, map[int]bool{}) {
			left = append(left, g)
		}
	}
	return left
}

func TestAGhostNeedsACallThatExplainsIt(t *testing.T) {
	t.Parallel()
	r := &Run{t: t, servePaused: 7 * time.Second}
	require.Equal(t, 29*time.Second, r.lateBy())
	call := func(kind string, from, to float64, o Outcome) Op {
		return Op{Who: "ada", Kind: kind, Call: at(from), Return: at(to), Outcome: o}
	}
	named := func(from, to float64, content string) Op {
		op := call(opClaim, from, to, Unknown)
		op.Content = json.RawMessage(content)
		return op
	}
	undo := func(from, to float64, iteration int) Op {
		op := call(opUndo, from, to, Unknown)
		op.Claim, op.Task, op.Node, op.Iteration = "before", 1, nodeSolve, iteration
		return op
	}
	ghost := func(seconds float64, iteration int) given {
		return given{Who: "ada", Task: 1, Node: nodeSolve, Iteration: iteration, At: time.Unix(0, at(seconds))}
	}
	for name, c := range map[string]struct {
		ops     []Op
		journal []given
		left    int
	}{
		"by a call under way":                  {[]Op{call(opClaim, 1, 6, Unknown)}, []given{ghost(3, 1)}, 0},
		"by one that was given up":             {[]Op{call(opClaim, 1, 6, Unknown)}, []given{ghost(34, 1)}, 0},
		"by one of long ago":                   {[]Op{call(opClaim, 1, 6, Unknown)}, []given{ghost(36, 1)}, 1},
		"before it was asked for":              {[]Op{call(opClaim, 4, 6, Unknown)}, []given{ghost(3, 1)}, 1},
		"by one that was refused":              {[]Op{call(opClaim, 1, 6, Refused)}, []given{ghost(3, 1)}, 1},
		"by one that was told of nothing":      {[]Op{call(opClaim, 1, 6, OK)}, []given{ghost(3, 1)}, 1},
		"two by one":                           {[]Op{call(opClaim, 1, 6, Unknown)}, []given{ghost(3, 1), ghost(4, 1)}, 1},
		"by its name":                          {[]Op{named(1, 6, `{"task_id":1,"node":"solve"}`)}, []given{ghost(3, 1)}, 0},
		"by the name of another node":          {[]Op{named(1, 6, `{"task_id":1,"node":"tag"}`)}, []given{ghost(3, 1)}, 1},
		"by the name of another task":          {[]Op{named(1, 6, `{"task_id":2,"node":"solve"}`)}, []given{ghost(3, 1)}, 1},
		"by an undo":                           {[]Op{undo(1, 6, 1)}, []given{ghost(3, 2)}, 0},
		"by an undo of a later round":          {[]Op{undo(1, 6, 2)}, []given{ghost(3, 2)}, 1},
		"by an undo where it could be another": {[]Op{undo(1, 6, 1), call(opClaim, 1, 6, Unknown)}, []given{ghost(3, 2), ghost(4, 1)}, 0},
		"the other way round":                  {[]Op{call(opClaim, 1, 6, Unknown), undo(1, 6, 1)}, []given{ghost(3, 2), ghost(4, 1)}, 0},
		"each by the only one left":            {[]Op{call(opClaim, 2, 30, Unknown), call(opClaim, 1, 6, Unknown)}, []given{ghost(3, 1), ghost(40, 1)}, 0},
	} {
		require.Len(t, unexplained(c.journal, r.suspects(c.ops, c.ops)), c.left, name)
	}
	other := ghost(3, 1)
	other.Who = "ben"
	require.Len(t, unexplained([]given{other}, r.suspects([]Op{call(opClaim, 1, 6, Unknown)}, []Op{call(opClaim, 1, 6, Unknown)})), 1)
}

// A ghost began when the database says so: what its client asked for long before does
// not let it stand in nobody's way.
func TestAGhostBeginsWhenItWasGiven(t *testing.T) {
	t.Parallel()
	r := &Run{t: t}
	asked := Op{Who: "ada", Kind: opClaim, Call: at(0), Return: at(5), Outcome: Unknown}
	g := given{Claim: "g", Who: "ada", Task: 1, Node: nodeSolve, Iteration: 1, At: time.Unix(0, at(4)), LeaseEnds: time.Unix(0, at(8))}
	ghosts := r.ghosts([]given{g}, []Op{asked}, r.suspects([]Op{asked}, []Op{asked}))
	require.Empty(t, r.Violations())
	require.Len(t, ghosts, 1)
	require.Equal(t, at(4), ghosts[0].Call)
	// Somebody drafts without a claim at 2: only a claim of before 2 would explain it.
	draft := on(opDraft, "g", 2, 3, OK)
	found, _ := checkHistories(histories([]Op{draft}, ghosts, 4*time.Second))
	require.Len(t, found, 1)
	require.Len(t, r.ghosts([]given{g}, nil, nil), 1)
	require.Len(t, r.Violations(), 1)
}
