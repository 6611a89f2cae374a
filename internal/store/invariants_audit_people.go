package store

// peopleAudited are the invariants of auditInvariants about who may do what: organizations,
// projects, their members, and invites.
var peopleAudited = []Invariant{
	{
		Name: "members-audited", Promise: "I12", Advice: adviceAudit + "; remove who does not belong: taskloom user remove --org SLUG EMAIL",
		// A removal and its row have the same time. An acceptance may leave an admin what
		// they are, so that any row since the last one that settled the role may be the one
		// that holds. Rows of older versions do not all say the role.
		Says: "every membership has an audit row that made it, again after each removal, and one that ended has a row of that; " +
			"its role is what its last rows say",
		scope: ofPeople,
		sql: `WITH let_in AS (
				SELECT org_id, object, id, detail->>'role' AS role, id AS settled FROM audit_log WHERE action = 'member.set'
				UNION ALL SELECT a.org_id, 'user/' || a.actor, a.id, i.role, 0 FROM audit_log a
				LEFT JOIN invites i ON i.org_id = a.org_id AND a.object = 'invite/' || i.id WHERE a.action = 'invite.accept'
			), removed AS (
				SELECT org_id, object, max(id) AS id, max(created_at) AS at FROM audit_log WHERE action = 'user.remove' GROUP BY org_id, object
			), m AS (
				SELECT m.*, r.id AS removal, r.at AS removal_at FROM org_members m
				LEFT JOIN removed r ON r.org_id = m.org_id AND r.object = 'user/' || m.user_id
			), said AS (
				SELECT l.*, max(settled) OVER (PARTITION BY org_id, object) AS since FROM let_in l
			)
			SELECT NULL::bigint, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who let them in' FROM m
			WHERE NOT EXISTS (SELECT FROM let_in l WHERE l.org_id = m.org_id AND l.object = 'user/' || m.user_id
				AND (m.removed_at IS NOT NULL OR m.removal IS NULL OR l.id > m.removal))
			UNION ALL SELECT NULL, 'user ' || m.user_id || ' in organization ' || m.org_id || ': no row says who removed them' FROM m
			WHERE m.removed_at IS NOT NULL AND (m.removal IS NULL OR m.removal_at < m.removed_at)
			UNION ALL SELECT NULL, 'user ' || m.user_id || ' in organization ' || m.org_id || ': is ' || m.role || ', but the last rows say ' || string_agg(s.role, ', ')
			FROM m JOIN said s ON s.org_id = m.org_id AND s.object = 'user/' || m.user_id AND s.id >= s.since AND s.id > coalesce(m.removal, 0)
			WHERE m.removed_at IS NULL GROUP BY m.org_id, m.user_id, m.role HAVING NOT bool_or(coalesce(nullif(s.role, ''), m.role) = m.role)`,
	},
	{
		Name: "projects-audited", Promise: "I12", Advice: adviceAudit + "; give everybody the role that they are to have: taskloom apply, or People in the web app",
		// Who is no org admin becomes admin of the project that they make. For the roles, as for
		// members-audited. Rows of older versions may have spaces around a name.
		Says: "every organization and every project has an audit row of its making; " +
			"a project's name, and the role of each of its members, are what its last rows say",
		scope: ofPeople,
		sql: `WITH given AS (
				SELECT org_id, object, CASE WHEN detail->>'user' ~ '^[0-9]{1,18}$' THEN (detail->>'user')::bigint END AS user_id, id, detail->>'role' AS role, id AS settled
				FROM audit_log WHERE action = 'project.member'
				UNION ALL SELECT a.org_id, 'project/' || g.project_id, a.actor, a.id, g.role, 0 FROM audit_log a
				JOIN invites i ON i.org_id = a.org_id AND a.object = 'invite/' || i.id
				JOIN invite_projects g ON g.org_id = i.org_id AND g.invite_id = i.id WHERE a.action = 'invite.accept'
				UNION ALL SELECT org_id, object, actor, id, '` + string(RoleProjectAdmin) + `', 0 FROM audit_log WHERE action = 'project.create'
			), said AS (
				SELECT g.*, max(settled) OVER (PARTITION BY org_id, object, user_id) AS since FROM given g
			), removed AS (
				SELECT org_id, object, max(id) AS id FROM audit_log WHERE action = 'user.remove' GROUP BY org_id, object
			), named AS (
				SELECT DISTINCT ON (org_id, object) org_id, object, coalesce(btrim(detail->>'name', E' \t\r\n'), 'nothing') AS name FROM audit_log
				WHERE action IN ('project.create', 'project.rename') ORDER BY org_id, object, id DESC
			)
			SELECT NULL::bigint, 'organization ' || o.id || ' (' || o.slug || '): no row says who made it' FROM organizations o
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = o.id AND a.action = 'organization.create')
			UNION ALL SELECT NULL, 'project ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': no row says who made it' FROM projects p
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = p.org_id AND a.action = 'project.create' AND a.object = 'project/' || p.id)
			UNION ALL SELECT NULL, 'project ' || p.id || ' (' || p.name || ') of organization ' || p.org_id || ': the last row says that its name is ' || n.name
			FROM projects p JOIN named n ON n.org_id = p.org_id AND n.object = 'project/' || p.id WHERE n.name <> p.name
			UNION ALL SELECT NULL, 'user ' || m.user_id || ' in project ' || m.project_id || ' of organization ' || m.org_id || ': is ' || m.role || ', but no row says so'
			FROM project_members m LEFT JOIN removed r ON r.org_id = m.org_id AND r.object = 'user/' || m.user_id
			WHERE NOT EXISTS (SELECT FROM said s WHERE s.org_id = m.org_id AND s.object = 'project/' || m.project_id AND s.user_id = m.user_id
				AND s.role = m.role AND s.id >= s.since AND s.id > coalesce(r.id, 0))`,
	},
	{
		Name: "invites-audited", Promise: "I12", Advice: adviceAudit,
		// An invite also ends with what its maker or the invited may no longer, or with a newer
		// one: the row of that has the same time, which is that of their transaction.
		Says:  "every invite has an audit row of who made it, and one that was accepted or revoked has a row of that",
		scope: ofPeople,
		sql: `SELECT NULL::bigint, 'invite ' || i.id || ' of organization ' || i.org_id || ': no row says who made it' FROM invites i
			WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.org_id = i.org_id AND a.action = 'invite.create' AND a.object = 'invite/' || i.id)
			UNION ALL SELECT NULL, 'invite ' || i.id || ' of organization ' || i.org_id || ': accepted by user ' || i.accepted_by || ', but no row says so' FROM invites i
			WHERE i.accepted_at IS NOT NULL AND NOT EXISTS (SELECT FROM audit_log a
				WHERE a.org_id = i.org_id AND a.action = 'invite.accept' AND a.object = 'invite/' || i.id AND a.actor = i.accepted_by)
			UNION ALL SELECT NULL, 'invite ' || i.id || ' of organization ' || i.org_id || ': no row says what revoked it' FROM invites i
			WHERE i.revoked_at IS NOT NULL AND NOT EXISTS (SELECT FROM audit_log a
				WHERE a.org_id = i.org_id AND a.created_at = i.revoked_at AND a.action IN
					('invite.revoke', 'invite.create', 'member.set', 'project.member', 'user.remove'))`,
	},
}
