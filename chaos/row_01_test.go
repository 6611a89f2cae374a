package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// TestRow01APIKilled kills the API by chance, and before and after the commits of
// what people and programs do, and of what admins do: to tasks and claims, to the load's
// pipeline, its people, keys and uploads, and in a project of their own. Everybody is there,
// as in a random run.
func TestRow01APIKilled(t *testing.T) {
	faults := []Fault{ServeKilled(targetA), ServeKilled(targetB), ServeKilled(targetBoth)}
	for _, at := range []failpoint{
		atCreation, atClaim, atDraft, atSubmission, atExtension, atRelease, atUndo,
		atBegin, atComplete, atInit, atConfirm, atCancel, atHold, atUnhold, atAside, atResolve, atPutBack, atPriority, atSave, atPublish,
		atAdmit, atDismiss, atPause, atResume, atFail, atNewKey, atExpiry, atRevoke,
		atRename, atNewPipeline, atRestore, atClose, atArchive, atInvite, atUninvite,
	} {
		faults = append(faults, KilledAtCommit(ofServe, pgproxy.Before, at, nil), KilledAtCommit(ofServe, pgproxy.After, at, nil))
	}
	RunRow(t, Row{
		Number: 1, Name: "API killed mid-command", Hold: time.Second, Faults: faults,
		Settings: func(s *Settings) { s.Load.everything() },
		Prepare: func(_ context.Context, r *Run) error {
			r.uploader = r.newUploader() // and admins come
			return nil
		},
	})
}
