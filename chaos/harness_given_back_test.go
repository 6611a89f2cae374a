package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// What people give back, and what of it they skip.

// ending is how a claim ended by the journal: by whom, "" where nobody is named, and as
// what.
type ending struct {
	Claim, Who string
	Kind       pipeline.EventKind
}

// checkGivenBack is I1 of what people gave back: a claim is over for good once its
// holder was told so. One that is not runs out with its lease, which leaves a node that
// is as free. And the queue serves nobody again what they skipped (I2).
func (r *Run) checkGivenBack(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.claim_id::text, coalesce(u.email, ''), e.kind
		FROM task_events e LEFT JOIN users u ON u.id = e.actor WHERE e.claim_id IS NOT NULL AND e.kind IN ('release', 'expire')`)
	journal, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ending])
	if err != nil {
		return err
	}
	ops := r.History.Ops()
	for _, wrong := range wrongReleases(ops, journal) {
		r.Violate("I1: %s", wrong)
	}
	for _, wrong := range servedAgain(ops, r.lateBy()) {
		r.Violate("I2: %s", wrong)
	}
	r.Logf("%d claims were given back or ran out", len(journal))
	return nil
}

// wrongReleases compares what people were told of what they gave back with the journal.
// Who was told that it is done has one event of it there, under their name: what is sent
// again once it is done is refused, for the claim is over. Without an answer to any of
// the tries there may be one; where all of them were refused there is none.
func wrongReleases(ops []Op, journal []ending) (wrong []string) {
	type giving struct{ who, claim string }
	there, ended := map[giving]int{}, map[string][]pipeline.EventKind{}
	for _, e := range journal {
		ended[e.Claim] = append(ended[e.Claim], e.Kind)
		if e.Kind == pipeline.EventRelease {
			there[giving{e.Who, e.Claim}]++
		}
	}
	due := map[giving]rowsLeft{}
	for _, op := range ops {
		if op.Kind != opRelease {
			continue
		}
		g := giving{op.Who, op.Claim}
		n := due[g]
		switch op.Outcome {
		case OK:
			n = rowsLeft{1, 1}
		case Unknown:
			n.most = 1
		case Refused: // leaves nothing
		}
		due[g] = n
	}
	for g, n := range due {
		if have := there[g]; have < n.least || have > n.most {
			wrong = append(wrong, fmt.Sprintf("%s gave back claim %s, which must have left %d events and can have left %d; the journal has %d, and it ended as %v",
				g.who, g.claim, n.least, n.most, have, ended[g.claim]))
		}
	}
	return wrong
}

// skipsKept is how many nodes of a pipeline stay skipped for a person, the last ones
// (maxSkips of internal/store).
const skipsKept = 1000

// skips are those of a person since they last brought back what they skipped.
type skips struct {
	calls int           // that may have skipped something, ever
	at    map[place]int // which of them certainly skipped it
	// theirs may have been handed in by the person: it is theirs when it is open again,
	// skipped or not.
	theirs map[place]bool
	// until is when a try to bring back that had no answer may still be done, in Unix
	// time, nanoseconds.
	until int64
}

// place is a node of a task, in whatever round.
type place struct {
	task int64
	node string
}

// servedAgain finds nodes that the queue gave to people who had skipped them and brought
// nothing back since. A call without an answer may have its effect for so long after it
// was given up.
func servedAgain(ops []Op, late time.Duration) (wrong []string) {
	people := map[string]*skips{}
	for _, op := range ops {
		s := people[op.Who]
		if s == nil {
			s = &skips{at: map[place]int{}, theirs: map[place]bool{}}
			people[op.Who] = s
		}
		p := place{op.Task, op.Node}
		switch {
		case op.Kind == opReset:
			clear(s.at)
			if op.Outcome == Unknown {
				s.until = op.Return + late.Nanoseconds()
			}
		case op.Outcome == Refused:
		case op.Kind == opRelease && op.Skip:
			s.calls++
			if op.Outcome == OK && op.Call > s.until {
				s.at[p] = s.calls
			}
		case op.Kind == opSubmit, op.Kind == opReview:
			s.theirs[p] = true
		case op.Kind == opClaim && op.Outcome == OK && op.Claim != "" && !op.namesANode():
			if n, skipped := s.at[p]; skipped && s.calls-n < skipsKept && !s.theirs[p] {
				wrong = append(wrong, fmt.Sprintf("%s skipped node %s of task %d, and the queue gave it to them again as claim %s", op.Who, op.Node, op.Task, op.Claim))
			}
		}
	}
	return wrong
}

func TestWhatIsGivenBackIsCompared(t *testing.T) {
	t.Parallel()
	gave := func(outcomes ...Outcome) (ops []Op) {
		for _, o := range outcomes {
			ops = append(ops, Op{Who: "ada", Kind: opRelease, Claim: "a", Outcome: o})
		}
		return ops
	}
	const released, expired = pipeline.EventRelease, pipeline.EventExpire
	for name, c := range map[string]struct {
		ops     []Op
		journal []ending
		wrong   int
	}{
		"told, and it is so":              {gave(OK), []ending{{"a", "ada", released}}, 0},
		"told so, and it ran out":         {gave(OK), []ending{{"a", "ada", expired}}, 1},
		"told so, and nothing ended it":   {gave(OK), nil, 1},
		"told so, and an admin ended it":  {gave(OK), []ending{{"a", "admin", released}}, 1},
		"told so, and it ended twice":     {gave(OK), []ending{{"a", "ada", released}, {"a", "ada", released}}, 1},
		"told so, and another claim's":    {gave(OK), []ending{{"b", "ada", released}}, 1},
		"told when it was sent again":     {gave(Unknown, OK), []ending{{"a", "ada", released}}, 0},
		"told, and sent again":            {gave(OK, Refused), []ending{{"a", "ada", released}}, 0},
		"told, sent again, and it is not": {gave(OK, Refused), []ending{{"a", "ada", expired}}, 1},
		"done by a try without an answer": {gave(Unknown, Refused), []ending{{"a", "ada", released}}, 0},
		"not done by any":                 {gave(Unknown, Refused), []ending{{"a", "ada", expired}}, 0},
		"never answered":                  {gave(Unknown), nil, 0},
		"refused, for it ran out":         {gave(Refused), []ending{{"a", "ada", expired}}, 0},
		"refused, for an admin ended it":  {gave(Refused), []ending{{"a", "admin", released}}, 0},
		"refused, and done":               {gave(Refused), []ending{{"a", "ada", released}}, 1},
		"never asked for":                 {nil, []ending{{"a", "ada", expired}}, 0},
	} {
		require.Len(t, wrongReleases(c.ops, c.journal), c.wrong, name)
	}
}

func TestWhatIsSkippedIsNotServedAgain(t *testing.T) {
	t.Parallel()
	call := func(kind string, task, from, to int64, o Outcome) Op {
		return Op{Who: "ada", Kind: kind, Task: task, Node: nodeSolve, Call: from, Return: to, Outcome: o}
	}
	skip := func(task, from, to int64, o Outcome) Op {
		op := call(opRelease, task, from, to, o)
		op.Skip = true
		return op
	}
	served := func(from int64) Op {
		op := call(opClaim, 1, from, from+1, OK)
		op.Claim = "c"
		return op
	}
	named, another, bens := served(3), served(3), served(3)
	named.Content = json.RawMessage(`{"role":"contributor","task_id":1,"node":"solve"}`)
	another.Node, bens.Who = nodeTag, "ben"
	many := func(n int64) []Op {
		ops := []Op{skip(1, 1, 2, OK)}
		for i := range n {
			ops = append(ops, skip(2+i, 2, 3, OK))
		}
		return append(ops, served(3))
	}
	for name, c := range map[string]struct {
		ops   []Op
		wrong int
	}{
		"served it again":             {[]Op{skip(1, 1, 2, OK), served(3)}, 1},
		"only given back":             {[]Op{call(opRelease, 1, 1, 2, OK), served(3)}, 0},
		"skipped, perhaps":            {[]Op{skip(1, 1, 2, Unknown), served(3)}, 0},
		"another node":                {[]Op{skip(1, 1, 2, OK), another}, 0},
		"by its name":                 {[]Op{skip(1, 1, 2, OK), named}, 0},
		"to somebody else":            {[]Op{skip(1, 1, 2, OK), bens}, 0},
		"brought back":                {[]Op{skip(1, 1, 2, OK), call(opReset, 0, 2, 3, OK), served(3)}, 0},
		"brought back, perhaps":       {[]Op{skip(1, 1, 2, OK), call(opReset, 0, 2, 3, Unknown), served(3)}, 0},
		"brought back before":         {[]Op{call(opReset, 0, 0, 1, OK), skip(1, 1, 2, OK), served(3)}, 1},
		"brought back late, perhaps":  {[]Op{call(opReset, 0, 0, 1, Unknown), skip(1, 1, 2, OK), served(3)}, 0},
		"brought back late no more":   {[]Op{call(opReset, 0, 0, 1, Unknown), skip(1, 102, 103, OK), served(104)}, 1},
		"theirs again":                {[]Op{call(opSubmit, 1, 0, 1, OK), skip(1, 1, 2, OK), served(3)}, 0},
		"theirs, had it come in time": {[]Op{call(opSubmit, 1, 0, 1, Refused), skip(1, 1, 2, OK), served(3)}, 1},
		"as many as are kept":         {many(skipsKept - 1), 1},
		"more than are kept":          {many(skipsKept), 0},
	} {
		require.Len(t, servedAgain(c.ops, 100), c.wrong, name)
	}
}
