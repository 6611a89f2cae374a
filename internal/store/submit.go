package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Submitted says what a submission or a verdict became.
type Submitted struct {
	ClaimID string
	TaskID  int64
	Node    string
	// UndoUntil is until when it can be undone; nil when it cannot.
	UndoUntil *time.Time
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
	// files are those that people uploaded and the values name.
	files []uuid.UUID
	// bars says that there are reviews which its author may not do from now on.
	bars bool
	// draft is the revision of the draft that its author saw last; nil when they do
	// not say.
	draft *int64
	// approves are the fields that it approves and another review may have corrected
	// since the claim was made.
	approves []string
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
	return s.SubmitSeen(ctx, userID, claimID, values, nil)
}

// SubmitSeen is Submit for somebody who says which revision of their draft they saw
// last, 0 for none: Conflict, and nothing is changed, when another one is stored.
func (s *Store) SubmitSeen(ctx context.Context, userID int64, claimID string, values form.Values, draft *int64) (Submitted, error) {
	c, err := s.LiveClaim(ctx, userID, claimID)
	if err != nil {
		return s.repeated(ctx, userID, claimID, Verdict{Values: values, DraftRevision: draft}, err)
	}
	if c.Kind != pipeline.KindSubtask {
		return Submitted{}, fault.New(fault.Validation, "node %q is a review; send a verdict instead", c.Node)
	}
	out, err := s.handIn(ctx, c, func(q querier, p *pipeline.Pipeline, known answered) (handIn, error) {
		h, err := submits(p, c.Node, values, known.values)
		if err != nil {
			return handIn{}, err
		}
		h.draft = draft
		h.files, err = checkFiles(ctx, q, c, p.Form(c.Node).Fields(), h.values)
		return h, err
	})
	if err != nil {
		return s.repeated(ctx, userID, claimID, Verdict{Values: values, DraftRevision: draft}, err)
	}
	return out, nil
}

// submits checks what is handed in for a subtask beside what is known, and turns it into
// the journal's words.
func submits(p *pipeline.Pipeline, node string, values, known form.Values) (handIn, error) {
	kept, problems := p.Form(node).CheckSubmission(values, known)
	if err := problemsOf(problems); err != nil {
		return handIn{}, err
	}
	replace(known, p.Form(node), kept)
	b := form.NewBudget()
	h := handIn{values: kept, to: task.NodeSubmitted, bars: hasFourEyes(p), event: pipeline.Event{
		Kind: pipeline.EventSubmit, Skipped: p.Skipped(node, known, b),
	}}
	if err := problemsOf(b.Problems()); err != nil {
		return handIn{}, err
	}
	var err error
	h.sent, err = sent(Verdict{Values: values})
	return h, err
}

// judgement checks what somebody hands in by what is known of the task.
type judgement func(q querier, p *pipeline.Pipeline, known answered) (handIn, error)

// handIn writes a submission, its journal row and the node in one
// transaction, if the claim still holds under the task's lock.
//
// It is judged before, for that takes time, which others would wait for. Where something
// happened to the task since, such as another review's verdict, it is judged anew under the
// lock: of two that come at once, the later one knows of the earlier.
func (s *Store) handIn(ctx context.Context, c Claim, judge judgement) (Submitted, error) {
	p, known, err := s.claimAnswers(ctx, c)
	if err != nil {
		return Submitted{}, translate(err)
	}
	judged, err := judge(s.pool, p, known)
	if err != nil {
		return Submitted{}, err
	}
	var out Submitted
	var at time.Time
	err = s.whileHeld(ctx, c, func(tx pgx.Tx, t *lockedTask, c Claim) error {
		h := judged
		if !known.still(t) {
			now, err := taskAnswers(ctx, tx, p, c)
			if err != nil {
				return err
			}
			if h, err = judge(tx, p, now); err != nil {
				return err
			}
		}
		h.event.Node, h.event.Iteration, h.event.Actor, h.event.Claim = c.Node, c.Iteration, c.UserID, c.ID
		b := &pgx.Batch{}
		if len(h.approves) > 0 {
			queueUnseenCorrection(b, c, h.approves)
		}
		seq := t.queueEvent(b, h.event, true)
		if err := h.queueSubmission(b, c, seq, &at); err != nil {
			return err
		}
		queueKeptFiles(b, c, h.files)
		t.queueHandedIn(b, h, seq)
		if h.bars {
			t.queueBarred(b, c.UserID)
		}
		queueNoDraft(b, c, h.draft) // after the node's update: see there
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		out = Submitted{ClaimID: c.ID, TaskID: c.TaskID, Node: c.Node, Seq: seq}
		if h.to != task.NodeEscalated {
			return nil
		}
		return t.refresh(ctx, tx)
	})
	if err != nil {
		return Submitted{}, err
	}
	return s.withUndo(ctx, c, out, at), nil
}

// queueHandedIn moves the node of the locked task that was handed in, and notes by
// whom: leaveNode and this in one update, since each writes all indexes anew.
func (t *lockedTask) queueHandedIn(b *pgx.Batch, h handIn, seq int64) {
	b.Queue(`UPDATE task_nodes SET status = $3, claim_id = NULL, claimed_by = NULL, lease_expires_at = NULL,
			reserved_for = NULL, reserved_until = NULL, last_seq = $4, reason = $5, actor = $6, skipped = $7
		WHERE task_id = $1 AND key = $2`, t.ID, h.event.Node, h.to, seq, h.reason, h.event.Actor, h.event.Skipped)
}

// queueBarred gives four-eyes reviews of the locked task that were kept for who hands in
// a subtask back to the queue: they could not claim them, and nobody else could.
func (t *lockedTask) queueBarred(b *pgx.Batch, author int64) {
	b.Queue(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL
		WHERE task_id = $1 AND four_eyes AND kind = 'review' AND reserved_for = $2`, t.ID, author)
}

// hasFourEyes reports whether a review of the pipeline is not for who did a subtask.
func hasFourEyes(p *pipeline.Pipeline) bool {
	return slices.ContainsFunc(p.Definition.Nodes, func(n pipeline.Node) bool { return n.Kind == pipeline.KindReview && n.FourEyes })
}

// withUndo adds to a receipt until when it can be undone. A receipt that
// cannot tell is a receipt all the same.
func (s *Store) withUndo(ctx context.Context, c Claim, done Submitted, at time.Time) Submitted {
	if until, err := s.undoUntil(ctx, c, done.Seq, at); err == nil {
		done.UndoUntil = until
	}
	return done
}

// queueSubmission writes the submission and sets at to its time.
func (h handIn) queueSubmission(b *pgx.Batch, c Claim, seq int64, at *time.Time) error {
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
	b.Queue(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, verdict, values, comments, seq, request)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING created_at`,
		c.ID, c.OrgID, c.TaskID, c.Node, c.Iteration, c.UserID, h.verdict, h.values, comments, seq, h.sent).
		QueryRow(func(row pgx.Row) error { return row.Scan(at) })
	return nil
}

// handedInBefore answers a repeat from somebody who may not know of the claim any more:
// who has left the project is still told what became of their work, and of nothing else.
func (s *Store) handedInBefore(ctx context.Context, userID int64, claimID string, v Verdict, why error) (Submitted, error) {
	if _, ok := taskOfClaim(claimID); !ok {
		return Submitted{}, why
	}
	out := Submitted{ClaimID: claimID, Repeated: true}
	var first []byte
	err := s.pool.QueryRow(ctx, `SELECT task_id, node_key, seq, request FROM submissions WHERE claim_id = $1 AND author = $2 AND undone_at IS NULL`,
		claimID, userID).Scan(&out.TaskID, &out.Node, &out.Seq, &first)
	if errors.Is(err, pgx.ErrNoRows) {
		return Submitted{}, why
	}
	if err != nil {
		return Submitted{}, translate(err)
	}
	again, err := sent(v)
	if err != nil {
		return Submitted{}, err
	}
	if !bytes.Equal(first, again) {
		return Submitted{}, why
	}
	return out, nil
}

// repeated answers a hand-in whose claim is over: with the first answer when
// it was this very claim that handed in, else with why, or with what became of what
// was written: it is in the draft, where it can be.
func (s *Store) repeated(ctx context.Context, userID int64, claimID string, v Verdict, why error) (Submitted, error) {
	if fault.Is(why, fault.NotFound) {
		return s.handedInBefore(ctx, userID, claimID, v, why)
	}
	if !fault.Is(why, fault.Conflict) || errors.Is(why, errUnseenDraft) || errors.Is(why, errUnseenCorrection) || errors.Is(why, pipeline.ErrUnknown) {
		return Submitted{}, why
	}
	taskID, _ := taskOfClaim(claimID)
	out := Submitted{ClaimID: claimID}
	var first []byte
	var at time.Time
	var undone, late bool
	err := s.pool.QueryRow(ctx, `SELECT task_id, node_key, seq, request, created_at, undone_at IS NOT NULL, now() > created_at + $3::interval
		FROM submissions WHERE claim_id = $1 AND author = $2`,
		claimID, userID, UndoWindow).Scan(&out.TaskID, &out.Node, &out.Seq, &first, &at, &undone, &late)
	if err == nil && undone {
		return Submitted{}, fault.New(fault.Conflict,
			"what was handed in under this claim on node %q of task %d was undone; hand it in under the claim that undoing gave you, for "+notKept, out.Node, out.TaskID)
	}
	if err == nil {
		again, err := sent(v)
		if err != nil {
			return Submitted{}, err
		}
		if !bytes.Equal(first, again) {
			return Submitted{}, fault.New(fault.Conflict,
				"node %q of task %d was handed in under this claim already, with other content; that stands, and "+notKept, out.Node, out.TaskID)
		}
		out.Repeated = true
		c, err := pastClaim(ctx, s.pool, userID, taskID, claimID)
		if err != nil || late {
			return out, translate(err)
		}
		return s.withUndo(ctx, c, out, at), nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return Submitted{}, translate(err)
	}
	c, err := pastClaim(ctx, s.pool, userID, taskID, claimID)
	if err != nil {
		return Submitted{}, translate(err)
	}
	if len(v.Values) == 0 && len(v.Comments) == 0 {
		return Submitted{}, why
	}
	return Submitted{}, s.keepSafe(ctx, c, v)
}

// notKept ends every refusal after which what was sent is with its sender only.
const notKept = "what you sent now is not kept: copy it from here if you need it"

// keepSafe keeps the values of a submission that was refused as a draft, and is the
// refusal that says what became of them, and of comments, for which drafts have no place.
func (s *Store) keepSafe(ctx context.Context, c Claim, v Verdict) error {
	p, err := s.Version(ctx, c.VersionID)
	if err != nil {
		return translate(err)
	}
	problems := draftForm(p, c).CheckLate(v.Values)
	if len(v.Values) == 0 {
		problems = []form.Problem{{Message: "comments are no part of a draft"}}
	}
	if len(problems) > 0 {
		return fault.New(fault.Conflict, "your claim on node %q of task %d is over, and "+notKept+" (%s)", c.Node, c.TaskID, problems[0].Message)
	}
	switch kept, err := s.keepDraft(ctx, p, c, v.Values, v.DraftRevision); {
	case err != nil:
		return err
	case kept && len(v.Comments) > 0:
		return fault.New(fault.Conflict, "your claim on node %q of task %d is over; the values that you sent are kept as your draft, but your comments are not: "+
			"copy them from here, and claim the node again to go on", c.Node, c.TaskID)
	case kept:
		return fault.New(fault.Conflict,
			"your claim on node %q of task %d is over; what you wrote is kept as your draft, claim the node again to go on", c.Node, c.TaskID)
	}
	return fault.New(fault.Conflict, "this claim on node %q of task %d is over, and work went on since: what was saved or handed in then "+
		"stays as it is, and "+notKept, c.Node, c.TaskID)
}
