package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Submitted says what a submission or a verdict became.
type Submitted struct {
	TaskID int64
	Node   string
	// Seq is its journal row.
	Seq int64
	// Repeated says that this claim had handed in before.
	Repeated bool
}

// handIn is a submission or a verdict on its way into the database.
type handIn struct {
	values   form.Values
	verdict  string
	comments []Comment
	event    pipeline.Event
	to       task.NodeStatus
	reason   string
	sent     []byte
}

// sent is the hash of what a person handed in, as they sent it: the same again
// is a repeat, anything else under the same claim is refused.
func sent(v Verdict) ([]byte, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.Validation, "the values are no JSON")
	}
	sum := sha256.Sum256(doc)
	return sum[:], nil
}

// Submit hands in a subtask's form. Validation lists every field that needs
// another answer; Conflict means that the claim is over, and the values are
// kept as the person's draft. Submitting again under the same claim gives the
// first answer again.
func (s *Store) Submit(ctx context.Context, userID int64, claimID string, values form.Values) (Submitted, error) {
	c, err := s.LiveClaim(ctx, userID, claimID)
	if err != nil {
		return s.repeated(ctx, userID, claimID, Verdict{Values: values}, err)
	}
	if c.Kind != pipeline.KindSubtask {
		return Submitted{}, fault.New(fault.Validation, "node %q is a review; send a verdict instead", c.Node)
	}
	p, known, _, err := s.claimAnswers(ctx, c)
	if err != nil {
		return Submitted{}, translate(err)
	}
	kept, problems := p.Form(c.Node).CheckSubmission(values, known)
	if err := problemsOf(problems); err != nil {
		return Submitted{}, err
	}
	maps.Copy(known, kept)
	h := handIn{values: kept, to: task.NodeSubmitted, event: pipeline.Event{
		Kind: pipeline.EventSubmit, Skipped: p.Skipped(c.Node, known),
	}}
	if h.sent, err = sent(Verdict{Values: values}); err != nil {
		return Submitted{}, err
	}
	out, err := s.handIn(ctx, c, h)
	if err != nil {
		return s.repeated(ctx, userID, claimID, Verdict{Values: values}, err)
	}
	return out, nil
}

// handIn writes a submission, its journal row and the node in one
// transaction, if the claim still holds under the task's lock.
func (s *Store) handIn(ctx context.Context, c Claim, h handIn) (Submitted, error) {
	var out Submitted
	err := s.withClaim(ctx, c.UserID, c.ID, func(tx pgx.Tx, t *lockedTask, c Claim) error {
		h.event.Node, h.event.Iteration, h.event.Actor, h.event.Claim = c.Node, c.Iteration, c.UserID, c.ID
		seq, err := t.journal(ctx, tx, h.event, true)
		if err != nil {
			return err
		}
		if err := h.insert(ctx, tx, c, seq); err != nil {
			return err
		}
		if err := t.leaveNode(ctx, tx, c.Node, h.to, seq, h.reason); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE task_nodes SET actor = $3, skipped = $4 WHERE task_id = $1 AND key = $2`,
			c.TaskID, c.Node, c.UserID, h.event.Skipped)
		if err != nil {
			return err
		}
		out = Submitted{TaskID: c.TaskID, Node: c.Node, Seq: seq}
		if h.to == task.NodeEscalated {
			if err := t.refresh(ctx, tx); err != nil {
				return err
			}
		}
		return dropDraft(ctx, tx, c)
	})
	return out, err
}

func (h handIn) insert(ctx context.Context, tx pgx.Tx, c Claim, seq int64) error {
	if h.comments == nil {
		h.comments = []Comment{}
	}
	if h.values == nil {
		h.values = form.Values{}
	}
	comments, err := json.Marshal(h.comments)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, verdict, values, comments, seq, request)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		c.ID, c.OrgID, c.TaskID, c.Node, c.Iteration, c.UserID, h.verdict, h.values, comments, seq, h.sent)
	return err
}

// repeated answers a hand-in whose claim is over: with the first answer when
// it was this very claim that handed in, else with why, after the values are
// safe in the draft.
func (s *Store) repeated(ctx context.Context, userID int64, claimID string, v Verdict, why error) (Submitted, error) {
	if !fault.Is(why, fault.Conflict) {
		return Submitted{}, why
	}
	taskID, _ := taskOfClaim(claimID)
	var out Submitted
	var first []byte
	err := s.pool.QueryRow(ctx, `SELECT task_id, node_key, seq, request FROM submissions WHERE claim_id = $1 AND author = $2`,
		claimID, userID).Scan(&out.TaskID, &out.Node, &out.Seq, &first)
	if err == nil {
		again, err := sent(v)
		if err != nil {
			return Submitted{}, err
		}
		if !bytes.Equal(first, again) {
			return Submitted{}, fault.New(fault.Conflict,
				"node %q of task %d was handed in under this claim already, with other content; that stands", out.Node, out.TaskID)
		}
		out.Repeated = true
		return out, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return Submitted{}, translate(err)
	}
	c, err := pastClaim(ctx, s.pool, userID, taskID, claimID)
	if err != nil {
		return Submitted{}, translate(err)
	}
	if len(v.Values) == 0 {
		return Submitted{}, why
	}
	kept, err := s.keepSafe(ctx, c, v.Values)
	if err != nil {
		return Submitted{}, err
	}
	if !kept {
		return Submitted{}, why
	}
	return Submitted{}, fault.New(fault.Conflict,
		"your claim on node %q of task %d is over; what you wrote is kept as your draft, claim the node again to go on", c.Node, c.TaskID)
}

// keepSafe keeps the values as a draft and reports whether they can be one at
// all.
func (s *Store) keepSafe(ctx context.Context, c Claim, values form.Values) (bool, error) {
	p, err := s.Version(ctx, c.VersionID)
	if err != nil || len(draftForm(p, c).CheckDraft(values)) > 0 {
		return false, err
	}
	return true, s.keepDraft(ctx, c, values)
}
