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
// belongs to a call of theirs whose outcome is unknown, each call at most one (see ghosts);
// for every node there is an order of the calls that explains what clients saw; and
// none is of a task while it is held, of a pipeline while it is paused,
// or of a task that has failed.
func (r *Run) checkClaims(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT e.claim_id::text, e.task_id, e.node_key, e.iteration, u.email, e.lease_ends, e.created_at
		FROM task_events e JOIN users u ON u.id = e.actor WHERE e.kind = 'claim' ORDER BY e.created_at`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[given])
	if err != nil {
		return err
	}
	seen := r.History.Ops()
	ops := r.onDatabasesClock(seen)
	held, told := holds(ops), heardOf(ops)
	for _, g := range list {
		for _, h := range held[g.Task] {
			if g.within(h, told) {
				r.Violate("I2: %s was given node %s of task %d at %s, while an admin held it", g.Who, g.Node, g.Task, g.At)
			}
		}
	}
	r.checkPauses(list, ops, told)
	failedAt, failed, err := r.checkFails(ctx, list, ops, told)
	if err != nil {
		return err
	}
	ghosts := r.ghosts(list, ops, r.suspects(seen, ops))
	ended, err := r.putBacks(ctx, ops)
	if err != nil {
		return err
	}
	aside, err := r.asides(ctx)
	if err != nil {
		return err
	}
	left, err := r.checkVisits(ctx, list, failedAt, ops)
	if err != nil {
		return err
	}
	found, looked := checkHistories(histories(ops, slices.Concat(ghosts, ended, aside, failed, left), time.Duration(r.Load.LeaseSeconds)*time.Second))
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

// endedFrom is a call that may end the claim at any time from then on.
func (g given) endedFrom(at time.Time) Op {
	return Op{
		Who: g.Who, Kind: opRelease, Outcome: Unknown, Call: at.UnixNano(),
		Claim: g.Claim, Task: g.Task, Node: g.Node, Iteration: g.Iteration,
	}
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
