package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// WhyWaiting is what the rows beside a task's own say about why it waits.
type WhyWaiting struct {
	PipelineStatus string
	// StartsAhead is how many deliveries to runs go before the start of this
	// task's, counted to MaxAhead; nil when the run has been started, or is not
	// to be yet.
	StartsAhead *int
	// StartAttempts is how often the start has been tried.
	StartAttempts int
	// Unapplied is how many events wait for the run to write what follows.
	Unapplied int
	// Places are those of its nodes that are in the queue, by their keys.
	Places map[string]Place
}

// Place is where in the queue a node stands.
type Place struct {
	// Ahead is how many are served before, counted to MaxAhead.
	Ahead int
	// Of is how many nodes of the kind are free, reserved ones among them.
	Of int
}

// MaxAhead is where counting a place in a queue ends.
const MaxAhead = 1000

// WhyWaiting looks at what a task waits for. It reads a bounded number of
// rows.
func (s *Store) WhyWaiting(ctx context.Context, orgID, pipelineID int64, d TaskDetail) (WhyWaiting, error) {
	why := WhyWaiting{Places: map[string]Place{}}
	err := s.pool.QueryRow(ctx, `SELECT p.status, t.seq - t.applied_seq FROM pipelines p JOIN tasks t ON t.pipeline_id = p.id AND t.org_id = p.org_id
		WHERE p.id = $1 AND p.org_id = $2 AND t.id = $3`, pipelineID, orgID, d.ID).Scan(&why.PipelineStatus, &why.Unapplied)
	if err != nil {
		return why, translate(err)
	}
	if err := s.startOf(ctx, d.ID, &why); err != nil {
		return why, translate(err)
	}
	counts, err := keptCounts(ctx, s.pool, pipelineID)
	if err != nil {
		return why, translate(err)
	}
	for _, n := range d.Nodes {
		if n.Status != task.NodeAvailable || n.Reserved() != nil {
			continue
		}
		place := Place{}
		if place.Ahead, err = s.ahead(ctx, orgID, pipelineID, n.Kind, d.Priority, d.ID); err != nil {
			return why, translate(err)
		}
		for _, k := range counts {
			switch k.What {
			case string(n.Kind) + ":queued":
				place.Of += k.N
			case string(n.Kind) + ":claimed":
				place.Of -= k.N
			}
		}
		why.Places[n.Node] = place
	}
	return why, nil
}

// startOf finds out whether the start of the task's run is still to be
// delivered, by itself or by a later event that stands for it.
func (s *Store) startOf(ctx context.Context, taskID int64, why *WhyWaiting) error {
	var ahead, attempts int
	err := s.pool.QueryRow(ctx, `SELECT o.attempts, (SELECT count(*) FROM (SELECT FROM outbox b
			WHERE b.priority = o.priority AND (b.next_attempt_at, b.id) < (o.next_attempt_at, o.id) LIMIT $2) b)
		FROM outbox o WHERE o.task_id = $1 AND o.seq > 0 AND EXISTS (SELECT FROM outbox c WHERE c.task_id = $1 AND c.seq = 1)
		ORDER BY o.priority, o.seq DESC LIMIT 1`, taskID, MaxAhead).Scan(&attempts, &ahead)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	why.StartAttempts, why.StartsAhead = attempts, &ahead
	return err
}

const aheadSQL = `SELECT count(*) FROM (SELECT FROM task_nodes WHERE pipeline_id = $1 AND org_id = $2 AND kind = $3
	AND status = 'available' AND reserved_for IS NULL AND (priority, task_id) < ($4, $5) ORDER BY priority, task_id LIMIT $6) q`

// ahead counts who is served before a task of this priority.
func (s *Store) ahead(ctx context.Context, orgID, pipelineID int64, kind pipeline.Kind, priority int, taskID int64) (n int, err error) {
	err = s.pool.QueryRow(ctx, aheadSQL, pipelineID, orgID, kind, priority, taskID, MaxAhead).Scan(&n)
	return n, err
}

// Reserved is for whom alone the node is kept now, nil for nobody.
func (n NodeDetail) Reserved() *int64 {
	if !n.ReservedNow {
		return nil
	}
	return n.ReservedFor
}

// ReviewFields returns the fields of a subtask that a review covers.
func ReviewFields(p *pipeline.Pipeline, t pipeline.Target) []string { return reviewFields(p, t) }

// People are all whom the detail names, each once.
func (d TaskDetail) People() []int64 {
	var ids []int64
	add := func(id *int64) {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	for _, n := range d.Nodes {
		add(n.ClaimedBy)
		add(n.ReservedFor)
	}
	for _, e := range d.Events {
		add(e.Actor)
	}
	for _, sub := range d.Submissions {
		ids = append(ids, sub.Author)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
