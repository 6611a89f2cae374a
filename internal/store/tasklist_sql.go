package store

import (
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/task"
)

// walk is one step through the tasks of a pipeline, from the newest below
// `before` down to `low`: which of them match is looked at afterwards. It goes
// along the index that leaves out most.
type walk struct {
	org, pipeline int64
	q             TaskSearch
	paused        bool
	stored        []task.Status
	low, before   int64
	step          int
}

// binder numbers the parameters of a statement.
type binder struct{ args []any }

func (b *binder) bind(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args))
}

// filtered reports whether what a walk comes by may fail to match.
func (w walk) filtered() bool {
	q := w.q
	return q.Node != "" || q.NodeStatus != "" || q.Person != 0 || q.ID != 0 || q.Priority != nil || q.Held != nil ||
		!q.CreatedAfter.IsZero() || !q.CreatedBefore.IsZero()
}

// sql returns the ids of the next step, newest first.
func (w walk) sql() (sql string, args []any) {
	b := &binder{}
	pipelineID, orgID, before, low := b.bind(w.pipeline), b.bind(w.org), b.bind(w.before), b.bind(w.low)
	step := b.bind(w.step)
	down := func(more string) string {
		return fmt.Sprintf(`SELECT t.id FROM tasks t WHERE t.pipeline_id = %s AND t.org_id = %s
			AND -t.id > -%s::bigint AND -t.id <= -%s::bigint AND %s ORDER BY -t.id LIMIT %s`, pipelineID, orgID, before, low, more, step)
	}
	switch q := w.q; {
	case q.ID != 0:
		return fmt.Sprintf(`SELECT t.id FROM tasks t WHERE t.pipeline_id = %s AND t.org_id = %s AND t.id < %s AND t.id >= %s
			AND t.id = %s LIMIT %s`, pipelineID, orgID, before, low, b.bind(q.ID), step), b.args
	case q.Person != 0:
		// What a person holds is little, in whatever pipeline.
		return fmt.Sprintf(`WITH held AS MATERIALIZED (SELECT n.task_id, n.pipeline_id, n.org_id FROM task_nodes n
				WHERE n.claimed_by = %s AND n.status = 'claimed')
			SELECT DISTINCT task_id FROM held WHERE pipeline_id = %s AND org_id = %s AND task_id < %s AND task_id >= %s
			ORDER BY task_id DESC LIMIT %s`, b.bind(q.Person), pipelineID, orgID, before, low, step), b.args
	case q.NodeStatus == task.NodeClaimed:
		// Of claims there are never many more than people.
		return fmt.Sprintf(`WITH held AS MATERIALIZED (SELECT DISTINCT n.task_id FROM unnest(ARRAY['subtask', 'review']) AS k(kind)
				JOIN task_nodes n ON n.pipeline_id = %s AND n.kind = k.kind AND n.status = 'claimed'
				WHERE n.org_id = %s AND n.task_id < %s AND n.task_id >= %s)
			SELECT task_id FROM held ORDER BY task_id DESC LIMIT %s`, pipelineID, orgID, before, low, step), b.args
	case q.Held != nil && *q.Held:
		return down("t.held"), b.args // those that have ended are left out of what is found
	case w.byQueue():
		return w.queueSQL(b, pipelineID, orgID, before, low, step), b.args
	case q.Priority != nil && *q.Priority != 0:
		return down("t.priority <> 0 AND t.priority = " + b.bind(*q.Priority)), b.args
	case len(w.stored) < len(task.Statuses()):
		parts := make([]string, len(w.stored))
		for i, st := range w.stored {
			parts[i] = "(" + down("t.status = "+b.bind(st)) + ")"
		}
		return "SELECT id FROM (" + strings.Join(parts, " UNION ALL ") + ") t ORDER BY id DESC LIMIT " + step, b.args
	}
	return fmt.Sprintf(`SELECT t.id FROM tasks t WHERE t.pipeline_id = %s AND t.org_id = %s AND t.id < %s AND t.id >= %s
		ORDER BY t.id DESC LIMIT %s`, pipelineID, orgID, before, low, step), b.args
}

// filterSQL reads those of the ids that match everything.
func (w walk) filterSQL(ids []int64, limit int) (sql string, args []any) {
	b, q := &binder{}, w.q
	where := []string{
		"t.id = ANY (" + b.bind(ids) + ")", "t.org_id = " + b.bind(w.org), "t.pipeline_id = " + b.bind(w.pipeline),
		"t.status = ANY (" + b.bind(statusTexts(w.stored)) + ")",
	}
	if q.ID != 0 {
		where = append(where, "t.id = "+b.bind(q.ID))
	}
	if q.Priority != nil {
		where = append(where, "t.priority = "+b.bind(*q.Priority))
	}
	if q.Held != nil {
		where = append(where, heldSQL("t")+" = "+b.bind(*q.Held))
	}
	if !q.CreatedAfter.IsZero() {
		where = append(where, "t.created_at >= "+b.bind(q.CreatedAfter))
	}
	if !q.CreatedBefore.IsZero() {
		where = append(where, "t.created_at < "+b.bind(q.CreatedBefore))
	}
	if node := w.nodeSQL(b); node != "" {
		where = append(where, node)
	}
	return `SELECT ` + taskColumns + `, t.priority, ` + heldSQL("t") + `, t.version_id, v.number
		FROM tasks t JOIN pipeline_versions v ON v.id = t.version_id
		WHERE ` + strings.Join(where, " AND ") + ` ORDER BY t.id DESC LIMIT ` + b.bind(limit), b.args
}

// nodeSQL is what a node of the task must be like, "" for nothing. It is an
// aggregate for the reason of notTheirsSQL.
func (w walk) nodeSQL(b *binder) string {
	q := w.q
	if q.Node == "" && q.NodeStatus == "" && q.Person == 0 {
		return ""
	}
	sql := "(SELECT count(*) FROM task_nodes n WHERE n.task_id = t.id AND n.org_id = t.org_id"
	if q.Node != "" {
		sql += " AND n.key = " + b.bind(q.Node)
	}
	if q.NodeStatus != "" {
		sql += " AND n.status = " + b.bind(q.NodeStatus)
	} else {
		sql += " AND n.status IN ('deferred', 'available', 'claimed', 'submitted', 'escalated', 'quarantined')"
	}
	if q.Person != 0 {
		sql += " AND n.claimed_by = " + b.bind(q.Person)
	}
	return sql + ") > 0"
}

func statusTexts(of []task.Status) []string {
	out := make([]string, len(of))
	for i, s := range of {
		out[i] = string(s)
	}
	return out
}
