package store

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// Violation is a broken promise about the data: which one, and where.
type Violation struct {
	Invariant string
	// Where names the rows, as ids.
	Where string
}

// invariant is one promise as a query that returns what breaks it: no row when
// it holds.
type invariant struct {
	name string
	// drained invariants hold only when nobody works and the outbox is empty.
	drained bool
	sql     string
}

var invariants = []invariant{
	{"the journal of a task has no gap and no double", false, `
		SELECT 'task ' || t.id FROM tasks t LEFT JOIN (
			SELECT task_id, count(*) AS n, min(seq) AS first, max(seq) AS last FROM task_events GROUP BY task_id) e ON e.task_id = t.id
		WHERE e.n IS DISTINCT FROM t.seq OR e.first <> 1 OR e.last <> t.seq`},
	{"nothing belongs to a task that is not there", false, `
		SELECT 'journal of task ' || e.task_id FROM task_events e WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = e.task_id)
		UNION ALL SELECT 'node of task ' || n.task_id FROM task_nodes n WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = n.task_id AND t.org_id = n.org_id AND t.pipeline_id = n.pipeline_id)
		UNION ALL SELECT 'outbox row of task ' || o.task_id FROM outbox o WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = o.task_id)`},
	{"a node that somebody holds was claimed by them, and by nobody since", false, `
		SELECT 'task ' || n.task_id || ' node ' || n.key FROM task_nodes n WHERE n.status = 'claimed' AND NOT EXISTS (
			SELECT 1 FROM task_events e WHERE e.task_id = n.task_id AND e.seq = n.last_seq AND e.kind = 'claim'
				AND e.claim_id = n.claim_id AND e.actor = n.claimed_by)`},
	{"a claim id was given out once", false, `
		SELECT 'task ' || task_id || ' claim ' || claim_id FROM task_events WHERE kind = 'claim'
		GROUP BY task_id, claim_id HAVING count(*) > 1`},
	{"a node has at most one submission a round", false, `
		SELECT 'task ' || task_id || ' node ' || node_key || ' round ' || iteration FROM submissions
		GROUP BY task_id, node_key, iteration HAVING count(*) > 1`},
	{"every submission was made under a claim of its author and stands in the journal", false, `
		SELECT 'task ' || s.task_id || ' node ' || s.node_key || ' round ' || s.iteration FROM submissions s
		WHERE NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = s.task_id AND e.seq = s.seq
				AND e.kind IN ('submit', 'review') AND e.claim_id = s.claim_id)
			OR NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = s.task_id AND e.kind = 'claim'
				AND e.claim_id = s.claim_id AND e.actor = s.author AND e.seq < s.seq)`},
	{"every submit and verdict of the journal has its submission", false, `
		SELECT 'task ' || e.task_id || ' event ' || e.seq FROM task_events e WHERE e.kind IN ('submit', 'review')
			AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.claim_id = e.claim_id)`},
	{"nothing that is still to do was handed in this round", false, `
		SELECT 'task ' || n.task_id || ' node ' || n.key || ' round ' || n.iteration FROM task_nodes n
		JOIN submissions s ON s.task_id = n.task_id AND s.node_key = n.key AND s.iteration = n.iteration
		WHERE n.status IN ('pending', 'deferred', 'available', 'claimed')`},
	{"every row of an upload that succeeded made one task, which is there", false, `
		SELECT 'upload ' || r.upload_id || ' row ' || r.row_index FROM upload_rows r WHERE r.status = 'created'
			AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = r.task_id)
		UNION ALL SELECT 'task ' || r.task_id FROM upload_rows r WHERE r.task_id IS NOT NULL GROUP BY r.task_id HAVING count(*) > 1`},
	{"the counts of an upload are those of its rows", false, `
		SELECT 'upload ' || u.id FROM uploads u LEFT JOIN (
			SELECT upload_id, count(*) FILTER (WHERE status = 'created') AS created, count(*) FILTER (WHERE status = 'failed') AS failed
			FROM upload_rows GROUP BY upload_id) r ON r.upload_id = u.id
		WHERE u.inspected_at IS NOT NULL AND (u.success_count, u.error_count) IS DISTINCT FROM (coalesce(r.created, 0), coalesce(r.failed, 0))`},
	{"the kept counts are those of the rows", false, `
		SELECT 'pipeline ' || pipeline_id || ' version ' || version_id || ' ' || what || ': there are ' || n || ' more than kept' FROM (` + driftSQL + `) d`},
	{"node_summary adds up", true, `
		SELECT 'task ' || t.id FROM tasks t JOIN (
			SELECT task_id, count(*) FILTER (WHERE status <> 'na') AS total, count(*) FILTER (WHERE status = 'finished') AS finished,
				count(*) FILTER (WHERE status IN ('available', 'claimed', 'submitted', 'escalated', 'quarantined')) AS in_progress
			FROM task_nodes GROUP BY task_id) n ON n.task_id = t.id
		WHERE t.n_total <> n.total OR t.n_finished <> n.finished OR t.n_in_progress <> n.in_progress`},
	{"a finished task has no open node", true, `
		SELECT 'task ' || t.id FROM tasks t WHERE t.status IN ('finished', 'failed')
			AND EXISTS (SELECT 1 FROM task_nodes n WHERE n.task_id = t.id AND n.status NOT IN ('finished', 'na'))`},
	{"the consequences of every event are written", true, `
		SELECT 'task ' || id || ': ' || applied_seq || ' of ' || seq FROM tasks WHERE applied_seq <> seq`},
	{"the outbox is empty", true, `SELECT 'task ' || task_id || ' event ' || seq FROM outbox`},
}

// maxViolations bounds how many are reported of one invariant.
const maxViolations = 20

// CheckInvariants looks for broken promises in one snapshot, without blocking
// anybody. drained adds those that hold only when all work has come to rest.
func (s *Store) CheckInvariants(ctx context.Context, drained bool) ([]Violation, error) {
	var out []Violation
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		for _, inv := range invariants {
			if inv.drained && !drained {
				continue
			}
			rows, _ := tx.Query(ctx, fmt.Sprintf(`SELECT * FROM (%s) v LIMIT %d`, inv.sql, maxViolations))
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("check that %s: %w", inv.name, err)
			}
			for _, where := range found {
				out = append(out, Violation{Invariant: inv.name, Where: where})
			}
		}
		return nil
	})
	return out, translate(err)
}

// CheckJournal folds the journal of every task after the id and compares the
// outcome with the task's rows: what the journal says must be what is there.
// It reads at most limit tasks and returns the last id that it read, 0 at the
// end.
func (s *Store) CheckJournal(ctx context.Context, after int64, limit int) ([]Violation, int64, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id FROM tasks WHERE id > $1 AND seq = applied_seq ORDER BY id LIMIT $2`, after, limit)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, 0, translate(err)
	}
	var out []Violation
	last := int64(0)
	for _, id := range ids {
		v, err := s.checkJournal(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, v...)
		last = id
	}
	return out, last, nil
}

func (s *Store) checkJournal(ctx context.Context, id int64) ([]Violation, error) {
	l, err := s.LoadTask(ctx, id)
	if err != nil || l.Seq != l.State.Seq {
		return nil, err
	}
	events, err := journalBetween(ctx, s.pool, id, 0, l.Seq)
	if err != nil {
		return nil, translate(err)
	}
	folded, err := pipeline.Fold(l.Graph, l.State.StartSkipped, events)
	if err != nil {
		return nil, err
	}
	var out []Violation
	for i, have := range l.State.Nodes {
		if want := folded.Nodes[i]; !sameNode(have, want) {
			out = append(out, Violation{
				Invariant: "the journal leads to the rows",
				Where:     fmt.Sprintf("task %d node %s: rows say %s round %d, the journal %s round %d", id, have.Key, have.Status, have.Iteration, want.Status, want.Iteration),
			})
		}
	}
	return out, nil
}

// sameNode compares what the journal decides; clocks and reservations that
// ran out are the rows' own.
func sameNode(a, b pipeline.NodeState) bool {
	for _, n := range []*pipeline.NodeState{&a, &b} {
		n.LeaseEnds, n.SLAEnds, n.ReservedFor, n.Reason = time.Time{}, time.Time{}, 0, ""
		if len(n.Skipped) == 0 {
			n.Skipped = nil
		}
	}
	return reflect.DeepEqual(a, b)
}

// Invariants lists the promises that CheckInvariants looks at.
func Invariants() []string {
	names := make([]string, len(invariants))
	for i, inv := range invariants {
		names[i] = inv.name
	}
	return names
}
