package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
)

// replaceDraftSQL lets what is inserted take the place of draft d.
const replaceDraftSQL = `DO UPDATE SET values = excluded.values, revision = d.revision + 1, updated_at = now(),
			after_seq = excluded.after_seq, after_revision = d.revision + 1`

// draftAfterSQL is the event after which draft d was saved: what is in order by it stays
// so when the database's clock steps back. NULL of one that a binary saved which does not
// say it; that is judged by the time.
const draftAfterSQL = `CASE WHEN d.after_revision = d.revision THEN d.after_seq END`

// SaveDraft stores unfinished work under a live claim and returns its new
// revision. revision is the last one that the caller saw, 0 for none; Conflict
// when somebody (another tab) saved since, or when the claim is over.
func (s *Store) SaveDraft(ctx context.Context, userID int64, claimID string, values form.Values, revision int64) (int64, error) {
	c, err := s.LiveClaim(ctx, userID, claimID)
	if err != nil {
		return 0, err
	}
	p, err := s.Version(ctx, c.VersionID)
	if err != nil {
		return 0, translate(err)
	}
	if err := problemsOf(draftForm(p, c).CheckDraft(values)); err != nil {
		return 0, err
	}
	if planted.Enabled && planted.Is(planted.DraftUnguarded) {
		return s.saveUnguarded(ctx, c, values, revision)
	}
	var next int64
	err = s.pool.QueryRow(ctx, `INSERT INTO drafts AS d (task_id, node_key, user_id, org_id, values, revision, after_seq, after_revision)
		SELECT n.task_id, n.key, n.claimed_by, n.org_id, $4, 1, n.last_seq, 1 FROM task_nodes n
		WHERE n.task_id = $1 AND n.claimed_by = $2 AND n.claim_id = $3
			AND ($5 = 0 OR EXISTS (SELECT 1 FROM drafts o WHERE o.task_id = n.task_id AND o.node_key = n.key AND o.user_id = $2))
		FOR SHARE OF n
		ON CONFLICT (task_id, node_key, user_id) `+replaceDraftSQL+` WHERE d.revision = $5
		RETURNING revision`, c.TaskID, userID, claimID, values, revision).Scan(&next)
	if !errors.Is(err, pgx.ErrNoRows) {
		return next, translate(err)
	}
	if _, err := s.LiveClaim(ctx, userID, claimID); err != nil {
		return 0, err
	}
	d, err := s.draft(ctx, c)
	if err != nil {
		return 0, translate(err)
	}
	have := int64(0)
	if d != nil {
		have = d.Revision
	}
	return 0, fault.New(fault.Conflict,
		"the draft is at revision %d, not %d: it was saved elsewhere; load it, then save again", have, revision)
}

// draftForm is the form whose fields a draft may hold: the subtask's own, or
// for a review those that it may fix.
func draftForm(p *pipeline.Pipeline, c Claim) *form.Form {
	if f := p.Form(c.Node); f != nil {
		return f
	}
	node, _ := p.Node(c.Node)
	var fields []form.Field
	for _, t := range node.Reviews {
		fields = append(fields, p.Form(t.Node).Fields()...)
	}
	return form.New(fields)
}

// keepDraft saves what came with a refused submission, so that nothing that a
// person wrote is lost, as the newest revision. It says whether it did: not when they
// claimed the node again since and have saved something else or handed in then, whether
// they hold it still or not, for drafts outlive claims; nor corrections of what was
// handed in anew since, which they are not about; nor over a draft of another revision
// than they saw, where they say so.
func (s *Store) keepDraft(ctx context.Context, p *pipeline.Pipeline, c Claim, values form.Values, seen *int64) (bool, error) {
	node, _ := p.Node(c.Node)
	under := []string{}
	for _, t := range node.Reviews {
		under = append(under, t.Node)
	}
	kept := false
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		// Before it looks at what was handed in since, for another hand-in may be under way.
		if _, err := lockTask(ctx, tx, c.OrgID, c.PipelineID, c.TaskID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `WITH claimed AS (
			SELECT max(seq) AS seq FROM task_events WHERE task_id = $1 AND kind = 'claim' AND claim_id = $6
		)
		INSERT INTO drafts AS d (task_id, node_key, user_id, org_id, values, revision, after_seq, after_revision)
		SELECT $1, $2, $3, $4, $5, 1, t.seq, 1 FROM claimed JOIN tasks t ON t.id = $1 WHERE NOT EXISTS (SELECT 1 FROM submissions s
			WHERE s.task_id = $1 AND s.org_id = $4 AND s.seq > claimed.seq AND (s.node_key = $2 AND s.author = $3 OR s.node_key = ANY ($7)))
		ON CONFLICT (task_id, node_key, user_id) `+replaceDraftSQL+`
			WHERE d.values = excluded.values OR coalesce($8, d.revision) = d.revision AND NOT EXISTS (SELECT 1 FROM task_events e
				WHERE e.task_id = $1 AND e.node_key = $2 AND e.actor = $3 AND e.kind = 'claim'
					AND coalesce(e.seq <= `+draftAfterSQL+`, e.created_at <= d.updated_at)
					AND e.seq > (SELECT seq FROM claimed))`,
			c.TaskID, c.Node, c.UserID, c.OrgID, values, c.ID, under, seen)
		kept = tag.RowsAffected() == 1
		return err
	})
	return kept, err
}

// errUnseenDraft is why a hand-in is refused whose author has not seen the draft that
// it would take away.
var errUnseenDraft = errors.New("a newer draft than the sender saw")

// queueNoDraft drops what the holder of a claim wrote so far. Its result is a Conflict,
// which undoes the transaction, when that is another revision than the one seen; nil sees
// any. It goes after the update of the node: SaveDraft shares a lock on that row, so what
// it saved before is here to be looked at, and nothing is saved after.
func queueNoDraft(b *pgx.Batch, c Claim, seen *int64) {
	b.Queue(`DELETE FROM drafts WHERE task_id = $1 AND node_key = $2 AND user_id = $3 RETURNING revision`, c.TaskID, c.Node, c.UserID).
		Query(func(rows pgx.Rows) error {
			revisions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil || seen == nil || len(revisions) == 0 || revisions[0] == *seen {
				return err
			}
			return fault.New(fault.Conflict, "your draft of node %q of task %d is at revision %d, not %d: it was saved elsewhere since, and nothing was "+
				"handed in; load it, choose what is to count, then hand in with its revision", c.Node, c.TaskID, revisions[0], *seen).Because(errUnseenDraft)
		})
}
