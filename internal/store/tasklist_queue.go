package store

import (
	"fmt"
	"slices"

	"github.com/taskloom/taskloom/internal/task"
)

// byQueue reports whether a search is for what somebody can claim, and goes down
// the queue. Where only tasks are wanted that were begun, those are fewer.
func (w walk) byQueue() bool {
	q := w.q
	return q.NodeStatus == task.NodeAvailable && q.Person == 0 && q.ID == 0 && (q.Held == nil || !*q.Held) && slices.Contains(w.stored, task.Pending)
}

// queueSQL walks down each lane of the queue: what is of one kind and priority
// and in the order of tasks. It finds the lanes that something is in with one look
// into the index for each, and leaves out kinds that a node which is asked for has
// in no version of the pipeline. Lanes are few, 402 at most (two kinds of 201
// priorities). Of what is kept for somebody there is never much more than people
// were given back, and it is read whole. All of it is one statement, so that
// nothing changes lanes meanwhile.
func (w walk) queueSQL(b *binder, pipelineID, orgID, before, low, step string) string {
	lane := func(more string) string {
		return fmt.Sprintf(`(SELECT n.kind, n.priority FROM task_nodes n WHERE n.pipeline_id = %s AND n.org_id = %s
			AND n.status = 'available' AND n.reserved_for IS NULL%s ORDER BY n.kind, n.priority LIMIT 1)`, pipelineID, orgID, more)
	}
	where := "true"
	if w.q.Priority != nil {
		where += " AND l.priority = " + b.bind(*w.q.Priority)
	}
	if w.q.Node != "" {
		where += fmt.Sprintf(` AND l.kind IN (SELECT e ->> 'kind' FROM pipeline_versions v CROSS JOIN jsonb_array_elements(v.definition -> 'nodes') e
			WHERE v.pipeline_id = %s AND v.org_id = %s AND e ->> 'key' = %s)`, pipelineID, orgID, b.bind(w.q.Node))
	}
	return fmt.Sprintf(`WITH RECURSIVE lane AS (%[1]s
			UNION ALL SELECT n.kind, n.priority FROM lane l CROSS JOIN LATERAL %[2]s n
		), free AS (SELECT n.task_id FROM lane l CROSS JOIN LATERAL (SELECT DISTINCT n.task_id FROM task_nodes n
			WHERE n.pipeline_id = %[3]s AND n.org_id = %[4]s AND n.kind = l.kind AND n.priority = l.priority
				AND n.status = 'available' AND n.reserved_for IS NULL AND n.task_id < %[5]s AND n.task_id >= %[6]s
			ORDER BY n.task_id DESC LIMIT %[7]s) n WHERE %[8]s
		), kept AS (SELECT n.task_id FROM unnest(ARRAY['subtask', 'review']) AS k(kind)
			JOIN task_nodes n ON n.pipeline_id = %[3]s AND n.kind = k.kind AND n.status = 'available' AND n.reserved_for IS NOT NULL
			WHERE n.org_id = %[4]s AND n.task_id < %[5]s AND n.task_id >= %[6]s)
		SELECT task_id FROM (SELECT task_id FROM free UNION ALL SELECT task_id FROM kept) n
		GROUP BY task_id ORDER BY task_id DESC LIMIT %[7]s`,
		lane(""), lane(" AND (n.kind, n.priority) > (l.kind, l.priority)"), pipelineID, orgID, before, low, step, where)
}
