package activities

import (
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/store"
)

// Like everything that enters a history, these carry ids, numbers, dates of rows
// and outcomes: no name of a file, no value, no message. Their JSON names are never
// changed or used for something else.

// UploadRef names the upload that an activity works on.
type UploadRef struct {
	UploadID string `json:"upload_id"`
}

// UploadProgress is how far an upload is.
type UploadProgress struct {
	// Over says that there is nothing more to do: the upload is not processed,
	// because its archive cannot be used or by somebody's word.
	Over   bool   `json:"over,omitempty"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Done says that every row is done.
	Done       bool  `json:"done,omitempty"`
	RowsTotal  int   `json:"rows_total"`
	RowsDone   int   `json:"rows_done"`
	Created    int   `json:"created"`
	Failed     int   `json:"failed"`
	BytesTotal int64 `json:"bytes_total"`
	BytesDone  int64 `json:"bytes_done"`
}

func progress(u store.Upload) UploadProgress {
	return UploadProgress{
		Over: u.Status != store.UploadProcessing, Status: u.Status, Reason: u.Reason,
		RowsTotal: u.RowsTotal, RowsDone: u.RowsDone, Created: u.SuccessCount, Failed: u.ErrorCount,
		BytesTotal: u.BytesTotal, BytesDone: u.BytesDone,
	}
}

// FinishUploadInput says how an upload ends; without a reason its counts
// decide.
type FinishUploadInput struct {
	UploadID string `json:"upload_id"`
	Reason   string `json:"reason,omitempty"`
}

// FinishUploadResult is how an upload has ended.
type FinishUploadResult struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Created int    `json:"created"`
	Failed  int    `json:"failed"`
}

// SweepResult counts what a sweep did.
type SweepResult struct {
	Expired int `json:"expired"`
	Swept   int `json:"swept"`
	Rung    int `json:"rung"`
	// Failed is how often it passed over something that it could not delete.
	Failed int `json:"failed,omitempty"`
}

// SweepProgress is how far a sweep is, which its heartbeats carry to its next attempt.
type SweepProgress struct {
	Done    SweepResult `json:"done"`
	Uploads SweepPlace  `json:"uploads"`
	Files   SweepPlace  `json:"files"`
}

// SweepPlace is how far a sweep is in what is left of one kind.
type SweepPlace struct {
	// Due and ID are those of what was tried last; the zero ones are before all.
	Due time.Time `json:"due,omitzero"`
	ID  uuid.UUID `json:"id"`
	// Through says that the sweep has been at the end. It begins anew at the front,
	// while it is not through with the other kind.
	Through bool `json:"through,omitempty"`
}
