package store

const (
	// fileFieldsSQL is which fields are files, by the versions of the tasks with
	// $1 < id <= $2: an object with a file_id in a field of free JSON is no file.
	fileFieldsSQL = `fields AS MATERIALIZED (
			SELECT DISTINCT v.id AS version_id, f.value->>'name' AS name
			FROM pipeline_versions v, jsonb_path_query(v.definition, '$.nodes[*].fields[*] ? (@.type == "file_upload")') AS f(value)
			WHERE v.id IN (SELECT version_id FROM tasks WHERE id > $1 AND id <= $2)
		)`
	// fileIDSQL is the id in a value named file: what is no uuid is no file's id, and
	// cannot be compared with one.
	fileIDSQL = `CASE WHEN file ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' THEN file::uuid END`
)

// valueInvariants are promise I8 where the database shows it: a value that names a
// file names one that is there. Whether the object of that file is whole is asked
// of the object store (ReferencedFiles).
var valueInvariants = []Invariant{{
	Name: "values-name-files", Promise: "I8",
	Advice: adviceRestore + "; where the file is there, but of another organization: " + adviceTenants,
	Says:   "a file that a task was seeded with came in an upload of its organization; one that somebody handed in was uploaded for that task and field",
	// $.file_id reads one file and each of several. A subquery for each id, not a
	// join: how many ids there are is beyond any estimate, and a join would read all
	// files for each chunk of tasks.
	sql: `WITH ` + fileFieldsSQL + `, named AS (
			SELECT t.id AS task_id, t.org_id, f.name, true AS seeded, 'was seeded with' AS how, x.value #>> '{}' AS file
			FROM fields f JOIN tasks t USING (version_id), jsonb_path_query(t.input -> f.name, '$.file_id') AS x(value)
			WHERE t.id > $1 AND t.id <= $2
			UNION ALL
			SELECT t.id, t.org_id, f.name, false, 'was handed in under claim ' || s.claim_id || ' with', x.value #>> '{}'
			FROM fields f JOIN tasks t USING (version_id) JOIN submissions s ON s.task_id = t.id AND s.task_id > $1 AND s.task_id <= $2,
				jsonb_path_query(s.values -> f.name, '$.file_id') AS x(value)
			WHERE t.id > $1 AND t.id <= $2
		), ids AS (
			SELECT *, ` + fileIDSQL + ` AS id FROM named
		)
		SELECT task_id, 'task ' || task_id || ': field ' || name || ' ' || how || ' file ' || coalesce(file, '-') ||
			', and organization ' || org_id || ' has no such file for it'
		FROM ids i WHERE CASE WHEN seeded THEN (SELECT true FROM files f WHERE f.id = i.id AND f.org_id = i.org_id)
			ELSE (SELECT true FROM task_files f WHERE f.id = i.id AND f.org_id = i.org_id AND f.task_id = i.task_id
				AND f.field = i.name AND f.completed_at IS NOT NULL) END IS NOT TRUE`,
}}
