package store

// adviceTenants: what crossed the line between organizations is an incident.
const adviceTenants = "treat it as an incident: one organization's data may have reached another. Pause the pipelines, keep a dump, and report it as a bug"

// tenantInvariants are promise I11 where the database shows it: what belongs to
// an organization hangs on nothing of another.
var tenantInvariants = []Invariant{
	{
		Name: "tenant-of-task", Promise: "I11", Advice: adviceTenants,
		Says: "a task belongs to the organization of its pipeline, and has a version of that pipeline",
		sql: `SELECT t.id, 'task ' || t.id || ': organization ' || t.org_id || ', pipeline ' || t.pipeline_id || ', version ' || t.version_id || ' do not belong together'
			FROM tasks t WHERE t.id > $1 AND t.id <= $2 AND NOT EXISTS (SELECT FROM pipelines p JOIN pipeline_versions v ON v.pipeline_id = p.id
				WHERE p.id = t.pipeline_id AND p.org_id = t.org_id AND v.id = t.version_id)`,
	},
	{
		Name: "tenant-of-parts", Promise: "I11", Advice: adviceTenants,
		Says: "nodes, submissions, drafts and files of a task belong to the task's organization",
		sql: `SELECT t.id, 'task ' || t.id || ' of organization ' || t.org_id || ': ' || x.what || ' is of organization ' || x.org_id ||
				CASE WHEN x.pipeline_id <> t.pipeline_id THEN ' and pipeline ' || x.pipeline_id || ', not ' || t.pipeline_id ELSE '' END
			FROM tasks t JOIN (
				SELECT task_id, org_id, 'node ' || key AS what, pipeline_id FROM task_nodes WHERE task_id > $1 AND task_id <= $2
				UNION ALL SELECT task_id, org_id, 'submission under claim ' || claim_id, NULL FROM submissions WHERE task_id > $1 AND task_id <= $2
				UNION ALL SELECT task_id, org_id, 'draft of user ' || user_id, NULL FROM drafts WHERE task_id > $1 AND task_id <= $2
				UNION ALL SELECT task_id, org_id, 'file ' || id, NULL FROM task_files WHERE task_id > $1 AND task_id <= $2
			) x ON x.task_id = t.id
			WHERE t.id > $1 AND t.id <= $2 AND (x.org_id <> t.org_id OR x.pipeline_id <> t.pipeline_id)`,
	},
	{
		Name: "tenant-of-worker", Promise: "I11", Advice: adviceTenants,
		Says: "who claimed, holds, wrote or handed in work is or was a member of its organization",
		sql: `SELECT x.task_id, 'task ' || x.task_id || ' of organization ' || x.org_id || ': ' || x.what || coalesce(' by user ' || x.user_id || ', who never was a member', ' by nobody')
			FROM (SELECT task_id, org_id, claimed_by AS user_id, 'node ' || key || ' is held' AS what FROM task_nodes
					WHERE task_id > $1 AND task_id <= $2 AND claimed_by IS NOT NULL
				UNION ALL SELECT task_id, org_id, author, 'claim ' || claim_id || ' was handed in' FROM submissions WHERE task_id > $1 AND task_id <= $2
				UNION ALL SELECT task_id, org_id, user_id, 'a draft was written' FROM drafts WHERE task_id > $1 AND task_id <= $2
				UNION ALL SELECT e.task_id, t.org_id, e.actor, 'event ' || e.seq || ', a claim, was made' FROM task_events e JOIN tasks t ON t.id = e.task_id
					WHERE e.task_id > $1 AND e.task_id <= $2 AND e.kind = 'claim') x
			WHERE NOT EXISTS (SELECT FROM org_members m WHERE m.org_id = x.org_id AND m.user_id = x.user_id)`,
	},
	{
		Name: "tenant-of-file", Promise: "I11", Advice: adviceTenants,
		Says:  "a file belongs to the organization of its upload, and lies under that organization's keys",
		scope: ofWhole,
		sql: `SELECT NULL::bigint, 'file ' || f.id || ' of organization ' || f.org_id || ': key ' || f.object_key || ', upload ' || coalesce(f.upload_id::text, '-')
			FROM files f LEFT JOIN uploads u ON u.id = f.upload_id
			WHERE u.org_id <> f.org_id OR NOT starts_with(f.object_key, 'org/' || f.org_id || '/')
			UNION ALL SELECT task_id, 'file ' || id || ' of organization ' || org_id || ': key ' || object_key FROM task_files
			WHERE object_key IS NOT NULL AND NOT starts_with(object_key, 'org/' || org_id || '/')`,
	},
}
