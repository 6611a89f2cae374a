package store

const adviceAudit = "somebody wrote past the product, or the log was cut: find out who has the database's password, and change it"

// auditInvariants are promise I12: what needs privileges left a row in the
// audit log. What admins do to tasks stands in the tasks' journals.
var auditInvariants = []Invariant{
	{
		Name: "keys-audited", Promise: "I12", Advice: adviceAudit + "; revoke the key: taskloom key revoke",
		Says:  "every API key has an audit row of its creation, and a revoked one of that",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'API key ' || k.id || ' (' || k.name || ') of organization ' || k.org_id || ': no row says who ' || x.did || ' it'
			FROM api_keys k CROSS JOIN (VALUES ('key.create', 'created'), ('key.revoke', 'revoked')) AS x(action, did)
			WHERE (x.action = 'key.create' OR k.revoked_at IS NOT NULL) AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = k.org_id AND a.action = x.action AND a.object = 'key/' || k.id)`,
	},
	{
		Name: "members-audited", Promise: "I12", Advice: adviceAudit + "; remove who does not belong: taskloom user remove",
		// Rows are in the order in which memberships changed, by their ids: each
		// change holds the membership until its row is there. A removal and its row have the
		// same time.
		Says:  "every membership has an audit row that made it, again after each removal, and one that ended has a row of that",
		scope: ofPeople,
		sql: `WITH let_in AS (
				SELECT org_id, object, max(id) AS id FROM audit_log WHERE action = 'member.set' GROUP BY org_id, object
				UNION ALL SELECT org_id, 'user/' || actor, max(id) FROM audit_log WHERE action = 'invite.accept' GROUP BY org_id, actor
			), removed AS (
				SELECT org_id, object, max(id) AS id, max(created_at) AS at FROM audit_log WHERE action = 'user.remove' GROUP BY org_id, object
			), m AS (
				SELECT m.*, r.id AS removal, r.at AS removal_at FROM org_members m
				LEFT JOIN removed r ON r.org_id = m.org_id AND r.object = 'user/' || m.user_id
			)
			SELECT NULL::bigint, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who let them in' FROM m
			WHERE NOT EXISTS (SELECT FROM let_in l WHERE l.org_id = m.org_id AND l.object = 'user/' || m.user_id
				AND (m.removed_at IS NOT NULL OR m.removal IS NULL OR l.id > m.removal))
			UNION ALL SELECT NULL, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who removed them' FROM m
			WHERE m.removed_at IS NOT NULL AND (m.removal IS NULL OR m.removal_at < m.removed_at)`,
	},
	{
		Name: "publishes-audited", Promise: "I12", Advice: adviceAudit,
		Says:  "every version of a pipeline has an audit row of its publishing, and every pipeline one of its making",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'pipeline ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': ' || v.n || ' versions, ' || a.n || ' rows of publishing'
			FROM pipelines p
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM pipeline_versions v WHERE v.pipeline_id = p.id) v
			JOIN (SELECT p.id, count(a.id) AS n FROM pipelines p LEFT JOIN audit_log a ON a.org_id = p.org_id AND a.action = 'pipeline.publish'
				AND a.object = 'pipeline/' || p.id GROUP BY p.id) a ON a.id = p.id
			WHERE v.n > a.n
			UNION ALL SELECT NULL, 'pipeline ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': no row says who made it'
			FROM pipelines p WHERE NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = p.org_id AND a.action = 'pipeline.create' AND a.object = 'pipeline/' || p.id)`,
	},
	{
		Name: "acts-audited", Promise: "I12", Advice: adviceAudit,
		Says:  "every priority is what the last audit row about it says, and every upload that a person cancelled, and every invite, has a row of who did it",
		scope: ofPeople,
		// What was withdrawn before it was confirmed has no cancel_by. What expired, or
		// whose run an operator cancelled in Temporal, nobody cancelled here.
		sql: `WITH told AS (
				SELECT DISTINCT ON (a.org_id, a.object) a.org_id, a.detail->>'to' AS priority,
					CASE WHEN a.object ~ '^task/[0-9]{1,18}$' THEN substr(a.object, 6)::bigint END AS task_id
				FROM audit_log a WHERE a.action = 'task.priority' ORDER BY a.org_id, a.object, a.id DESC
			)
			SELECT t.id, 'task ' || t.id || ': priority ' || t.priority || ', but ' || coalesce('the last row says ' || l.priority, 'no row says who set it')
			FROM tasks t LEFT JOIN told l ON l.org_id = t.org_id AND l.task_id = t.id
			WHERE t.priority <> 0 AND l.priority IS DISTINCT FROM t.priority::text
			UNION ALL SELECT t.id, 'task ' || t.id || ': priority 0, but the last row says ' || l.priority
			FROM told l JOIN tasks t ON t.org_id = l.org_id AND t.id = l.task_id WHERE t.priority = 0 AND l.priority <> '0'
			UNION ALL SELECT NULL, 'upload ' || u.id || ': cancelled' || coalesce(' by user ' || u.cancel_by, '') || ', but no row says so' FROM uploads u
			WHERE (u.cancel_by IS NOT NULL OR u.reason = '` + UploadWithdrawn + `') AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = u.org_id AND a.action = 'upload.cancel' AND a.object = 'upload/' || u.id)
			UNION ALL SELECT NULL, 'invite ' || i.id || ' of organization ' || i.org_id || ': no row says who made it' FROM invites i
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = i.org_id AND a.action = 'invite.create' AND a.object = 'invite/' || i.id)`,
	},
}
