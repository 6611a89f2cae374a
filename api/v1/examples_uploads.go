package v1

import (
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// The upload that the examples are about.
const (
	exampleUpload    = "0193f1c2-7a4e-7b31-9c55-2f8e1d6a4b90"
	exampleUploadURL = "https://storage.example.org/taskloom/org/7/uploads/" + exampleUpload +
		".zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=5f0c1d7e"
	exampleArchive = 4 << 20
)

func exampleScan(path string) any {
	return map[string]any{"fields": map[string]any{"question": "What does the sign say?", "scan": path}}
}

var initRequests = []example{
	{"with_tasks", "Two tasks, each with a file of the archive", map[string]any{
		"tasks": []any{exampleScan("scans/0001.png"), exampleScan("scans/0002.png")}, "file_size_bytes": exampleArchive,
	}},
}

// creatorRemoved is the answer to a key whose creator is gone (spec 5.6).
var creatorRemoved = examples{422: {failure("creator_removed", "The creator of the key was removed", fault.Validation,
	"the creator of this API key was removed from the organization, and ZIP uploads act in the creator's name; "+
		"revoke the key and have an active org admin create a new one")}}

var absentUpload = examples{404: {
	failure("no_such_upload", "No such upload in this workflow", fault.NotFound, "upload "+exampleUpload+" not found in workflow 12"),
	failure("upload_id_is_no_id", "The id in the path is none", fault.NotFound, "upload not found: upload_id in the path is a UUID"),
}}

// storeAway is the answer while the object store does not answer.
var storeAway = examples{503: {failure("storage_away", "The object store does not answer", fault.Unavailable,
	"the object store does not answer right now; try again")}}

var initAnswers = examples{
	202: {{"accepted", "PUT the archive to upload_url, then confirm", UploadStarted{
		UploadID: uuid.MustParse(exampleUpload), UploadURL: exampleUploadURL, ExpiresAt: exampleTime.Add(time.Hour), Status: "pending",
	}}},
	422: {
		{"every_task_failed", "No item can become a task", FailedResult{
			Error: string(fault.Validation),
			Message: `none of the 1 tasks could be created: every one has an error, the first is: tasks[0]: ` +
				`unknown field "qestion"; expected "question" or "scan"`,
			Result: Result{ErrorCount: 1, Errors: []seeding.ItemError{
				{FieldName: "qestion", Message: `unknown field "qestion"; expected "question" or "scan"`},
				{FieldName: "question", Message: `field "question" is required and missing`},
				{FieldName: "scan", Message: `field "scan" is required and missing`},
			}, TaskIDs: []int64{}},
		}},
		failure("tasks_required", "tasks is left out, but not all fields are file uploads", fault.Validation,
			"tasks is required: workflow 12 has fields that are no file uploads (has_only_file_upload_fields is false)"),
		failure("body_does_not_fit", "The body is not what the schema says", fault.Validation,
			`file_size_bytes must be a whole number of bytes, at least 1, got "4 MB"`),
		failure("workflow_takes_no_tasks", "The workflow is neither ACTIVE nor PAUSED", fault.Validation,
			"the workflow is COMPLETED; it must be ACTIVE or PAUSED to take tasks"),
		failure("needs_no_upload", "The workflow has no file upload fields", fault.Validation,
			"workflow 12 has no file upload fields (has_file_upload_fields is false); create its tasks from JSON"),
	},
}.with(largeBody, theKey, otherBody, creatorRemoved, absentWorkflow, keyed)

var confirmAnswers = examples{
	202: {{"processing", "Poll the upload until it has ended", UploadConfirmed{UploadID: uuid.MustParse(exampleUpload), Status: "processing"}}},
	409: {
		failure("confirmed_already", "It was confirmed before", fault.Conflict,
			"upload "+exampleUpload+" was confirmed already and is processing; poll its status"),
		failure("no_longer_pending", "It has ended", fault.Conflict,
			"upload "+exampleUpload+" is cancelled and no longer pending; make a new upload for more tasks"),
	},
	422: {
		failure("not_stored", "The archive is not stored yet", fault.Validation,
			"the archive is not stored yet: PUT it to upload_url with Content-Type: application/zip, then confirm again"),
		failure("empty", "The stored archive is empty", fault.Validation, "the stored archive is empty: PUT it to upload_url again, then confirm"),
		failure("workflow_takes_no_tasks", "The workflow is no longer ACTIVE or PAUSED; the upload stays pending", fault.Validation,
			"the workflow is COMPLETED; it must be ACTIVE or PAUSED to take tasks"),
		failure("stored_too_large", "The stored archive is too large", fault.Validation,
			"the stored archive has 6000000000 bytes, 5368709120 are the most; PUT a smaller one to upload_url, then confirm, and send the rest in another upload"),
	},
	503: {failure("no_worker", "No worker can take the upload; it stays pending", fault.Unavailable,
		"no worker can take the upload right now; it stays pending, try again")},
}.with(theKey, creatorRemoved, absentUpload, storeAway, keyed)

func exampleStatusOfUpload(status string, change func(u *Upload)) Upload {
	u := Upload{
		UploadID: uuid.MustParse(exampleUpload), Status: status,
		CreatedAt: exampleTime, UpdatedAt: exampleTime.Add(time.Minute), ExpiresAt: exampleTime.Add(time.Hour),
	}
	change(&u)
	return u
}

// ended fills in what an ended upload has.
func ended(u *Upload, created []int64, errs []seeding.ItemError) {
	u.SuccessCount, u.TaskIDs = new(len(created)), created
	u.ErrorCount, u.Errors = new(len(errs)), errs
	u.SkippedCount, u.Skipped = new(0), []store.UploadSkip{}
}

var uploadAnswers = examples{200: {
	{"pending", "The archive is awaited", exampleStatusOfUpload("pending", func(*Upload) {})},
	{"processing", "Tasks are being made: ask again after Retry-After", exampleStatusOfUpload("processing", func(u *Upload) {
		u.Progress = &Progress{RowsTotal: 2, RowsDone: 1, BytesTotal: exampleArchive, BytesDone: exampleArchive / 2}
	})},
	{"completed", "At least one task was created", exampleStatusOfUpload("completed", func(u *Upload) {
		u.Progress = &Progress{RowsTotal: 2, RowsDone: 2, BytesTotal: exampleArchive, BytesDone: exampleArchive / 2}
		ended(u, []int64{exampleTask}, []seeding.ItemError{
			{Index: 1, FieldName: "scan", Message: `the archive has no file "scans/0002.png"`},
		})
		u.SkippedCount, u.Skipped = new(1), []store.UploadSkip{{Entry: "__MACOSX/._0001.png", Reason: "archive litter"}}
	})},
	{"failed", "The archive cannot be used, or every row failed: message and errors say why", exampleStatusOfUpload("failed", func(u *Upload) {
		u.Message = "the file is not a ZIP, or was cut off: put the files into a ZIP and upload it whole"
		u.Progress = &Progress{RowsTotal: 2}
		ended(u, []int64{}, []seeding.ItemError{})
	})},
	{"not_confirmed_in_time", "It was not confirmed in time, or cancelled in the web app", exampleStatusOfUpload("cancelled", func(u *Upload) {
		u.Message = "the upload was not confirmed before its upload_url expired"
		ended(u, []int64{}, []seeding.ItemError{})
	})},
}}.with(creatorRemoved, absentUpload, keyed)
