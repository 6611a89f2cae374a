package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// ofEach is how many rows everything has that the plans of the check are looked at with.
const ofEach = 2000

// TestQuestionsArePlannedForAllThereIs has no plan of the check, neither one for its
// values nor the one that is kept for all, that holds each row of a table against each of
// another: of such a plan one node passes half of ofEach * ofEach rows at least.
func TestQuestionsArePlannedForAllThereIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(ofEach)
	b.handedIn()
	b.uploaded()
	b.administered()
	b.exec(`ANALYZE`)
	for _, inv := range store.InvariantList() {
		sql, args := store.InvariantQuestion(inv.Name)
		if sql == "" {
			continue
		}
		for kind, plan := range map[string]planNode{"values": b.explain(sql, args...), "kept": b.explainGeneric(sql, args...)} {
			plan.walk(func(n planNode) {
				require.LessOrEqual(t, n.Rows*n.Loops, 15.0*ofEach, "%s, plan for %s: %s of %s", inv.Name, kind, n.Type, n.Table)
			})
		}
	}
}

// handedIn has every task claimed, handed in with a file that it was seeded with and one
// of its author, and claimed again, and a draft of it.
func (b *bench) handedIn() {
	b.t.Helper()
	b.takesFiles()
	b.exec(`UPDATE tasks SET seq = 4, applied_seq = 4, input = jsonb_build_object('question', jsonb_build_object('file_id', gen_random_uuid()))`)
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, values)
		SELECT gen_random_uuid(), org_id, id, 'solve', 1, $1, 3, jsonb_build_object('doubt', jsonb_build_object('file_id', gen_random_uuid())) FROM tasks`,
		b.Contributors[0])
	b.exec(`UPDATE task_nodes SET status = 'claimed', iteration = 2, claim_id = gen_random_uuid(), claimed_by = $1, lease_expires_at = now() + interval '1 hour',
		last_seq = 4 WHERE key = 'solve'`, b.Contributors[0])
	b.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id)
		SELECT s.task_id, e.seq, e.kind, s.node_key, e.iteration, s.author, CASE e.iteration WHEN 1 THEN s.claim_id ELSE n.claim_id END
		FROM submissions s JOIN task_nodes n ON n.task_id = s.task_id AND n.key = s.node_key,
			(VALUES (2, 'claim', 1), (3, 'submit', 1), (4, 'claim', 2)) AS e(seq, kind, iteration)`)
	b.exec(`INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision) SELECT id, 'solve', $1, org_id, '{}', 1 FROM tasks`, b.Contributors[0])
	b.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, object_key, sha256, content_type, completed_at)
		SELECT (values #>> '{doubt,file_id}')::uuid, org_id, task_id, 'solve', 'doubt', author, 'x', 'a', 3, '', 'org/' || org_id || '/' || claim_id, '', '', now()
		FROM submissions`)
}

// uploaded has every task come of a row of an upload of its own, and of a call under a
// key of its own.
func (b *bench) uploaded() {
	b.t.Helper()
	b.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, object_key, derived, status, rows_total, rows_done, success_count, inspected_at, finished_at, expires_at)
		SELECT lpad(to_hex(id), 32, '0')::uuid, org_id, pipeline_id, $1, 'x', false, 'completed', 1, 1, 1, now(), now(), now() FROM tasks`, b.Admin)
	b.exec(`INSERT INTO upload_rows (upload_id, row_index, status, task_id) SELECT lpad(to_hex(id), 32, '0')::uuid, 0, 'created', id FROM tasks`)
	b.exec(`INSERT INTO files (id, org_id, upload_id, object_key, name, size, sha256, content_type)
		SELECT (input #>> '{question,file_id}')::uuid, org_id, lpad(to_hex(id), 32, '0')::uuid, 'org/' || org_id || '/' || id, 'a', 3, '', '' FROM tasks`)
	b.exec(`INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer)
		SELECT $1, 'POST /x', id, '', 201, json_build_object('task_ids', json_build_array(id)) FROM tasks`, b.KeyID)
}

// administered has people, projects, pipelines, invites, keys and datasets, with the rows
// of the audit log that say so, and tasks with a priority.
func (b *bench) administered() {
	b.t.Helper()
	audited := func(action, object, detail, from string) {
		b.t.Helper()
		b.exec(`INSERT INTO audit_log (org_id, actor, action, object, detail) SELECT org_id, NULL, '` + action + `', ` + object + `, ` + detail + ` FROM ` + from)
	}
	b.exec(`WITH u AS (INSERT INTO users (email, name, password_hash) SELECT 'p' || i || '@crowd.test', 'p', 'x' FROM generate_series(1, $2::int) i RETURNING id)
		INSERT INTO org_members (org_id, user_id, role) SELECT $1, id, 'member' FROM u`, b.OrgID, ofEach)
	audited("member.set", `'user/' || user_id`, `jsonb_build_object('role', role)`, "org_members")
	b.exec(`INSERT INTO projects (org_id, name) SELECT $1, 'p' || i FROM generate_series(1, $2::int) i`, b.OrgID, ofEach)
	audited("project.create", `'project/' || id`, `jsonb_build_object('name', name)`, "projects")
	b.exec(`INSERT INTO project_members (org_id, project_id, user_id, role)
		SELECT org_id, $1, user_id, 'contributor' FROM org_members ON CONFLICT DO NOTHING`, b.ProjectID)
	audited("project.member", `'project/' || project_id`, `jsonb_build_object('user', user_id, 'role', role)`, "project_members")
	b.exec(`INSERT INTO pipelines (org_id, project_id, name, draft) SELECT org_id, project_id, 'p' || i, draft FROM pipelines, generate_series(1, $1::int) i`, ofEach)
	b.exec(`INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) SELECT org_id, id, 1, draft FROM pipelines WHERE version_id IS NULL`)
	audited("pipeline.create", `'pipeline/' || id`, `'{}'`, "pipelines")
	audited("pipeline.publish", `'pipeline/' || id`, `jsonb_build_object('to', status)`, "pipelines")
	b.exec(`INSERT INTO invites (org_id, email, hash, role, invited_by, expires_at, revoked_at)
		SELECT $1, 'i' || i || '@crowd.test', decode(lpad(to_hex(i), 64, '0'), 'hex'), 'member', $2, now(), now() + i * interval '1 second'
		FROM generate_series(1, $3::int) i`, b.OrgID, b.Admin, ofEach)
	audited("invite.create", `'invite/' || id`, `'{}'`, "invites")
	b.exec(`INSERT INTO audit_log (org_id, action, object, created_at) SELECT org_id, 'invite.revoke', 'invite/' || id, revoked_at FROM invites`)
	b.exec(`INSERT INTO api_keys (org_id, name, hash, last4, created_by, revoked_at)
		SELECT $1, 'k' || i, decode(lpad(to_hex(i), 64, '0'), 'hex'), 'last', $2, now() FROM generate_series(1, $3::int) i`, b.OrgID, b.Admin, ofEach)
	audited("key.create", `'key/' || id`, `'{}'`, "api_keys")
	audited("key.revoke", `'key/' || id`, `'{}'`, "api_keys")
	b.exec(`WITH d AS (INSERT INTO datasets (org_id, name, columns) SELECT $1, 'd' || i, '{a}' FROM generate_series(1, $2::int) i RETURNING id)
		INSERT INTO dataset_rows (dataset_id, position, data) SELECT id, 0, '{}' FROM d`, b.OrgID, ofEach)
	audited("dataset.set", `'dataset/' || id`, `'{"rows": 1}'`, "datasets")
	b.exec(`UPDATE tasks SET priority = 1`)
	audited("task.priority", `'task/' || id`, `'{"to": 1}'`, "tasks")
	b.exec(`UPDATE uploads SET cancel_by = $1`, b.Admin)
	audited("upload.cancel", `'upload/' || id`, `'{}'`, "uploads")
}
