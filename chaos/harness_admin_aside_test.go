package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
)

// setAside escalates the review of one of the newest tasks, whoever has it. By the end of
// a run nobody does: what is escalated then stays so.
func (a *admin) setAside(ctx context.Context) error {
	if closed(a.refill) {
		return nil
	}
	for range putBackLooks {
		id, ok := a.org.newest(a.rand, a.run.Load.Backlog)
		if !ok {
			return nil
		}
		_, err := a.do(ctx, request{
			Op: Op{Kind: opSetAside, Task: id, Node: nodeCheck}, method: http.MethodPost,
			path: fmt.Sprintf("/api/console/tasks/%d/nodes/%s/escalate", id, nodeCheck), refusals: []int{http.StatusConflict},
		})
		if !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil // none is open
}

// asidesSQL is what admins escalated, e: who holds a node escalates it, too, by letting its
// time limit pass.
const asidesSQL = `task_events e JOIN users a ON a.id = e.actor AND starts_with(a.email, 'admin@')`

// asides are the claims that admins ended as they set a review aside, as calls that may
// end them at any time from then on. Nobody has the review after that, nor hands it in,
// until an admin decides.
func (r *Run) asides(ctx context.Context) ([]Op, error) {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT c.claim_id::text, c.task_id, c.node_key, c.iteration, u.email, e.created_at, e.created_at
		FROM `+asidesSQL+` JOIN task_events c ON c.task_id = e.task_id AND c.node_key = e.node_key AND c.kind = 'claim'
			AND c.iteration = e.iteration AND c.seq < e.seq
		JOIN users u ON u.id = c.actor WHERE e.kind = 'escalate'`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[given])
	if err != nil {
		return nil, err
	}
	var ended []Op
	for _, g := range list {
		ended = append(ended, g.endedFrom(g.At))
	}
	rows, _ = r.Store().Pool().Query(ctx, `SELECT s.task_id, s.node_key, s.kind, s.seq, e.seq
		FROM `+asidesSQL+` JOIN task_events s ON s.task_id = e.task_id AND s.node_key = e.node_key AND s.seq > e.seq
			AND s.kind IN ('claim', 'submit', 'review', 'undo')
		WHERE e.kind = 'escalate' AND NOT EXISTS (SELECT FROM task_events d WHERE d.task_id = e.task_id AND d.node_key = e.node_key
			AND d.kind = 'resolve' AND d.seq > e.seq AND d.seq < s.seq)`)
	var id, seq, since int64
	var node, kind string
	_, err = pgx.ForEachRow(rows, []any{&id, &node, &kind, &seq, &since}, func() error {
		r.Violate("I2: node %s of task %d has a %s as event %d, and was escalated since event %d", node, id, kind, seq, since)
		return nil
	})
	return ended, err
}
