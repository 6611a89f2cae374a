package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/task"
)

// This file is the workflow's side of the store. It is not scoped by an
// organization: its callers are runs, and a run's id names its task.

// LoadedTask is all that a run needs to begin or to go on: the graph and the
// state as the rows tell it.
type LoadedTask struct {
	TaskID, OrgID, PipelineID int64
	Identity                  Identity
	PipelineName              string
	Graph                     pipeline.Graph
	// State.Seq is the last event whose consequences are in the rows; Seq the
	// last in the journal.
	State  pipeline.State
	Seq    int64
	Status task.Status
	// Last is the event at State.Seq, but for the first of all.
	Last pipeline.Event
	// Now is the database's clock, where there are deadlines.
	Now time.Time
}

// LoadTask rebuilds a task's state; NotFound when there is none.
//
// While events wait to be applied, the rows already show what their commands
// wrote, so the state is folded from the journal: a run that took the rows for
// it would see the effect of an event before its cause.
func (s *Store) LoadTask(ctx context.Context, taskID int64) (LoadedTask, error) {
	var l LoadedTask
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		t, err := lockAnyTask(ctx, tx, taskID)
		if err != nil {
			return err
		}
		p, err := s.versionIn(ctx, tx, t.VersionID)
		if err != nil {
			return err
		}
		l = LoadedTask{
			TaskID: t.ID, OrgID: t.OrgID, PipelineID: t.PipelineID, Identity: t.identity(),
			PipelineName: p.Definition.Name, Graph: p.Graph, Seq: t.Seq, Status: t.Status,
		}
		if l.State, err = t.state(ctx, tx, p.Graph); err != nil {
			return err
		}
		if slices.ContainsFunc(l.State.Nodes, func(n pipeline.NodeState) bool { return !n.LeaseEnds.IsZero() || !n.SLAEnds.IsZero() }) {
			l.Now = t.readAt
		}
		if l.State.Seq <= 1 {
			return nil
		}
		last, err := journalBetween(ctx, tx, t.ID, l.State.Seq-1, l.State.Seq)
		if len(last) == 1 {
			l.Last = last[0]
		}
		return err
	})
	return l, err
}

// state returns where the locked task stood after the last applied event.
func (t *lockedTask) state(ctx context.Context, tx pgx.Tx, g pipeline.Graph) (pipeline.State, error) {
	st := pipeline.State{Seq: t.AppliedSeq, Failed: t.Status == task.Failed, Held: t.Held, Touched: t.Touched}
	if err := tx.QueryRow(ctx, `SELECT start_skipped, clock_timestamp() FROM tasks WHERE id = $1`, t.ID).Scan(&st.StartSkipped, &t.readAt); err != nil {
		return st, err
	}
	rows, err := loadNodes(ctx, tx, t.ID, g)
	if err != nil {
		return st, err
	}
	if t.AppliedSeq < t.Seq {
		events, err := journalBetween(ctx, tx, t.ID, 0, t.AppliedSeq)
		if err != nil {
			return st, err
		}
		if st, err = pipeline.Fold(g, st.StartSkipped, events); err != nil {
			return st, fmt.Errorf("fold the journal of task %d: %w", t.ID, err)
		}
		return t.ahead(st, rows), nil
	}
	for _, row := range rows {
		st.Nodes = append(st.Nodes, row.NodeState)
	}
	return st, nil
}

// ahead puts the locked task's rows into the state after the last applied event,
// save those that a command has written since. A row that none has is where that
// event left it, also where another release would have put it elsewhere.
func (t *lockedTask) ahead(st pipeline.State, rows []storedNode) pipeline.State {
	for i, row := range rows {
		switch n := &st.Nodes[i]; {
		case row.seq <= t.AppliedSeq:
			*n = row.NodeState
		case n.Status == row.Status:
			n.LeaseEnds, n.SLAEnds = row.LeaseEnds, row.SLAEnds
		}
	}
	return st
}

// catchUp applies every event of the locked task that waits, as its run would. Conflict,
// and nothing is changed, where an event is of a newer release.
func (s *Store) catchUp(ctx context.Context, tx pgx.Tx, t *lockedTask) error {
	p, err := s.versionIn(ctx, tx, t.VersionID)
	if err != nil {
		return err
	}
	st, err := t.state(ctx, tx, p.Graph)
	switch {
	case errors.Is(err, pipeline.ErrUnknown):
		return t.newer(err)
	case err != nil:
		return err
	}
	events, err := journalBetween(ctx, tx, t.ID, t.AppliedSeq, t.Seq)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(events, func(e pipeline.Event) bool { return !e.Kind.Known() }); at >= 0 {
		return t.newer(pipeline.Unknown(events[at]))
	}
	for _, e := range events {
		var changes []pipeline.Change
		st, changes = pipeline.Step(p.Graph, st, e)
		if err := s.writeChanges(ctx, tx, t, changes); err != nil {
			return err
		}
	}
	t.AppliedSeq = t.Seq
	return nil
}

// newer is the Conflict of whoever needs to know what follows from a newer release's event.
func (t *lockedTask) newer(why error) error { return newerEvent(t.ID, why) }

func newerEvent(taskID int64, why error) error {
	return fault.New(fault.Conflict,
		"task %d waits for a newer version of this service, which did something to it that this one does not know", taskID).Because(why)
}

// wholeJournal is all that pipeline.Fold needs of a task, also of what waits to be applied.
type wholeJournal struct {
	skipped []string // next nodes that its input ruled out
	events  []pipeline.Event
}

// queue reads the journal of the claim's task when the batch is sent.
func (j *wholeJournal) queue(b *pgx.Batch, c Claim) {
	b.Queue(`SELECT start_skipped FROM tasks WHERE id = $1 AND org_id = $2`, c.TaskID, c.OrgID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&j.skipped) })
	b.Queue(`SELECT `+eventColumns+` FROM task_events e WHERE e.task_id = $1 ORDER BY e.seq`, c.TaskID).
		Query(func(rows pgx.Rows) (err error) {
			j.events, err = pgx.CollectRows(rows, scanEvent)
			return err
		})
}

// journalBetween reads the events after seq from, up to and with seq to.
func journalBetween(ctx context.Context, q querier, taskID, from, to int64) ([]pipeline.Event, error) {
	rows, _ := q.Query(ctx, `SELECT `+eventColumns+` FROM task_events e
		WHERE e.task_id = $1 AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq`, taskID, from, to)
	return pgx.CollectRows(rows, scanEvent)
}

func scanEvent(row pgx.CollectableRow) (pipeline.Event, error) {
	var e pipeline.Event
	var lease *time.Time
	err := row.Scan(eventFields(&e, &lease)...)
	e.LeaseEnds = orZero(lease)
	return e, err
}

// lockAnyTask locks a task by its id alone.
func lockAnyTask(ctx context.Context, tx pgx.Tx, taskID int64) (*lockedTask, error) {
	return lockOne(ctx, tx, taskID, lockTaskSQL+` WHERE id = $1 FOR UPDATE`, taskID)
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

const eventColumns = `e.seq, e.kind, e.node_key, e.iteration, coalesce(e.actor, 0), coalesce(e.claim_id::text, ''), e.lease_ends,
	e.outcome, e.skipped, e.returned, e.reason`

func eventFields(e *pipeline.Event, lease **time.Time) []any {
	return []any{
		&e.Seq, &e.Kind, &e.Node, &e.Iteration, &e.Actor, &e.Claim, lease,
		&e.Outcome, &e.Skipped, &e.Returned, &e.Reason,
	}
}

// LoadEvents reads the journal behind seq after, in order, at most limit rows.
func (s *Store) LoadEvents(ctx context.Context, taskID, after int64, limit int) ([]pipeline.Event, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+eventColumns+` FROM task_events e
		WHERE e.task_id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3`, taskID, after, limit)
	events, err := pgx.CollectRows(rows, scanEvent)
	return events, translate(err)
}

// StepInput is what a run decided about the events From+1 to To.
type StepInput struct {
	TaskID  int64             `json:"task_id"`
	From    int64             `json:"from"`
	To      int64             `json:"to"`
	Changes []pipeline.Change `json:"changes,omitempty"`
	// Events are those that the run took the changes from, as it was told of
	// them. None: a run of an older release, whose word is taken.
	Events []pipeline.Event `json:"events,omitempty"`
	// Last is the event at From, as the run knows it; without a number where it does not.
	Last pipeline.Event `json:"last,omitzero"`
	// Identity is the task that the run was told of. None: the run began under
	// an older release, and the number is taken for the task.
	Identity Identity `json:"identity,omitzero"`
}

// StepResult is where the rows stand after a step.
type StepResult struct {
	// Applied is false when the rows are not at From: load the task again.
	Applied bool `json:"applied"`
	// Diverged is set when the rows are at From and they are another task's, or the
	// journal holds other events there or behind it, or none: the database came back from
	// a backup that is older than what the run knows. Everything that the run knows is void.
	Diverged   bool        `json:"diverged,omitempty"`
	AppliedSeq int64       `json:"applied_seq"`
	Seq        int64       `json:"seq"`
	Status     task.Status `json:"status"`
	Deadlines  []Deadline  `json:"deadlines,omitempty"`
	// Now is the database's clock, where there are deadlines: others may have
	// another time.
	Now time.Time `json:"now,omitzero"`
	// Waited is how long the step was waited for, by the database's clock; 0 where it
	// follows from nothing that was handed in. No run needs to know.
	Waited time.Duration `json:"-"`
}

// Deadline is when a node's lease or time limit ends, by the database's clock.
type Deadline struct {
	Node      string    `json:"node"`
	LeaseEnds time.Time `json:"lease_ends,omitzero"`
	SLAEnds   time.Time `json:"sla_ends,omitzero"`
}

// ApplyStep writes the consequences of a run's step. It is fenced: rows whose
// applied_seq is not From stay as they are, so a step that runs twice, late or
// beside another run has one effect. The task must be the one that the run knows, and
// the events those of the journal, also the last before them: after a restore the same
// numbers stand for others, which a command may have applied by itself. A node that a
// later command wrote keeps what that command wrote.
func (s *Store) ApplyStep(ctx context.Context, in StepInput) (StepResult, error) {
	var out StepResult
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		t, err := lockAnyTask(ctx, tx, in.TaskID)
		if err != nil {
			return err
		}
		applied := t.AppliedSeq == in.From || planted.Enabled && planted.Is(planted.StepUnfenced)
		diverged := false
		if applied {
			if diverged, err = t.diverged(ctx, tx, in); err != nil {
				return err
			}
			applied = !diverged
		}
		if applied {
			if err := s.writeChanges(ctx, tx, t, in.Changes); err != nil {
				return err
			}
			t.AppliedSeq = in.To
			if err := t.refresh(ctx, tx); err != nil {
				return err
			}
		}
		out, err = t.result(ctx, tx)
		out.Applied, out.Diverged = applied, diverged
		return err
	})
	return out, err
}

// diverged reports whether the locked task, whose rows are at in.From, is another one
// than the run knows, or its journal holds other events than the step applies, or follows.
// Where it does not, it notes when what the step applies was handed in.
func (t *lockedTask) diverged(ctx context.Context, tx pgx.Tx, in StepInput) (bool, error) {
	switch {
	case in.Identity != (Identity{}) && !in.Identity.is(t.identity()):
		return true, nil
	case len(in.Events) == 0 && in.To > t.Seq:
		return false, fmt.Errorf("task %d: step to %d is ahead of the journal at %d", in.TaskID, in.To, t.Seq)
	case len(in.Events) == 0:
		return false, nil
	case in.To > t.Seq:
		return true, nil
	}
	after, events := in.From, in.Events
	if in.Last.Seq == in.From && in.From > 0 {
		after, events = in.From-1, append([]pipeline.Event{in.Last}, events...)
	}
	journal, err := journaledBetween(ctx, tx, t.ID, after, in.To)
	if err != nil {
		return false, err
	}
	if !slices.EqualFunc(journal, events, journaled.same) {
		return true, nil
	}
	t.handedInAt = firstHandedIn(journal, in.From)
	return false, nil
}

// sameEvent compares what steps follow from: not the words of a person, which
// runs never see, and not the end of a lease, which its holder moves.
func sameEvent(a, b pipeline.Event) bool {
	return a.Seq == b.Seq && a.Kind == b.Kind && a.Node == b.Node && a.Iteration == b.Iteration && a.Actor == b.Actor &&
		a.Claim == b.Claim && a.Outcome == b.Outcome && slices.Equal(a.Skipped, b.Skipped) && slices.Equal(a.Returned, b.Returned)
}

// writeChanges writes what a step decided. The step knows nobody's role, nor who may not
// review what they did: a node that it keeps for somebody is kept only if they may still
// work on it, or nobody could claim it for as long as it is kept.
//
// What is finished stays so: a run that another release led for a while may know of a
// node as waiting that the other one finished.
func (s *Store) writeChanges(ctx context.Context, tx pgx.Tx, t *lockedTask, changes []pipeline.Change) error {
	p, err := s.versionIn(ctx, tx, t.VersionID)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	for _, c := range changes {
		n := c.Node
		def, _ := p.Node(n.Key)
		if n.ReservedFor != 0 {
			b.Queue(holdStandingSQL, n.ReservedFor)
		}
		b.Queue(`UPDATE task_nodes n SET status = $3, iteration = $4, passed = $5, reworks = $6, reason = $7, skipped = $8,
				claim_id = NULL, claimed_by = NULL, lease_expires_at = NULL, last_seq = $9,
				(reserved_for, reserved_until) = (SELECT $10::bigint, now() + $11::interval FROM pipelines p
					WHERE $10::bigint IS NOT NULL AND p.id = n.pipeline_id AND p.org_id = n.org_id
						AND `+mayWorkSQL("n.org_id", "$10", "n.kind")+` AND `+notOfSQL+`$10) = 0)),
				opened_at = CASE WHEN $3 = 'available' AND status NOT IN ('available', 'claimed') THEN now() ELSE opened_at END,
				sla_at = CASE WHEN $3 = 'available' AND $12::interval > interval '0' THEN now() + $12::interval END
			WHERE task_id = $1 AND key = $2 AND last_seq <= $9 AND (status <> 'finished' OR $3 = 'finished')`,
			t.ID, n.Key, n.Status, n.Iteration, n.Passed, n.Reworks, n.Reason, n.Skipped, c.Seq,
			nullID(n.ReservedFor), def.ReserveFor(), time.Duration(def.SLA))
	}
	return tx.SendBatch(ctx, b).Close()
}

// result reads where the locked task's rows stand.
func (t *lockedTask) result(ctx context.Context, tx pgx.Tx) (StepResult, error) {
	var now time.Time
	rows, _ := tx.Query(ctx, `SELECT key, lease_expires_at, CASE WHEN status IN ('available', 'claimed') THEN sla_at END, clock_timestamp()
		FROM task_nodes WHERE task_id = $1 AND status IN ('available', 'claimed')
			AND (lease_expires_at IS NOT NULL OR sla_at IS NOT NULL) ORDER BY key`, t.ID)
	deadlines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Deadline, error) {
		var d Deadline
		var lease, sla *time.Time
		err := row.Scan(&d.Node, &lease, &sla, &now)
		d.LeaseEnds, d.SLAEnds = orZero(lease), orZero(sla)
		return d, err
	})
	return StepResult{
		AppliedSeq: t.AppliedSeq, Seq: t.Seq, Status: t.Status, Deadlines: deadlines, Now: now, Waited: t.waited(),
	}, err
}
