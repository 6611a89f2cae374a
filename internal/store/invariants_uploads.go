package store

// rowsOfUploads counts the rows of the uploads with $1 < id <= $2, by their state.
const rowsOfUploads = `(SELECT upload_id, count(*) AS n, count(*) FILTER (WHERE status = 'created') AS created,
		count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'waiting') AS waiting
	FROM upload_rows WHERE upload_id > $1 AND upload_id <= $2 GROUP BY upload_id)`

// uploadInvariants are promise I5: at most one task for each row of an upload
// and of a creation under an Idempotency-Key, and counts that are those of the
// rows.
var uploadInvariants = []Invariant{
	{
		Name: "row-made-task", Promise: "I5", Advice: adviceRestore,
		Says:  "every row of an upload that succeeded made a task, which is there, in the upload's pipeline",
		scope: ofUploads,
		sql: `SELECT r.task_id, 'upload ' || r.upload_id || ' row ' || r.row_index || ': task ' || r.task_id || ' is not there'
			FROM upload_rows r JOIN uploads u ON u.id = r.upload_id
			WHERE r.upload_id > $1 AND r.upload_id <= $2 AND r.status = 'created' AND NOT EXISTS (
				SELECT FROM tasks t WHERE t.id = r.task_id AND t.org_id = u.org_id AND t.pipeline_id = u.pipeline_id)`,
	},
	{
		// The duplicates come first, and words are made of those alone: rows are as many as tasks.
		Name: "task-of-one-row", Promise: "I5", Advice: adviceIncident,
		Says:  "a task came from at most one row of one upload",
		scope: ofWhole,
		sql: `SELECT task_id, 'task ' || task_id || ': made by ' || string_agg('upload ' || upload_id || ' row ' || row_index, ' and ')
			FROM upload_rows WHERE task_id IN (
				SELECT task_id FROM upload_rows WHERE task_id IS NOT NULL GROUP BY task_id HAVING count(*) > 1)
			GROUP BY task_id`,
	},
	{
		// Two tasks of one row show by their files alone: the row names the one. What they
		// came from is looked up file by file, as for values-name-files, and the rows of
		// those uploads once.
		Name: "task-has-row", Promise: "I5", Advice: adviceIncident,
		Says: "a task that was seeded with a file of an upload was made by a row of it",
		sql: `WITH ` + fileFieldsSQL + `, named AS (
				SELECT DISTINCT t.id AS task_id, x.value #>> '{}' AS file
				FROM fields f JOIN tasks t USING (version_id), jsonb_path_query(t.input -> f.name, '$.file_id') AS x(value)
				WHERE t.id > $1 AND t.id <= $2
			), seeded AS MATERIALIZED (
				SELECT DISTINCT task_id, (SELECT f.upload_id FROM files f WHERE f.id = ` + fileIDSQL + `) AS upload_id FROM named
			), made AS MATERIALIZED (
				SELECT upload_id, task_id FROM upload_rows
				WHERE upload_id = ANY (ARRAY(SELECT DISTINCT upload_id FROM seeded)) AND task_id > $1 AND task_id <= $2
			)
			SELECT s.task_id, 'task ' || s.task_id || ': has a file of upload ' || s.upload_id || ', but no row of that made it'
			FROM seeded s WHERE s.upload_id IS NOT NULL AND NOT EXISTS (
				SELECT FROM made m WHERE m.upload_id = s.upload_id AND m.task_id = s.task_id)`,
	},
	{
		// From the look into an archive on no row comes or goes, whatever becomes of the upload.
		Name: "upload-rows", Promise: "I5", Advice: adviceRestore + "; rows that never had their turn can be sent in a new upload",
		Says:  "an upload has as many rows as were found in it, and of one that is completed none waits",
		scope: ofUploads,
		sql: `SELECT NULL::bigint, 'upload ' || u.id || ' (' || u.status || '): ' || coalesce(r.n, 0) || ' of ' || u.rows_total || ' rows are there, ' ||
				coalesce(r.waiting, 0) || ' wait'
			FROM uploads u LEFT JOIN ` + rowsOfUploads + ` r ON r.upload_id = u.id
			WHERE u.id > $1 AND u.id <= $2 AND u.inspected_at IS NOT NULL
				AND (coalesce(r.n, 0) <> u.rows_total OR u.status = 'completed' AND coalesce(r.waiting, 0) > 0)`,
	},
	{
		// Where rows are missing, the counts are what is left to tell how many there
		// were: RepairUploads leaves those alone, and upload-rows names them.
		Name: "upload-counts", Promise: "I5", Heal: "taskloom repair uploads --apply",
		Says:  "success and errors of an upload whose rows are all there are those of its rows",
		scope: ofUploads,
		sql: `SELECT NULL::bigint, 'upload ' || u.id || ' (' || u.status || '): ' || u.success_count || ' created, ' || u.error_count || ' failed of ' || u.rows_total ||
				'; its rows say ' || coalesce(r.created, 0) || ', ' || coalesce(r.failed, 0) || ' of ' || coalesce(r.n, 0)
			FROM uploads u LEFT JOIN ` + rowsOfUploads + ` r ON r.upload_id = u.id
			WHERE u.id > $1 AND u.id <= $2 AND u.inspected_at IS NOT NULL AND u.rows_total = coalesce(r.n, 0)
				AND (u.success_count, u.error_count) IS DISTINCT FROM (coalesce(r.created, 0), coalesce(r.failed, 0))`,
	},
	{
		Name: "key-made-tasks", Promise: "I5", Advice: adviceRestore,
		Says:  "every task that was answered under an Idempotency-Key is there, and was answered under one only",
		scope: ofWhole,
		sql: `WITH told AS (
				SELECT k.api_key_id, a.org_id, k.key, x.id::bigint AS id FROM idempotency_keys k JOIN api_keys a ON a.id = k.api_key_id
				CROSS JOIN LATERAL json_array_elements_text(CASE WHEN json_typeof(k.answer -> 'task_ids') = 'array'
					THEN k.answer -> 'task_ids' ELSE '[]' END) AS x(id))
			SELECT id, 'task ' || id || ': answered under Idempotency-Key ' || left(key, 60) || ' of API key ' || api_key_id || ', but it is not there'
				FROM told WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = told.id AND t.org_id = told.org_id)
			UNION ALL SELECT id, 'task ' || id || ': answered under the Idempotency-Keys ' || string_agg(left(key, 60), ' and ')
				FROM told GROUP BY id HAVING count(*) > 1`,
	},
}
