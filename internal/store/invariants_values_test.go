package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// TestFilesOfValuesAreLookedUpByTheirIDs has a check of few tasks read few files,
// however many there are.
func TestFilesOfValuesAreLookedUpByTheirIDs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const tasks, files = 200, 50_000
	ids := b.create(tasks)
	b.takesFiles()
	b.exec(`UPDATE tasks SET input = jsonb_build_object('question', jsonb_build_object('file_id', gen_random_uuid()))`)
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, values)
		SELECT gen_random_uuid(), org_id, id, 'solve', 1, $1, 2, jsonb_build_object('doubt', jsonb_build_object('file_id', gen_random_uuid())) FROM tasks`,
		b.Contributors[0])
	b.exec(`INSERT INTO files (id, org_id, object_key, name, size, sha256, content_type)
		SELECT gen_random_uuid(), $1, 'org/x/' || n, 'a', 3, '', '' FROM generate_series(1, $2::int) n`, b.OrgID, files)
	b.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, object_key, sha256, content_type, completed_at)
		SELECT gen_random_uuid(), $1, $2, 'solve', 'doubt', $3, 'x', 'a', 3, '', 'org/y/' || n, '', '', now() FROM generate_series(1, $4::int) n`,
		b.OrgID, ids[0], b.Contributors[0], files)
	b.exec(`ANALYZE`)

	plan := b.explain(store.InvariantSQL("values-name-files"), ids[0]-1, ids[tasks-1])
	require.InDelta(t, 2*tasks, plan.Rows*plan.Loops, 0, "none of the files is there")
	looked := 0.0
	plan.walk(func(n planNode) {
		if n.Table == "files" || n.Table == "task_files" {
			require.NotEqual(t, "Seq Scan", n.Type, "of %s", n.Table)
			looked += n.Loops
		}
	})
	require.InDelta(t, 2*tasks, looked, 0, "one look for each value")
}

// takesFiles makes the long texts of the pipeline fields of files.
func (b *bench) takesFiles() {
	b.t.Helper()
	b.exec(`ALTER TABLE pipeline_versions DISABLE TRIGGER USER`) // a published version is immutable
	b.exec(`UPDATE pipeline_versions SET definition = replace(definition::text, '"type": "long_text"', '"type": "file_upload"')::jsonb`)
}
