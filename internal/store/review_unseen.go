package store

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// errUnseenCorrection is why an approval is refused whose author has not seen what another
// review corrected.
var errUnseenCorrection = errors.New("a newer correction than the reviewer saw")

// alsoReviewed are those of the fields under a review that another one is about, too.
func alsoReviewed(p *pipeline.Pipeline, review string, under []Reviewed) []string {
	var elsewhere, out []string
	for _, n := range p.Definition.Nodes {
		if n.Key == review {
			continue
		}
		for _, t := range n.Reviews {
			elsewhere = append(elsewhere, reviewFields(p, t)...)
		}
	}
	for _, r := range under {
		for _, field := range r.Fields {
			if slices.Contains(elsewhere, field) {
				out = append(out, field)
			}
		}
	}
	return out
}

// queueUnseenCorrection looks, under the task's lock, for a correction of one of the fields
// by another review that was made since the claim was, or was there then and was taken
// back or fell away with its review, as the task left the way to it. Its result is a
// Conflict, which undoes the transaction, when there is one: nobody approves what they were
// not shown. Whoever claims the review again is shown it, and the draft is there as it was.
func queueUnseenCorrection(b *pgx.Batch, c Claim, fields []string) {
	b.Queue(byIndexSQL)
	b.Queue(`SELECT s.node_key FROM submissions s,
			(SELECT max(e.seq) AS seq FROM task_events e WHERE e.task_id = $1 AND e.kind = 'claim' AND e.claim_id = $5) c
		WHERE s.task_id = $1 AND s.org_id = $2 AND s.node_key <> $3 AND s.verdict = 'approve' AND s.values ?| $4
			AND CASE WHEN s.undone_at IS NULL THEN s.seq > c.seq OR EXISTS (SELECT FROM task_nodes n WHERE n.task_id = $1
					AND n.key = s.node_key AND n.status = 'na' AND n.reason IN ('handed_in', 'handed_in_unseen') AND n.last_seq > c.seq)
				ELSE s.seq < c.seq AND EXISTS (SELECT FROM task_events u WHERE u.task_id = $1
					AND u.kind = 'undo' AND u.claim_id = s.claim_id AND u.seq > c.seq) END
		ORDER BY s.seq LIMIT 1`, c.TaskID, c.OrgID, c.Node, fields, c.ID).
		Query(func(rows pgx.Rows) error {
			reviews, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || len(reviews) == 0 {
				return err
			}
			return fault.New(fault.Conflict, "what you review on node %q of task %d was corrected on node %q, or a correction of it taken back, since you claimed it, and nothing was handed in: "+
				"release it and claim it again to look at it as it is now; your draft stays", c.Node, c.TaskID, reviews[0]).Because(errUnseenCorrection)
		})
}
