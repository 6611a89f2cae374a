package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// QueueState is a queue with why it holds no more for the person.
type QueueState struct {
	QueueCount
	Reasons []QueueReason
}

// QueueReason is one cause why work is not there for a person; Count goes to
// CountMost.
type QueueReason struct {
	Code  string
	Count int
	// NextAt is when the first of them may become free by itself.
	NextAt *time.Time
	// Status is the pipeline's.
	Status string
	Kind   pipeline.Kind
}

// Why work is not there.
const (
	QueuePaused    = "paused"
	QueueSkipped   = "skipped"
	QueueOwnWork   = "own_work"
	QueueClaimed   = "claimed"
	QueueReserved  = "reserved"
	QueueHeld      = "held"
	QueueUpstream  = "upstream"
	QueueEscalated = "escalated"
	QueueDone      = "done"
	QueueNoTasks   = "no_tasks"
)

// blockers are the counts behind the reasons.
type blockers struct {
	Held          int        `db:"held"`
	OwnWork       int        `db:"own_work"`
	Skipped       int        `db:"skipped"`
	Claimed       int        `db:"claimed"`
	LeaseEnds     *time.Time `db:"lease_ends"`
	Reserved      int        `db:"reserved"`
	ReservedUntil *time.Time `db:"reserved_until"`
	Upstream      int        `db:"upstream"`
	Escalated     int        `db:"escalated"`
	Done          int        `db:"done"`
	Some          bool       `db:"some"`
}

// blockersSQL counts what is not there for user $3 in the queue of kind $4 of
// pipeline $1 of organization $2. It walks indexes only, each for at most
// walkMost rows; what waits for other nodes is counted on the newest open tasks, with
// what somebody held behind one that is open again until the lease ran out.
var blockersSQL = fmt.Sprintf(`WITH open AS (SELECT n.task_id, n.key, n.four_eyes FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4 AND n.status = 'available' AND n.reserved_for IS NULL
        ORDER BY n.priority, n.task_id LIMIT %[2]d
), free AS (SELECT count(*) FILTER (WHERE t.held) AS held,
        count(*) FILTER (WHERE NOT t.held AND NOT `+notTheirsSQL+`) AS own_work,
        count(*) FILTER (WHERE NOT t.held AND `+notTheirsSQL+` AND NOT `+notSkippedSQL+`) AS skipped
    FROM open n JOIN tasks t ON t.id = n.task_id
), taken AS (SELECT count(*) AS n, min(lease_expires_at) AS next FROM (SELECT n.lease_expires_at FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4 AND n.status = 'claimed' AND n.lease_expires_at > now()
            AND n.claimed_by <> $3 ORDER BY n.lease_expires_at LIMIT %[1]d) n
), kept AS (SELECT count(*) AS n, min(reserved_until) AS next FROM (SELECT n.reserved_until FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4 AND n.status = 'available' AND n.reserved_for IS NOT NULL
            AND n.reserved_for <> $3 AND n.reserved_until > now() ORDER BY n.reserved_until LIMIT %[1]d) n
), newest AS (
    (SELECT t.id FROM tasks t WHERE t.pipeline_id = $1 AND t.org_id = $2 AND t.status = 'pending' ORDER BY -t.id LIMIT %[1]d)
    UNION ALL (SELECT t.id FROM tasks t WHERE t.pipeline_id = $1 AND t.org_id = $2 AND t.status = 'in_progress' ORDER BY -t.id LIMIT %[1]d)
), later AS (SELECT count(*) AS n FROM newest JOIN task_nodes n ON n.task_id = newest.id AND n.kind = $4
        AND (n.status IN ('pending', 'deferred') OR n.status = 'claimed' AND n.lease_expires_at <= now() AND NOT `+lapsedOfSQL+`)
), aside AS (SELECT count(*) AS n FROM (SELECT 1 FROM task_nodes n WHERE n.pipeline_id = $1 AND n.org_id = $2
        AND n.status IN ('escalated', 'quarantined') AND n.kind = $4 LIMIT %[1]d) n
), done AS (SELECT count(*) AS n FROM (SELECT 1 FROM tasks t WHERE t.pipeline_id = $1 AND t.org_id = $2 AND t.status = 'finished'
        ORDER BY -t.id LIMIT %[1]d) n)
SELECT least(%[1]d, free.held) AS held, least(%[1]d, free.own_work) AS own_work, least(%[1]d, free.skipped) AS skipped,
    taken.n AS claimed, taken.next AS lease_ends, kept.n AS reserved, kept.next AS reserved_until, least(%[1]d, later.n) AS upstream,
    aside.n AS escalated, done.n AS done,
    (SELECT count(*) FROM (SELECT 1 FROM tasks t WHERE t.pipeline_id = $1 AND t.org_id = $2 ORDER BY t.id DESC LIMIT 1) t) > 0 AS some
FROM free, taken, kept, later, aside, done`, CountMost, walkMost)

// ExplainQueue says what the queue of a kind holds for the member and why it
// holds no more.
func (s *Store) ExplainQueue(ctx context.Context, m Member, kind pipeline.Kind) (QueueState, error) {
	p, err := s.Pipeline(ctx, m.OrgID, m.PipelineID)
	if err != nil {
		return QueueState{}, err
	}
	q := []Queue{{OrgID: m.OrgID, PipelineID: m.PipelineID, Status: p.Status, Kind: kind}}
	if err := s.countQueues(ctx, m.UserID, q); err != nil {
		return QueueState{}, translate(err)
	}
	rows, _ := s.pool.Query(ctx, blockersSQL, m.PipelineID, m.OrgID, m.UserID, kind)
	b, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[blockers])
	if err != nil {
		return QueueState{}, translate(err)
	}
	return QueueState{QueueCount: q[0].QueueCount, Reasons: b.reasons(p.Status, kind)}, nil
}

// reasons puts what a person can act on first.
func (b blockers) reasons(status string, kind pipeline.Kind) []QueueReason {
	all := []QueueReason{
		{Code: QueueSkipped, Count: b.Skipped},
		{Code: QueueReserved, Count: b.Reserved, NextAt: b.ReservedUntil},
		{Code: QueueClaimed, Count: b.Claimed, NextAt: b.LeaseEnds},
		{Code: QueueOwnWork, Count: b.OwnWork},
		{Code: QueueUpstream, Count: b.Upstream},
		{Code: QueueHeld, Count: b.Held},
		{Code: QueueEscalated, Count: b.Escalated},
		{Code: QueueDone, Count: b.Done},
	}
	var out []QueueReason
	add := func(r QueueReason) {
		r.Status, r.Kind = status, kind
		out = append(out, r)
	}
	if !pipeline.AllowsClaims(status) {
		add(QueueReason{Code: QueuePaused})
	}
	if !b.Some {
		add(QueueReason{Code: QueueNoTasks})
	}
	for _, r := range all {
		if r.Count > 0 {
			add(r)
		}
	}
	return out
}

// Message says the reason in words and numbers.
func (r QueueReason) Message() string {
	what, is := "subtasks", "are"
	if r.Kind == pipeline.KindReview {
		what = "reviews"
	}
	n := strconv.Itoa(r.Count)
	switch {
	case r.Count >= CountMost:
		n = fmt.Sprintf("%d or more", CountMost)
	case r.Count == 1:
		what, is = what[:len(what)-1], "is"
	}
	switch r.Code {
	case QueuePaused:
		return fmt.Sprintf("The pipeline is %s: nothing can be claimed until an admin makes it ACTIVE.", r.Status)
	case QueueNoTasks:
		return "The pipeline has no tasks yet."
	case QueueSkipped:
		return fmt.Sprintf("%s %s %s left out because you skipped them; you can bring them back.", n, what, is)
	case QueueReserved:
		return fmt.Sprintf("%s %s %s kept for a while for those whose work was returned.", n, what, is)
	case QueueClaimed:
		return fmt.Sprintf("%s %s %s being worked on by others.", n, what, is)
	case QueueOwnWork:
		return fmt.Sprintf("%s %s %s on tasks that you worked on yourself; somebody else has to do them.", n, what, is)
	case QueueUpstream:
		return fmt.Sprintf("%s %s %s not open yet: other steps of their tasks come first.", n, what, is)
	case QueueHeld:
		return fmt.Sprintf("%s %s %s on hold: an admin holds the task back.", n, what, is)
	case QueueEscalated:
		return fmt.Sprintf("%s %s %s set aside for an admin to decide.", n, what, is)
	case QueueDone:
		return fmt.Sprintf("%s of the pipeline's tasks are finished.", n)
	}
	return ""
}
