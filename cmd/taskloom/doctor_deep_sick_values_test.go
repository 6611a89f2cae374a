package main

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// valueSicknesses have values name files that are not there.
var valueSicknesses = []sickness{
	{branch: "seeded", make: func(w *ward) string { return w.seeded(uuid.New()) }},
	{branch: "seeded, of another organization", make: func(w *ward) string {
		other := w.other().OrgID
		return w.seeded(w.file(other, filesKey(other), nil))
	}},
	{branch: "seeded, of a person", make: func(w *ward) string { return w.seeded(w.personsFile()) }},
	{branch: "handed in", make: func(w *ward) string { return w.handedIn(uuid.New()) }},
	{branch: "handed in, of an archive", make: func(w *ward) string { return w.handedIn(w.file(w.OrgID, filesKey(w.OrgID), nil)) }},
	{branch: "one of several", make: func(w *ward) string {
		w.takesFiles()
		good, gone := w.personsFile(), uuid.New()
		w.exec(`UPDATE submissions SET values = jsonb_build_object('answer', jsonb_build_array(
			jsonb_build_object('file_id', $2::text), jsonb_build_object('file_id', $3::text))) WHERE task_id = $1`, w.done, good, gone)
		return noSuchFile(w, gone.String())
	}},
	{branch: "no id", make: func(w *ward) string {
		w.takesFiles()
		w.exec(`UPDATE submissions SET values = '{"answer": {"file_id": "x"}}' WHERE task_id = $1`, w.done)
		return noSuchFile(w, "x")
	}},
	strange("of another organization", func(w *ward) string { return fmt.Sprintf("org_id = %d", w.other().OrgID) }),
	strange("of another task", func(w *ward) string { return fmt.Sprintf("task_id = %d", w.free) }),
	strange("of another field", func(*ward) string { return "field = 'sure'" }),
	strange("not complete", func(*ward) string { return "completed_at = NULL" }),
}

// TestSoundFilesAccuseNobody has files where they belong, and what only looks like one.
func TestSoundFilesAccuseNobody(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	id := w.upload(w.done)
	w.seeded(w.file(w.OrgID, filesKey(w.OrgID), &id))
	w.handedIn(w.personsFile())
	// sure is a field of free JSON here, a draft is nobody's last word, and null is no file.
	w.exec(`UPDATE submissions SET values = values || '{"sure": {"file_id": "x"}, "doubt": null}' WHERE task_id = $1`, w.done)
	w.exec(`INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision)
		VALUES ($1, 'solve', $2, $3, '{"answer": {"file_id": "x"}}', 1)`, w.free, w.Contributors[0], w.OrgID)
	out := w.deep().out
	require.Contains(t, section(t, out, "values-name-files"), "ok  ")
	require.Contains(t, section(t, out, "task-has-row"), "ok  ")
}

// strange has a file that was handed in be another one than it was.
func strange(branch string, set func(w *ward) string) sickness {
	return sickness{branch: branch, make: func(w *ward) string {
		id := w.personsFile()
		says := w.handedIn(id)
		w.exec(`UPDATE task_files SET `+set(w)+` WHERE id = $1`, id)
		return says
	}}
}

// takesFiles makes the question and the answer of the pipeline fields of files, and
// what was yes or no one of free JSON.
func (w *ward) takesFiles() {
	w.t.Helper()
	w.exec(`ALTER TABLE pipeline_versions DISABLE TRIGGER USER`) // a published version is immutable
	w.exec(`UPDATE pipeline_versions SET definition = regexp_replace(replace(definition::text, '"type": "boolean"', '"type": "json"'),
		'"type": "[a-z]+_text"', '"type": "file_upload"', 'g')::jsonb`)
}

// personsFile is a file that was uploaded for the answer of the task that was handed in.
func (w *ward) personsFile() uuid.UUID {
	w.t.Helper()
	id := w.taskFile(w.OrgID, filesKey(w.OrgID))
	w.exec(`UPDATE task_files SET task_id = $2 WHERE id = $1`, id, w.done)
	return id
}

// seeded has the task that was handed in begin with a file, and returns what the
// doctor says when it is not there.
func (w *ward) seeded(file uuid.UUID) string {
	w.t.Helper()
	w.takesFiles()
	w.exec(`UPDATE tasks SET input = jsonb_build_object('question', jsonb_build_object('file_id', $2::text)) WHERE id = $1`, w.done, file)
	return "field question was seeded with" + noSuchFile(w, file.String())
}

// handedIn has its submission name a file, and returns what the doctor says when it
// is not there.
func (w *ward) handedIn(file uuid.UUID) string {
	w.t.Helper()
	w.takesFiles()
	w.exec(`UPDATE submissions SET values = jsonb_build_object('answer', jsonb_build_object('file_id', $2::text)) WHERE task_id = $1`, w.done, file)
	return " with" + noSuchFile(w, file.String())
}

func noSuchFile(w *ward, id string) string {
	return fmt.Sprintf(" file %s, and organization %d has no such file for it", id, w.OrgID)
}

// filesKey is one that an organization's files may have.
func filesKey(org int64) string { return fmt.Sprintf("org/%d/files/x", org) }
