package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// UndoWindow is how long after handing in a person can take it back, by the
// database's clock.
const UndoWindow = 60 * time.Second

// Undone is a submission or a verdict that its author took back.
type Undone struct {
	ClaimID  string      `db:"claim_id"`
	Verdict  string      `db:"verdict"`
	Values   form.Values `db:"values"`
	Comments []Comment   `db:"comments"`
	At       time.Time   `db:"created_at"`
}

// Undo takes back what the person handed in under a claim, and gives them the
// node at once, in its next round, with what they had handed in as the draft.
// Conflict says why it is too late (docs/adr/0009). Undoing again returns the
// claim that the first time gave, while it holds.
//
// What follows from the undo is written here and not left to the task's run:
// nobody can be given a node that it closes.
func (s *Store) Undo(ctx context.Context, userID int64, claimID string) (Claim, error) {
	taskID, ok := taskOfClaim(claimID)
	if !ok {
		return Claim{}, claimNotFound(claimID)
	}
	past, err := pastClaim(ctx, s.pool, userID, taskID, claimID)
	if err != nil {
		return Claim{}, translate(err)
	}
	m, err := s.MemberOfPipeline(ctx, userID, past.PipelineID)
	if err != nil {
		return Claim{}, err
	}
	if !m.CanWork(past.Kind) {
		return Claim{}, fault.New(fault.Conflict, "your role in this project no longer lets you work on node %q", past.Node)
	}
	var out *Claim
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		// Before the task, as every change of roles locks them in this order.
		if err := holdStanding(ctx, tx, userID); err != nil {
			return err
		}
		t, err := lockTask(ctx, tx, past.OrgID, past.PipelineID, taskID)
		if err != nil {
			return err
		}
		was, err := t.handedIn(ctx, tx, userID, past)
		if err != nil {
			return err
		}
		if was.UndoneAt != nil {
			out, err = t.undoneAlready(ctx, tx, past)
			return err
		}
		if err := s.mayUndo(ctx, tx, t, past, was); err != nil {
			return err
		}
		if err := s.undo(ctx, tx, t, past, was); err != nil {
			return err
		}
		out, err = takeNamed(ctx, tx, m, past.Kind, taskNode{taskID, past.Node}, 0)
		if err == nil && out == nil {
			return fault.New(fault.Conflict, "node %q of task %d cannot be claimed now, because the pipeline is not ACTIVE, "+
				"the task is held, a step before it is open again, or your role is another one now; what you handed in stands", past.Node, taskID)
		}
		return err
	})
	if err != nil {
		return Claim{}, err
	}
	return *out, nil
}

// handedIn is a submission as an undo needs it.
type handedIn struct {
	Values   form.Values `db:"values"`
	Seq      int64       `db:"seq"`
	UndoneAt *time.Time  `db:"undone_at"`
	Late     bool        `db:"late"`
}

// handedIn reads, under the task's lock, what was handed in under a claim.
func (t *lockedTask) handedIn(ctx context.Context, tx pgx.Tx, userID int64, c Claim) (handedIn, error) {
	rows, _ := tx.Query(ctx, `SELECT values, seq, undone_at, clock_timestamp() > created_at + $4::interval AS late
		FROM submissions WHERE claim_id = $1 AND author = $2 AND org_id = $3`, c.ID, userID, t.OrgID, UndoWindow)
	h, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[handedIn])
	if errors.Is(err, pgx.ErrNoRows) {
		return h, fault.New(fault.Conflict, "nothing was handed in under this claim on node %q of task %d; there is nothing to undo", c.Node, t.ID)
	}
	return h, err
}

// undoneAlready returns the claim that undoing gave, while it holds.
func (t *lockedTask) undoneAlready(ctx context.Context, tx pgx.Tx, c Claim) (*Claim, error) {
	rows, _ := tx.Query(ctx, `SELECT `+claimColumns+` FROM task_nodes n JOIN tasks t ON t.id = n.task_id
		WHERE n.task_id = $1 AND n.key = $2 AND n.claimed_by = $3 AND n.iteration = $4`,
		t.ID, c.Node, c.UserID, c.Iteration+1)
	held, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Claim])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.New(fault.Conflict, "what you handed in for node %q of task %d was undone already", c.Node, t.ID)
	}
	return held, err
}

// mayUndo refuses what cannot be taken back any more.
func (s *Store) mayUndo(ctx context.Context, tx pgx.Tx, t *lockedTask, c Claim, was handedIn) error {
	if was.Late {
		return fault.New(fault.Conflict, "it was handed in more than %d seconds ago and can no longer be undone", int(UndoWindow.Seconds()))
	}
	p, err := s.versionIn(ctx, tx, t.VersionID)
	if err != nil {
		return err
	}
	block, by, err := checkUndo(ctx, tx, p, c, was.Seq)
	if err != nil {
		return err
	}
	switch block {
	case "":
		return nil
	case pipeline.UndoOver:
		return fault.New(fault.Conflict, "task %d has ended; nothing can be changed on it any more", t.ID)
	case pipeline.UndoFinal:
		return fault.New(fault.Conflict, "what you handed in for task %d is final: no review can send it back", t.ID)
	case pipeline.UndoFollowed:
		return fault.New(fault.Conflict, "node %q of task %d, which follows, was taken up since; it can no longer be undone", by, t.ID)
	case pipeline.UndoLed:
		return fault.New(fault.Conflict, "what you corrected has decided where task %d goes from node %q; it can no longer be undone", t.ID, by)
	case pipeline.UndoApproved:
		return fault.New(fault.Conflict, "what you corrected on task %d was approved on node %q since; it can no longer be undone", t.ID, by)
	case pipeline.UndoEscalated:
		return fault.New(fault.Conflict, "what you handed in for task %d was escalated, so it can no longer be undone", t.ID)
	case pipeline.UndoDecided:
	}
	return fault.New(fault.Conflict, "what you handed in for task %d was decided about since; it can no longer be undone", t.ID)
}

// checkUndo asks the journal whether what was handed in under a claim, with number seq, can
// be taken back, and of a review's corrections the answers, too: what was decided by them
// stays, and so does what others approved as it was corrected.
func checkUndo(ctx context.Context, q querier, p *pipeline.Pipeline, c Claim, seq int64) (pipeline.UndoBlock, string, error) {
	var corrects bool
	var j wholeJournal
	b := &pgx.Batch{}
	if p.Form(c.Node) == nil { // a review, which may have corrected something
		b.Queue(byIndexSQL)
		b.Queue(`SELECT EXISTS (SELECT FROM submissions s
			WHERE s.claim_id = $1 AND s.org_id = $2 AND s.verdict = 'approve' AND s.values <> '{}')`, c.ID, c.OrgID).
			QueryRow(func(row pgx.Row) error { return row.Scan(&corrects) })
	}
	j.queue(b, c)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return "", "", err
	}
	block, by, err := pipeline.CheckUndo(p.Graph, j.skipped, j.events, seq)
	if errors.Is(err, pipeline.ErrUnknown) {
		return "", "", newerEvent(c.TaskID, err)
	}
	if err != nil || block != "" || !corrects {
		return block, by, err
	}
	known, err := taskAnswers(ctx, q, p, c)
	if err != nil {
		return "", "", err
	}
	st, err := pipeline.Fold(p.Graph, j.skipped, j.events)
	if err != nil {
		return "", "", err
	}
	if by = known.ledBy(p, st, c.Node, seq); by != "" {
		return pipeline.UndoLed, by, nil
	}
	if by = known.approvedOn(p, st, c.Node, seq); by != "" {
		return pipeline.UndoApproved, by, nil
	}
	return "", "", nil
}

// undo writes the event and all that follows from it: the node is then open,
// kept for its author, and what it had opened is closed.
func (s *Store) undo(ctx context.Context, tx pgx.Tx, t *lockedTask, c Claim, was handedIn) error {
	seq, err := t.journal(ctx, tx, pipeline.Event{
		Kind: pipeline.EventUndo, Node: c.Node, Iteration: c.Iteration, Actor: c.UserID, Claim: c.ID,
	}, true)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`UPDATE submissions SET undone_at = now() WHERE claim_id = $1 AND org_id = $2`, c.ID, t.OrgID)
	if len(was.Values) > 0 {
		b.Queue(`INSERT INTO drafts AS d (task_id, node_key, user_id, org_id, values, revision, after_seq, after_revision)
			VALUES ($1, $2, $3, $4, $5, 1, $6, 1) ON CONFLICT (task_id, node_key, user_id) `+replaceDraftSQL,
			t.ID, c.Node, c.UserID, t.OrgID, was.Values, seq)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := s.catchUp(ctx, tx, t); err != nil {
		return err
	}
	return t.refresh(ctx, tx)
}

// undoUntil tells until when a submission can be undone, as things are; nil
// when it cannot. Where the node cannot wait for anything, nobody is asked.
func (s *Store) undoUntil(ctx context.Context, c Claim, seq int64, at time.Time) (*time.Time, error) {
	p, err := s.Version(ctx, c.VersionID)
	if err != nil || !p.Graph.MayWait(c.Node) {
		return nil, err
	}
	block, _, err := checkUndo(ctx, s.pool, p, c, seq)
	if errors.Is(err, pipeline.ErrUnknown) {
		return nil, nil //nolint:nilnil // nobody here knows whether it can be undone
	}
	if err != nil || block != "" {
		return nil, translate(err)
	}
	until := at.Add(UndoWindow)
	return &until, nil
}

// undoOf returns what a claim undoes: what its holder had handed in for the
// node in the round before, and taken back. Nil when there is no such thing.
func (s *Store) undoOf(ctx context.Context, c Claim) (*Undone, error) {
	rows, _ := s.pool.Query(ctx, `SELECT claim_id::text AS claim_id, verdict, values, comments, created_at FROM submissions
		WHERE task_id = $1 AND node_key = $2 AND iteration = $3 AND author = $4 AND org_id = $5 AND undone_at IS NOT NULL`,
		c.TaskID, c.Node, c.Iteration-1, c.UserID, c.OrgID)
	u, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Undone])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // most claims undo nothing
	}
	return u, err
}
