package main

import (
	"fmt"

	"github.com/stretchr/testify/require"
)

// valueSicknesses have values name files that are not there.
var valueSicknesses = []sickness{
	named("seeded", `UPDATE tasks SET input = '{"question": {"file_id": "`+noFile+`"}}' WHERE id = $1`,
		"field question was seeded with file "+noFile),
	named("one of several", `UPDATE submissions SET values = '{"answer": [{"file_id": "`+noFile+`"}]}' WHERE task_id = $1`, "with file "+noFile),
	named("no id", `UPDATE submissions SET values = '{"answer": {"file_id": "x"}}' WHERE task_id = $1`, "with file x, and"),
	{branch: "of another organization", make: func(w *ward) string {
		other := w.other().OrgID
		return w.handsIn(w.file(other, fmt.Sprintf("org/%d/files/x", other), nil))
	}},
	{branch: "of another task", make: func(w *ward) string {
		return w.handsIn(w.taskFile(w.OrgID, fmt.Sprintf("org/%d/files/x", w.OrgID)))
	}},
	{branch: "not complete", make: func(w *ward) string {
		id := w.taskFile(w.OrgID, fmt.Sprintf("org/%d/files/x", w.OrgID))
		w.exec(`UPDATE task_files SET task_id = $2 WHERE id = $1`, id, w.done)
		w.handsIn(id)
		require.Contains(w.t, section(w.t, w.deep().out, "values-name-files"), "ok  ", "a file of this task")
		w.exec(`UPDATE task_files SET completed_at = NULL WHERE id = $1`, id)
		return fmt.Sprintf("with file %s, and organization %d", id, w.OrgID)
	}},
}

// noFile is an id that no file has.
const noFile = "00000000-0000-4000-8000-000000000002"

// named has a value of the task that was handed in name a file that is not there.
func named(branch, sql, says string) sickness {
	return sickness{branch: branch, make: func(w *ward) string {
		w.takesFiles()
		w.exec(sql, w.done)
		return says
	}}
}
