package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"
)

// phase is what a run is at.
type phase string

const (
	inspecting phase = "inspecting"
	ingesting  phase = "ingesting"
	finishing  phase = "finishing"
)

// UploadView is the answer of StateQuery for an upload. Its counts are those of
// the last step; Postgres has the present ones.
type UploadView struct {
	Phase      string `json:"phase"`
	Status     string `json:"status"`
	Reason     string `json:"reason,omitempty"`
	RowsTotal  int    `json:"rows_total"`
	RowsDone   int    `json:"rows_done"`
	Created    int    `json:"created"`
	Failed     int    `json:"failed"`
	BytesTotal int64  `json:"bytes_total"`
	BytesDone  int64  `json:"bytes_done"`
}

func (r *uploadRun) view() UploadView {
	v := UploadView{
		Phase: string(r.at), Status: r.is.Status, Reason: r.is.Reason, RowsTotal: r.is.RowsTotal, RowsDone: r.is.RowsDone,
		Created: r.is.Created, Failed: r.is.Failed, BytesTotal: r.is.BytesTotal, BytesDone: r.is.BytesDone,
	}
	if r.reason != "" {
		v.Reason = r.reason
	}
	return v
}

func (r *uploadRun) answerQueries(ctx workflow.Context) error {
	return workflow.SetQueryHandlerWithOptions(ctx, StateQuery, func() (UploadView, error) { return r.view(), nil },
		workflow.QueryHandlerOptions{Description: "Where the upload stands: what the run is at, rows and bytes as of its last step."})
}

// enter shows an operator where the run is.
func (r *uploadRun) enter(ctx workflow.Context, p phase) {
	r.at = p
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("upload %s\n\n**%s**: %d of %d rows, %d tasks created, %d rows failed, %d of %d bytes\n",
		r.id, p, r.is.RowsDone, r.is.RowsTotal, r.is.Created, r.is.Failed, r.is.BytesDone, r.is.BytesTotal))
}
