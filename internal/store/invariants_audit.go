package store

const adviceAudit = "somebody wrote past the product, or the log was cut: find out who has the database's password, and change it"

// auditInvariants are promise I12: what needs privileges left a row in the
// audit log, and what changes more than once is as its last row says. What
// admins do to tasks stands in the tasks' journals. Rows are in the order of the
// changes that they tell of, by their ids: each change holds what it changes until
// its row is there.
var auditInvariants = append(peopleAudited, []Invariant{
	{
		Name: "keys-audited", Promise: "I12", Advice: adviceAudit + "; revoke the key: taskloom key revoke --org SLUG --name NAME",
		Says:  "every API key has an audit row of its creation, and a revoked one of that; it expires when its last row says",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'API key ' || k.id || ' (' || k.name || ') of organization ' || k.org_id || ': no row says who ' || x.did || ' it'
			FROM api_keys k CROSS JOIN (VALUES ('key.create', 'created'), ('key.revoke', 'revoked')) AS x(action, did)
			WHERE (x.action = 'key.create' OR k.revoked_at IS NOT NULL) AND NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = k.org_id AND a.action = x.action AND a.object = 'key/' || k.id)
			UNION ALL SELECT NULL, 'API key ' || k.id || ' (' || k.name || ') of organization ' || k.org_id || ': expires '
				|| coalesce(to_char(k.expires_at AT TIME ZONE 'UTC', '` + utcSecond + `'), 'never') || ', but the last row says '
				|| coalesce(to_char(l.expires_at AT TIME ZONE 'UTC', '` + utcSecond + `'), 'never')
			FROM api_keys k JOIN (
				SELECT DISTINCT ON (org_id, object) org_id, object, CASE WHEN detail->>'expires_at' ~ '^[0-9]{4}-' THEN (detail->>'expires_at')::timestamptz END AS expires_at
				FROM audit_log WHERE action IN ('key.create', 'key.expire') ORDER BY org_id, object, id DESC
			) l ON l.org_id = k.org_id AND l.object = 'key/' || k.id
			WHERE num_nulls(k.expires_at, l.expires_at) = 1 OR abs(extract(epoch FROM k.expires_at - l.expires_at)) >= 0.001`,
	},
	{
		Name: "publishes-audited", Promise: "I12", Advice: adviceAudit,
		Says:  "every version of a pipeline has an audit row of its publishing, and every pipeline one of its making; its status is what its last row says",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'pipeline ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': ' || v.n || ' versions, ' || a.n || ' rows of publishing'
			FROM pipelines p
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM pipeline_versions v WHERE v.pipeline_id = p.id) v
			JOIN (SELECT p.id, count(a.id) AS n FROM pipelines p LEFT JOIN audit_log a ON a.org_id = p.org_id AND a.action = 'pipeline.publish'
				AND a.object = 'pipeline/' || p.id GROUP BY p.id) a ON a.id = p.id
			WHERE v.n > a.n
			UNION ALL SELECT NULL, 'pipeline ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': no row says who made it'
			FROM pipelines p WHERE NOT EXISTS (
				SELECT FROM audit_log a WHERE a.org_id = p.org_id AND a.action = 'pipeline.create' AND a.object = 'pipeline/' || p.id)
			UNION ALL SELECT NULL, 'pipeline ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': ' || p.status || ', but the last row says ' || l.status
			FROM pipelines p JOIN (
				SELECT DISTINCT ON (org_id, object) org_id, object, coalesce(detail->>'to', '` + StatusDraft + `') AS status FROM audit_log
				WHERE action LIKE 'pipeline.%' AND (action = 'pipeline.create' OR detail ? 'to') ORDER BY org_id, object, id DESC
			) l ON l.org_id = p.org_id AND l.object = 'pipeline/' || p.id
			WHERE p.status <> l.status`,
	},
	{
		Name: "acts-audited", Promise: "I12", Advice: adviceAudit,
		Says:  "every priority is what the last audit row about it says, and every upload that a person cancelled has a row of who did it",
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
				SELECT FROM audit_log a WHERE a.org_id = u.org_id AND a.action = 'upload.cancel' AND a.object = 'upload/' || u.id)`,
	},
	{
		Name: "datasets-audited", Promise: "I12", Advice: adviceAudit + "; put the rows back: taskloom apply",
		Says:  "every dataset has an audit row of its making, and as many rows as the last one says",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'dataset ' || d.id || ' (' || d.name || ') of organization ' || d.org_id || ': ' || n.rows || ' rows, but '
				|| coalesce('the last row says ' || l.rows, 'no row says who made it')
			FROM datasets d
			CROSS JOIN LATERAL (SELECT count(*)::text AS rows FROM dataset_rows r WHERE r.dataset_id = d.id) n
			LEFT JOIN (
				SELECT DISTINCT ON (org_id, object) org_id, object, coalesce(detail->>'rows', 'nothing') AS rows
				FROM audit_log WHERE action = 'dataset.set' ORDER BY org_id, object, id DESC
			) l ON l.org_id = d.org_id AND l.object = 'dataset/' || d.id
			WHERE l.rows IS DISTINCT FROM n.rows`,
	},
}...)

// utcSecond is how a time is said in words: 2026-03-01T12:00:00Z.
const utcSecond = `YYYY-MM-DD"T"HH24:MI:SS"Z"`
