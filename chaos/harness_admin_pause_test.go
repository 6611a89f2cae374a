package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pausedFor is how long an admin pauses the pipeline at most.
const pausedFor = 500 * time.Millisecond

// pause stops the pipeline for a moment: nobody is given work meanwhile. What people
// have they may hand in, and programs create tasks as ever.
func (a *admin) pause(ctx context.Context) error {
	a.pauses = true
	if err := a.steer(ctx, opPause); err != nil {
		return err
	}
	if err := wait(ctx, time.Duration(a.rand.Int64N(int64(pausedFor)))); err != nil {
		return err
	}
	return a.steer(ctx, opResume)
}

// steer sends a verb of the pipeline's life until the pipeline is where it leads: who is
// refused has been there before, by a try that was given up.
func (a *admin) steer(ctx context.Context, verb string) error {
	_, err := a.do(ctx, request{
		Op: Op{Kind: verb}, method: http.MethodPost, path: a.pipeline("/" + verb), refusals: []int{http.StatusConflict},
	})
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// isPaused is what people are told who ask for work meanwhile.
const isPaused = "the pipeline is PAUSED"

func (op Op) foundItPaused() bool {
	return op.Kind == opClaim && op.Outcome == Refused && op.Status == http.StatusConflict && strings.Contains(op.Error, isPaused)
}

// namesANode reports whether a call for work asked for a certain node, which may be
// refused for many reasons.
func (op Op) namesANode() bool { return strings.Contains(string(op.Content), `"task_id"`) }

// pausings is what is known of when a pipeline was paused.
type pausings struct {
	certain []period
	// begun and ended are when it may have been paused and resumed.
	begun, ended []effect
}

// pausingsOf sorts what admins did by pipeline, by the mark of its organization. It was
// paused for certain from when that was acknowledged until somebody first asked for its
// end; but not once an earlier end has no answer, which may come late. A call without an
// answer may have its effect for so long after it was given up.
func pausingsOf(ops []Op, late time.Duration) map[string]*pausings {
	out := map[string]*pausings{}
	asked := map[wish]bool{}
	since, doubtful := map[string]int64{}, map[string]int64{} // until when
	for _, op := range ops {
		if op.Kind != opPause && op.Kind != opResume {
			continue
		}
		if out[op.Org] == nil {
			out[op.Org] = &pausings{}
		}
		p, e := out[op.Org], effect{period{op.Call, op.Return}, op.Outcome != Unknown}
		if !e.certain {
			e.to += late.Nanoseconds()
		}
		switch op.Kind {
		case opPause:
			// Who is refused knows that it is paused as much as who has done it.
			if e.certain && op.Call > doubtful[op.Org] {
				since[op.Org] = op.Return
			}
			if op.Outcome != Refused {
				p.begun = append(p.begun, e)
			}
		default:
			if w := (wish{op.Who, op.Intent}); !asked[w] {
				asked[w] = true
				if from, ok := since[op.Org]; ok {
					p.certain = append(p.certain, period{from, op.Call})
					delete(since, op.Org)
				}
			}
			if !e.certain {
				doubtful[op.Org] = max(doubtful[op.Org], e.to)
			}
			p.ended = append(p.ended, e)
		}
	}
	return out
}

// maybe reports whether the pipeline may have been paused at some moment of a call: one
// that paused it may have had its effect before the call's end, and no end that followed
// it was acknowledged before the call began.
func (p *pausings) maybe(from, to int64) bool {
	if p == nil {
		return false
	}
	for _, b := range p.begun {
		if b.from > to {
			continue
		}
		over := false
		for _, e := range p.ended {
			over = over || e.certain && e.from > b.to && e.to < from
		}
		if !over {
			return true
		}
	}
	return false
}

// checkPauses says who was served in a pipeline that was paused, who was told that it
// was when it was not, and who was refused the next work for anything else.
func (r *Run) checkPauses(journal []given, ops []Op, told map[string]int64) {
	of := pausingsOf(ops, r.lateBy())
	found := 0
	for _, op := range ops {
		if op.foundItPaused() {
			found++
		}
	}
	for _, wrong := range slices.Concat(wronglyGiven(of, journal, ops, told), wronglyTold(of, ops)) {
		r.Violate("I2: %s", wrong)
	}
	for _, o := range r.World.Orgs {
		if p := of[o.Mark]; p != nil {
			r.Logf("the pipeline of %s was paused for certain %d times", o.Mark, len(p.certain))
		}
	}
	r.Logf("%d calls for work found their pipeline paused", found)
}

func wronglyGiven(of map[string]*pausings, journal []given, ops []Op, told map[string]int64) (wrong []string) {
	orgs := map[string]string{} // of people
	for _, op := range ops {
		orgs[op.Who] = op.Org
	}
	for _, g := range journal {
		p := of[orgs[g.Who]]
		if p == nil {
			continue
		}
		for _, pause := range p.certain {
			if g.within(pause, told) {
				wrong = append(wrong, fmt.Sprintf("%s was given node %s of task %d at %s, while the pipeline was paused", g.Who, g.Node, g.Task, g.At))
			}
		}
	}
	return wrong
}

func wronglyTold(of map[string]*pausings, ops []Op) (wrong []string) {
	for _, op := range ops {
		switch {
		case op.foundItPaused() && !of[op.Org].maybe(op.Call, op.Return):
			wrong = append(wrong, fmt.Sprintf("%s of %s was told at %s that the pipeline is paused, which it was not", op.Who, op.Org, time.Unix(0, op.Return)))
		case op.Kind == opClaim && op.Outcome == Refused && op.Status == http.StatusConflict && !op.foundItPaused() && !op.namesANode():
			wrong = append(wrong, fmt.Sprintf("%s of %s was refused the next work: %s", op.Who, op.Org, op.Error))
		}
	}
	return wrong
}

func TestPausesAreCompared(t *testing.T) {
	t.Parallel()
	intents := int64(0)
	op := func(kind string, from, to int64, o Outcome) Op {
		intents++
		return Op{Org: "o", Who: "admin", Kind: kind, Intent: intents, Call: from, Return: to, Outcome: o}
	}
	again := func(first Op, from, to int64, o Outcome) Op {
		first.Call, first.Return, first.Outcome = from, to, o
		return first
	}
	pause, resume := op(opPause, 10, 12, OK), op(opResume, 20, 22, OK)
	lost := op(opPause, 10, 12, Unknown)
	lostEnd := op(opResume, 20, 22, Unknown)
	const late = 100
	for name, c := range map[string]struct {
		acts     []Op
		given    int64 // a claim then; 0 for none
		told     int64 // when its holder was told of it
		asked    [2]int64
		node     bool   // they asked for a certain one
		answered string // to who asked, in this time
		right    bool
	}{
		"given before":                {acts: []Op{pause, resume}, given: 9, told: 13, right: true},
		"given while it begins":       {acts: []Op{pause, resume}, given: 11, told: 13, right: true},
		"given meanwhile":             {acts: []Op{pause, resume}, given: 13, told: 14, right: false},
		"given as it ends, perhaps":   {acts: []Op{pause, resume}, given: 13, told: 21, right: true},
		"given after":                 {acts: []Op{pause, resume}, given: 23, told: 24, right: true},
		"paused by an earlier try":    {acts: []Op{lost, again(lost, 13, 14, Refused), resume}, given: 15, told: 16, right: false},
		"the end has no answer":       {acts: []Op{pause, lostEnd, again(lostEnd, 23, 24, OK)}, given: 21, told: 22, right: true},
		"an end may come late":        {acts: []Op{pause, lostEnd, again(lostEnd, 23, 24, OK), op(opPause, 30, 31, OK), op(opResume, 40, 41, OK)}, given: 35, told: 36, right: true},
		"no end may come any more":    {acts: []Op{pause, lostEnd, again(lostEnd, 23, 24, OK), op(opPause, 130, 131, OK), op(opResume, 140, 141, OK)}, given: 135, told: 136, right: false},
		"told meanwhile":              {acts: []Op{pause, resume}, asked: [2]int64{13, 14}, answered: isPaused, right: true},
		"told while it begins":        {acts: []Op{pause, resume}, asked: [2]int64{9, 11}, answered: isPaused, right: true},
		"told while it ends":          {acts: []Op{pause, resume}, asked: [2]int64{21, 25}, answered: isPaused, right: true},
		"told before":                 {acts: []Op{pause, resume}, asked: [2]int64{8, 9}, answered: isPaused, right: false},
		"told after":                  {acts: []Op{pause, resume}, asked: [2]int64{23, 24}, answered: isPaused, right: false},
		"told, and nobody paused it":  {asked: [2]int64{23, 24}, answered: isPaused, right: false},
		"paused late, perhaps":        {acts: []Op{lost, again(lost, 13, 14, OK), resume}, asked: [2]int64{23, 24}, answered: isPaused, right: true},
		"paused late, and resumed":    {acts: []Op{lost, op(opResume, 120, 121, OK)}, asked: [2]int64{123, 124}, answered: isPaused, right: false},
		"resumed by an earlier try":   {acts: []Op{pause, lostEnd, again(lostEnd, 23, 24, Refused)}, asked: [2]int64{25, 26}, answered: isPaused, right: false},
		"refused for something else":  {acts: []Op{pause, resume}, asked: [2]int64{13, 14}, answered: "somebody else has it", right: false},
		"refused a node":              {acts: []Op{pause, resume}, asked: [2]int64{13, 14}, node: true, answered: "somebody else has it", right: true},
		"another pipeline was paused": {acts: []Op{again(Op{Org: "p", Kind: opPause, Who: "b"}, 10, 12, OK)}, given: 13, told: 14, right: true},
	} {
		ops := slices.Concat(c.acts, []Op{{Org: "o", Who: "w", Kind: opSubmit}})
		if c.answered != "" {
			asked := Op{
				Org: "o", Who: "w", Kind: opClaim, Outcome: Refused, Status: http.StatusConflict,
				Call: c.asked[0], Return: c.asked[1], Error: c.answered,
			}
			if c.node {
				asked.Content = json.RawMessage(`{"role":"contributor","task_id":7,"node":"solve"}`)
			}
			ops = append(ops, asked)
		}
		var journal []given
		if c.given > 0 {
			journal = []given{{Claim: "c", Who: "w", At: time.Unix(0, c.given)}}
		}
		of := pausingsOf(ops, late)
		wrong := slices.Concat(wronglyGiven(of, journal, ops, map[string]int64{"c": c.told}), wronglyTold(of, ops))
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}
