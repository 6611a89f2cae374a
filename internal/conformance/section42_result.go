package conformance

import (
	"fmt"
	"net/http"
	"slices"
)

func uploadResultChecks() []Check {
	return []Check{
		{
			ID: "2-upload-result", Section: "2", Sentence: "A completed upload response carries success_count, error_count, per-row errors and task_ids.",
			Does: "ingest an archive of one file", needs: []need{needFile},
			run: func(c *C) {
				a := c.ingest(c.FileWorkflow, nil, zipOf("a.txt"))
				v := a.object(c)
				c.has(a, "", v, "success_count", integer)
				c.has(a, "", v, "error_count", integer)
				c.has(a, "", v, "errors", array)
				c.has(a, "", v, "task_ids", array)
			},
		}, {
			ID: "4.2.1-files", Section: "4.2",
			Sentence: "with a single file_upload field, each top-level file becomes one task and is assigned to that field",
			Does:     "ingest an archive of three files", needs: []need{needFile},
			run: func(c *C) {
				a := c.ingest(c.FileWorkflow, nil, zipOf("a.txt", "b.txt", "c.txt"))
				c.equal(a, "success_count", 3, a.object(c)["success_count"])
				c.equal(a, "error_count", 0, a.object(c)["error_count"])
			},
		}, {
			ID: "4.2.1-folders", Section: "4.2", Sentence: "with several file_upload fields, each top-level folder becomes one task",
			Does: "ingest an archive of two folders with a file for each field", needs: []need{needFolder},
			run: func(c *C) {
				files := c.fileFields(c.FolderWorkflow)
				a := c.ingest(c.FolderWorkflow, nil, zipOf(append(folder("one", files), folder("two", files)...)...))
				c.equal(a, "success_count", 2, a.object(c)["success_count"])
				c.equal(a, "error_count", 0, a.object(c)["error_count"])
			},
		}, {
			ID: "4.2.1-by-name", Section: "4.2", Sentence: "… and the files inside are matched to fields by name",
			Does: "ingest a whole folder and one without the file of a required field: that row has an error", needs: []need{needFolder},
			run: matchByName,
		}, {
			ID: "4.2-tasks", Section: "4.2", Sentence: "JSON with optional tasks array (files with paths relative to the ZIP root)",
			Does: "init with two tasks, ingest their files", needs: []need{needMixed},
			run: func(c *C) {
				a := c.ingest(c.MixedWorkflow, batch(c.mixedItem("a.txt"), c.mixedItem("deep/b.txt")), zipOf("a.txt", "deep/b.txt"))
				c.equal(a, "success_count", 2, a.object(c)["success_count"])
				c.equal(a, "error_count", 0, a.object(c)["error_count"])
			},
		}, {
			ID: "4.2-task-ids", Section: "4.2", Sentence: "on completion includes … task_ids",
			Does: "ingest an archive of two files and GET each task", needs: []need{needFile},
			run: func(c *C) {
				a := c.ingest(c.FileWorkflow, nil, zipOf("a.txt", "b.txt"))
				ids := numbers(a.object(c)["task_ids"])
				c.equal(a, "length of task_ids", 2, len(ids))
				for _, id := range ids {
					c.status(c.get(in(c.FileWorkflow, fmt.Sprintf("/tasks/%d", id))), http.StatusOK)
				}
			},
		}, {
			ID: "4.2-mixed-errors", Section: "2",
			Sentence: "The array can mix pre-validation failures (unknown or missing fields) and later seeding failures.",
			Does:     "ingest a good task, one with an unknown field, and one whose file is not in the archive", needs: []need{needMixed},
			run: mixErrors,
		},
	}
}

func matchByName(c *C) {
	files := c.fileFields(c.FolderWorkflow)
	missing := slices.IndexFunc(files, func(f field) bool { return f.Required })
	if missing < 0 || len(files) < 2 {
		c.skip("needs --folder-workflow with two fields, one of them required")
	}
	name := files[missing].Name
	paths := folder("a-whole", files)
	for i, path := range folder("b-part", files) {
		if i != missing {
			paths = append(paths, path)
		}
	}
	a := c.ingest(c.FolderWorkflow, nil, zipOf(paths...))
	v := a.object(c)
	c.equal(a, "success_count", 1, v["success_count"])
	c.equal(a, "error_count", 1, v["error_count"])
	c.itemError(a, 1, name)
}

func mixErrors(c *C) {
	file := c.fileFields(c.MixedWorkflow)[0].Name
	a := c.ingest(c.MixedWorkflow,
		batch(c.mixedItem("a.txt"), plus(c.mixedItem("a.txt"), unknownField), c.mixedItem("absent.txt")), zipOf("a.txt"))
	v := a.object(c)
	c.equal(a, "success_count", 1, v["success_count"])
	c.equal(a, "error_count", 2, v["error_count"])
	c.itemError(a, 1, unknownField)
	c.itemError(a, 2, file)
}
