package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/store"
)

// ends are the ends that a run gives an upload, by their reason.
var ends = map[string]store.UploadEnd{
	store.UploadStopped: {
		Status: store.UploadCancelled, Reason: store.UploadStopped,
		Message: "the upload was cancelled while it was processed; the tasks made until then stay",
	},
	store.UploadOperator: {
		Status: store.UploadCancelled, Reason: store.UploadOperator,
		Message: "an operator ended the processing; the tasks made until then stay",
	},
	store.UploadTimeout: {
		Status: store.UploadFailed, Reason: store.UploadTimeout,
		Message: "the upload was not done within 24 hours; the tasks made until then stay, send the other rows in a new upload",
	},
	store.UploadArchive: {
		Status: store.UploadFailed, Reason: store.UploadArchive,
		Message: "the archive could not be processed; the tasks made until then stay, and the operator's log says what went wrong",
	},
}

// FinishUpload ends an upload. One that has ended stays as it is, and so does one of
// which the counts cannot decide yet: the run ends without it, and the upload is rung
// into another (store.RingStuckUploads).
//
// Its archive stays, however it ends: a restore, or a failover to a standby that had
// not heard of the end and of the last rows, has the upload processed again. The sweep
// deletes it (store.UploadsToSweep).
func (a *Uploads) FinishUpload(ctx context.Context, in FinishUploadInput) (FinishUploadResult, error) {
	id, err := parseUpload(in.UploadID)
	if err != nil {
		return FinishUploadResult{}, outwardOf(ctx, err)
	}
	u, err := a.Store.FinishUpload(ctx, id, ends[in.Reason])
	if err != nil {
		return FinishUploadResult{}, outwardOf(ctx, err)
	}
	return FinishUploadResult{Status: u.Status, Reason: u.Reason, Created: u.SuccessCount, Failed: u.ErrorCount}, nil
}

// refuse ends an upload whose archive cannot be used; it stays all the same, so that
// another look says the same. The message goes to Postgres from here, since histories
// carry none.
func (a *Uploads) refuse(ctx context.Context, u store.Upload, why *unusable) (UploadProgress, error) {
	ended, err := a.Store.FinishUpload(ctx, u.ID, store.UploadEnd{
		Status: store.UploadFailed, Reason: store.UploadArchive, Message: why.message,
	})
	if err != nil {
		return UploadProgress{}, err
	}
	return progress(ended), nil
}
