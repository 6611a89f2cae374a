package workflows

import (
	"fmt"
	"strings"
)

// IngestQueue is where uploads are unpacked. Workers without an object store
// do not serve it.
const IngestQueue = "ingest"

// CancelSignal asks the run of an upload to stop. It carries nothing.
const CancelSignal = "cancel"

// SweepSchedule is the schedule of SweepUploads.
const SweepSchedule = "sweep-uploads"

// UploadRunID is the workflow id of an upload's run.
func UploadRunID(uploadID string) string { return "upload/" + uploadID }

// UploadSummary is the one line that names an upload's run in the Temporal UI.
func UploadSummary(uploadID string, pipelineID int64, pipelineName string) string {
	return short(fmt.Sprintf("upload %s · pipeline %d · %s", uploadID, pipelineID, strings.Join(strings.Fields(pipelineName), " ")))
}
