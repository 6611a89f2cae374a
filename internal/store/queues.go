package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// How far queues are counted. A number of CountMost means that or more, and
// behind the first walkMost nodes nobody counts: so the cost of telling how long
// a queue is does not grow with it. Everybody who works asks every few seconds:
// counting to a thousand for each of them was most of what a busy hour cost. Where
// the person may have none of the first walkMost, one is looked for behind them
// (queues_hidden.go).
const (
	CountMost = 100
	walkMost  = 2000
)

// Queue is the work of one kind in one pipeline, as it is for one person.
type Queue struct {
	OrgID      int64
	ProjectID  int64
	Project    string
	PipelineID int64
	Pipeline   string
	Status     string
	Kind       pipeline.Kind
	QueueCount

	// former says that only tasks of earlier versions may have such work.
	former bool
}

// QueueCount says how much a queue holds for a person; no number goes beyond
// CountMost.
type QueueCount struct {
	// Available is what they could claim now, without what is kept for them. What lies
	// behind thousands that they may not have counts when a look has come by it.
	Available int `db:"available"`
	// Returned is what is kept for them.
	Returned        int `db:"returned"`
	Mine            int `db:"mine"`
	ClaimedByOthers int `db:"claimed_by_others"`
}

// workplace is a pipeline with the person's role in it.
type workplace struct {
	OrgID      int64  `db:"org_id"`
	ProjectID  int64  `db:"project_id"`
	Project    string `db:"project"`
	PipelineID int64  `db:"pipeline_id"`
	Pipeline   string `db:"pipeline"`
	Status     string `db:"status"`
	VersionID  int64  `db:"version_id"`
	OrgAdmin   bool   `db:"org_admin"`
	Role       Role   `db:"role"`
}

// Queues lists the queues of every ACTIVE or PAUSED pipeline that the person
// can work in, by project and pipeline: those of the live version, and what tasks of
// earlier ones have besides, until it is done. In a paused one nothing is available.
func (s *Store) Queues(ctx context.Context, userID int64) ([]Queue, error) {
	rows, _ := s.pool.Query(ctx, `SELECT p.org_id, j.id AS project_id, j.name AS project, p.id AS pipeline_id, p.name AS pipeline, p.status,
			p.version_id, om.role = 'org_admin' AS org_admin, coalesce(pm.role, '') AS role
		FROM org_members om JOIN pipelines p ON p.org_id = om.org_id JOIN projects j ON j.id = p.project_id AND j.org_id = p.org_id
		LEFT JOIN project_members pm ON pm.org_id = p.org_id AND pm.project_id = p.project_id AND pm.user_id = om.user_id
		WHERE om.user_id = $1 AND om.removed_at IS NULL AND (om.role = 'org_admin' OR pm.user_id IS NOT NULL)
			AND p.status IN ('ACTIVE', 'PAUSED') AND p.version_id IS NOT NULL
		ORDER BY j.name, j.id, p.name, p.id`, userID)
	places, err := pgx.CollectRows(rows, pgx.RowToStructByName[workplace])
	if err != nil {
		return nil, translate(err)
	}
	var out []Queue
	for _, w := range places {
		p, err := s.Version(ctx, w.VersionID)
		if err != nil {
			return nil, err
		}
		m, live := Member{UserID: userID, OrgID: w.OrgID, Role: w.Role, OrgAdmin: w.OrgAdmin}, humanKinds(p)
		for _, kind := range []pipeline.Kind{pipeline.KindSubtask, pipeline.KindReview} {
			if m.CanWork(kind) {
				out = append(out, Queue{
					OrgID: w.OrgID, ProjectID: w.ProjectID, Project: w.Project, PipelineID: w.PipelineID, Pipeline: w.Pipeline,
					Status: w.Status, Kind: kind, former: !slices.Contains(live, kind),
				})
			}
		}
	}
	if out, err = s.withoutDone(ctx, out); err != nil {
		return nil, translate(err)
	}
	return out, translate(s.countQueues(ctx, userID, out))
}

// humanKinds lists the kinds of nodes on which people work in a pipeline.
func humanKinds(p *pipeline.Pipeline) []pipeline.Kind {
	var subtask, review bool
	for _, n := range p.Definition.Nodes {
		subtask = subtask || n.Kind == pipeline.KindSubtask && n.Human()
		review = review || n.Kind == pipeline.KindReview
	}
	var out []pipeline.Kind
	if subtask {
		out = append(out, pipeline.KindSubtask)
	}
	if review {
		out = append(out, pipeline.KindReview)
	}
	return out
}

// freeFromHeadSQL is what lies in a queue for everybody, from its head on.
const freeFromHeadSQL = `n.status = 'available' AND n.reserved_for IS NULL AND (n.priority, n.task_id) >= (q.head_priority, q.head_task)`

// queueSQL counts queues: $1 pipelines, $2 their organizations, $3 user, $4 kinds, $5
// and $6 where they begin (queue_head.go).
// Each part walks an index of the queue, so far and no further. It looks at the
// task of a node only where some task of the pipeline is held, and for a skip
// only where the person skipped something: mostly there is neither, and two
// looks for each of a thousand nodes would be all that the count costs. All
// queues of a person are one statement: to set it up takes as long as to run it.
var queueSQL = `SELECT least(%[1]d, c.free + c.kept + c.late) AS available, c.back AS returned, c.mine, c.others AS claimed_by_others,
    c.free + c.kept + c.late = 0 AND (SELECT count(*) FROM (SELECT 1 FROM task_nodes n
        WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind AND ` + freeFromHeadSQL + `
        ORDER BY n.priority, n.task_id LIMIT %[2]d) n) = %[2]d AS cut
FROM unnest($1::bigint[], $2::bigint[], $4::text[], $5::smallint[], $6::bigint[]) WITH ORDINALITY
    AS q(pipeline_id, org_id, kind, head_priority, head_task, i)
CROSS JOIN LATERAL (WITH odd AS (SELECT ` + someHeldSQL("q.pipeline_id") + ` AS held,
        (SELECT count(*) FROM (SELECT 1 FROM skips WHERE user_id = $3 AND pipeline_id = q.pipeline_id ORDER BY created_at LIMIT 1) s) > 0 AS skipped
    ) SELECT (` + claimableSQL(freeFromHeadSQL, `n.priority, n.task_id`) + `) AS free,
        (` + claimableSQL(`n.status = 'available' AND n.reserved_for IS NOT NULL AND n.reserved_until <= now() AND n.reserved_for <> $3`,
	`n.reserved_until`) + `) AS kept,
        (` + claimableSQL(`n.status = 'claimed' AND n.lease_expires_at <= now() AND n.claimed_by <> $3 AND `+lapsedOfSQL, `n.lease_expires_at`) + `) AS late,
        (SELECT count(*) FROM (SELECT n.pipeline_id, n.org_id, n.kind FROM task_nodes n
                WHERE n.claimed_by = $3 AND n.status = 'claimed' LIMIT %[2]d) n
            WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind) AS mine,
        (SELECT count(*) FROM (SELECT 1 FROM task_nodes n
            WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind AND n.status = 'claimed'
                AND n.lease_expires_at > now() AND n.claimed_by <> $3 ORDER BY n.lease_expires_at DESC LIMIT %[1]d) n) AS others,
        (SELECT count(*) FROM (SELECT 1 FROM task_nodes n JOIN tasks t ON t.id = n.task_id
            WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind AND n.status = 'available'
                AND n.reserved_for = $3 AND NOT t.held LIMIT %[1]d) n) AS back
    ) c
ORDER BY q.i`

// claimableSQL counts the nodes in a state, in an order that an index has,
// that the person would be given.
func claimableSQL(state, order string) string {
	return `SELECT count(*) FROM (SELECT 1 FROM (SELECT n.task_id, n.key, n.four_eyes FROM task_nodes n
            WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind AND ` + state + ` ORDER BY ` + order + ` LIMIT %[2]d) n
        WHERE (NOT (SELECT held FROM odd) OR NOT (SELECT t.held FROM tasks t WHERE t.id = n.task_id))
            AND ` + notTheirsSQL + ` AND (NOT (SELECT skipped FROM odd) OR ` + notSkippedSQL + `) LIMIT %[1]d) n`
}

var countQueueSQL = fmt.Sprintf(queueSQL, CountMost, walkMost)

// queueCount says besides whether nothing was available as far as was counted, and
// more lies behind.
type queueCount struct {
	QueueCount

	Cut bool `db:"cut"`
}

// countQueues fills in the numbers.
func (s *Store) countQueues(ctx context.Context, userID int64, queues []Queue) error {
	if len(queues) == 0 {
		return nil
	}
	pipelines, orgs, kinds := make([]int64, len(queues)), make([]int64, len(queues)), make([]string, len(queues))
	priorities, tasks := make([]int16, len(queues)), make([]int64, len(queues))
	for i, q := range queues {
		pipelines[i], orgs[i], kinds[i] = q.PipelineID, q.OrgID, string(q.Kind)
		head := s.heads.lately(queueName{q.PipelineID, q.Kind})
		priorities[i], tasks[i] = head.Priority, head.TaskID
	}
	var counts []queueCount
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(countQueueSQL, pipelines, orgs, userID, kinds, priorities, tasks).Query(func(rows pgx.Rows) (err error) {
		counts, err = pgx.CollectRows(rows, pgx.RowToStructByName[queueCount])
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	for i := range queues {
		q := &queues[i]
		q.QueueCount = counts[i].QueueCount
		if !pipeline.AllowsClaims(q.Status) {
			q.Available = 0
			continue
		}
		if counts[i].Cut {
			var err error
			if q.Available, err = s.anyFree(ctx, userID, *q); err != nil {
				return err
			}
		}
	}
	return nil
}
