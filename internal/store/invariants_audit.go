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
		Says:  "every membership has an audit row that made it, and one that ended has a row of that",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who let them in' FROM org_members m
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = m.org_id AND a.action = 'member.set' AND a.object = 'user/' || m.user_id)
				AND NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = m.org_id AND a.action = 'invite.accept' AND a.actor = m.user_id)
			UNION ALL SELECT NULL, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who removed them' FROM org_members m
			WHERE m.removed_at IS NOT NULL AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = m.org_id AND a.action = 'user.remove' AND a.object = 'user/' || m.user_id)`,
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
		Says:  "every priority, cancelled upload and invite has an audit row of who set, cancelled or made it",
		scope: ofPeople,
		sql: `SELECT t.id, 'task ' || t.id || ': priority ' || t.priority || ', but no row says who set it' FROM tasks t
			WHERE t.priority <> 0 AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = t.org_id AND a.action = 'task.priority' AND a.object = 'task/' || t.id)
			UNION ALL SELECT NULL, 'upload ' || u.id || ': cancelled by user ' || u.cancel_by || ', but no row says so' FROM uploads u
			WHERE u.cancel_by IS NOT NULL AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = u.org_id AND a.action = 'upload.cancel' AND a.object = 'upload/' || u.id)
			UNION ALL SELECT NULL, 'invite ' || i.id || ' of organization ' || i.org_id || ': no row says who made it' FROM invites i
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = i.org_id AND a.action = 'invite.create' AND a.object = 'invite/' || i.id)`,
	},
}
