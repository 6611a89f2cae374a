package chaos

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// given is a claim as the journal has it.
type given struct {
	Claim     string
	Task      int64
	Node      string
	Iteration int
	Who       string
	LeaseEnds time.Time
	At        time.Time
}

// checkClaims is I2: every claim of the journal was told to its holder or
// belongs to a call of theirs whose outcome is unknown, each call at most one;
// for every node there is an order of the calls that explains what clients saw; and
// none is of a task while it is held.
func (r *Run) checkClaims(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.claim_id::text, e.task_id, e.node_key, e.iteration, u.email, e.lease_ends, e.created_at
		FROM task_events e JOIN users u ON u.id = e.actor WHERE e.kind = 'claim' ORDER BY e.created_at`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[given])
	if err != nil {
		return err
	}
	ops := r.onDatabasesClock(r.History.Ops())
	held, told := holds(ops), heardOf(ops)
	for _, g := range list {
		for _, h := range held[g.Task] {
			if g.within(h, told) {
				r.Violate("I2: %s was given node %s of task %d at %s, while an admin held it", g.Who, g.Node, g.Task, g.At)
			}
		}
	}
	ghosts := r.ghosts(ops, list)
	ended, err := r.putBacks(ctx, ops)
	if err != nil {
		return err
	}
	found, looked := checkHistories(histories(ops, slices.Concat(ghosts, ended), time.Duration(r.Load.LeaseSeconds)*time.Second))
	for _, f := range found {
		r.Violate("I2: %s", f)
	}
	r.Logf("%d node histories are linearizable, %d claims reached nobody", looked-len(found), len(ghosts))
	return nil
}

// heardOf is when clients heard of their claims, by claim.
func heardOf(ops []Op) map[string]int64 {
	told := map[string]int64{}
	for _, op := range ops {
		if op.Claim == "" || op.Kind != opClaim && op.Kind != opUndo || op.Outcome != OK {
			continue
		}
		if first, again := told[op.Claim]; !again || op.Return < first {
			told[op.Claim] = op.Return
		}
	}
	return told
}

// within reports whether a claim was certainly given during a hold. The journal has when
// its transaction began, which chose the node later: on a busy machine, after the hold.
// By when it had is known where its holder was told.
func (g given) within(h period, told map[string]int64) bool {
	began, by := g.At.UnixNano(), g.At.UnixNano()
	if at, ok := told[g.Claim]; ok {
		by = at
	}
	return h.from < began && by < h.to
}

// ghosts finds the claims that no client was told of.
func (r *Run) ghosts(ops []Op, journal []given) []Op {
	told, unknown := map[string]Op{}, map[string][]Op{}
	for _, op := range ops {
		switch {
		case op.Kind == opClaim && op.Claim != "", op.Kind == opUndo && op.Outcome == OK:
			told[op.Claim] = op
		case op.Outcome == Unknown && (op.Kind == opClaim || op.Kind == opUndo):
			unknown[op.Who] = append(unknown[op.Who], op)
		}
	}
	var out []Op
	for _, g := range journal {
		if op, ok := told[g.Claim]; ok {
			if op.Who != g.Who || op.Task != g.Task || op.Node != g.Node || op.Iteration != g.Iteration {
				r.Violate("I2: claim %s was told to %s as node %s of task %d, the journal has %+v", g.Claim, op.Who, op.Node, op.Task, g)
			}
			delete(told, g.Claim)
			continue
		}
		// The latest unknown call that began before takes the blame.
		calls := unknown[g.Who]
		i := len(calls) - 1
		for i >= 0 && calls[i].Call > g.At.UnixNano() {
			i--
		}
		if i < 0 {
			r.Violate("I2: the journal has claim %s of %s on node %s of task %d, for which they never asked", g.Claim, g.Who, g.Node, g.Task)
			continue
		}
		op := calls[i]
		unknown[g.Who] = slices.Delete(calls, i, i+1)
		op.Kind = opClaim
		op.Claim, op.Task, op.Node, op.Iteration, op.LeaseEnds = g.Claim, g.Task, g.Node, g.Iteration, g.LeaseEnds.UnixNano()
		out = append(out, op)
	}
	for claim, op := range told {
		r.Violate("I2: claim %s, told to %s, is not in the journal", claim, op.Who)
	}
	return out
}
