package store

// atRest is the condition that nothing is under way for task t.
const atRest = `t.applied_seq = t.seq AND t.updated_at <= now() - $3::interval`

// journalInvariants are promises I3 and I4, as far as SQL can tell: the journal
// has no gap, everything in it is applied, and what is kept beside the rows
// adds up.
var journalInvariants = []Invariant{
	{
		Name: "journal-gap-free", Promise: "I3",
		Advice: adviceRestore + "; of a task that is behind a journal without a gap: taskloom repair task --task ID --apply",
		Says:   "the journal of a task has no gap and no double",
		sql: `SELECT t.id, 'task ' || t.id || ': ' || coalesce(e.n, 0) || ' events, numbered ' || coalesce(e.first::text, '-') || ' to ' ||
				coalesce(e.last::text, '-') || '; the task is at ' || t.seq
			FROM tasks t LEFT JOIN (SELECT task_id, count(*) AS n, min(seq) AS first, max(seq) AS last FROM task_events
				WHERE task_id > $1 AND task_id <= $2 GROUP BY task_id) e ON e.task_id = t.id
			WHERE t.id > $1 AND t.id <= $2 AND (e.n IS DISTINCT FROM t.seq OR e.first <> 1 OR e.last <> t.seq)`,
	},
	{
		Name: "nothing-without-task", Promise: "I3", Advice: adviceRestore + "; of an outbox row: taskloom repair outbox --apply",
		Says: "nothing belongs to a task that is not there",
		sql: `SELECT DISTINCT e.task_id, 'journal of task ' || e.task_id FROM task_events e
				WHERE e.task_id > $1 AND e.task_id <= $2 AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = e.task_id)
			UNION ALL SELECT n.task_id, 'node ' || n.key || ' of task ' || n.task_id FROM task_nodes n
				WHERE n.task_id > $1 AND n.task_id <= $2 AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = n.task_id)
			UNION ALL SELECT s.task_id, 'submission under claim ' || s.claim_id || ' of task ' || s.task_id FROM submissions s
				WHERE s.task_id > $1 AND s.task_id <= $2 AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = s.task_id)
			UNION ALL SELECT d.task_id, 'draft of user ' || d.user_id || ' for task ' || d.task_id FROM drafts d
				WHERE d.task_id > $1 AND d.task_id <= $2 AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = d.task_id)
			UNION ALL SELECT o.task_id, 'outbox row ' || o.id || ' of task ' || o.task_id FROM outbox o
				WHERE o.task_id > $1 AND o.task_id <= $2 AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = o.task_id)`,
	},
	{
		Name: "events-applied", Promise: "I3", Heal: healRun, Drained: true,
		Says: "the consequences of every event are written",
		sql: `SELECT t.id, 'task ' || t.id || ': ' || t.applied_seq || ' of ' || t.seq || ' events' FROM tasks t
			WHERE t.id > $1 AND t.id <= $2 AND t.applied_seq <> t.seq`,
	},
	{
		Name: "node-summary", Promise: "I4", Heal: healTask,
		Says: "node_summary of a task at rest adds up",
		sql: `SELECT t.id, 'task ' || t.id || ': total ' || t.n_total || ', finished ' || t.n_finished || ', in progress ' || t.n_in_progress ||
				'; its nodes say ' || n.total || ', ' || n.finished || ', ' || n.in_progress
			FROM tasks t JOIN (SELECT task_id, count(*) FILTER (WHERE status <> 'na') AS total, count(*) FILTER (WHERE status = 'finished') AS finished,
				count(*) FILTER (WHERE status IN ('available', 'claimed', 'submitted', 'escalated', 'quarantined')) AS in_progress
				FROM task_nodes WHERE task_id > $1 AND task_id <= $2 GROUP BY task_id) n ON n.task_id = t.id
			WHERE t.id > $1 AND t.id <= $2 AND ` + atRest + ` AND (t.n_total <> n.total OR t.n_finished <> n.finished OR t.n_in_progress <> n.in_progress)`,
	},
	{
		Name: "ended-is-done", Promise: "I4", Heal: healTask,
		Says: "a task that has ended has no open node",
		sql: `SELECT t.id, 'task ' || t.id || ': ' || t.status || ', but node ' || n.key || ' is ' || n.status
			FROM tasks t JOIN task_nodes n ON n.task_id = t.id
			WHERE t.id > $1 AND t.id <= $2 AND n.task_id > $1 AND n.task_id <= $2 AND ` + atRest + `
				AND t.status IN ('finished', 'failed') AND n.status NOT IN ('finished', 'na')`,
	},
	{
		Name: "failed-stays-failed", Promise: "I4", Advice: adviceIncident,
		Says: "nobody got or handed in work of a task after it was failed",
		sql: `SELECT e.task_id, 'task ' || e.task_id || ' event ' || e.seq || ': ' || e.kind || ' after it was failed by event ' || f.seq
			FROM task_events f JOIN task_events e ON e.task_id = f.task_id AND e.seq > f.seq
			WHERE f.task_id > $1 AND f.task_id <= $2 AND e.task_id > $1 AND e.task_id <= $2 AND f.kind = 'fail' AND e.kind IN ('claim', 'submit', 'review')`,
	},
	{
		Name: "kept-counts", Promise: "I4", Heal: healCounts,
		Says:  "the kept counts are those of the rows",
		scope: ofWhole,
		sql: `SELECT NULL::bigint, 'pipeline ' || pipeline_id || CASE version_id WHEN 0 THEN '' ELSE ' version ' || version_id END || ': of ' || what ||
				' there are ' || n || ' more than kept' FROM (` + driftSQL + `) d`,
	},
}
