package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// TestRow01APIKilled kills the API by chance, and before and after the commits of
// what people and programs do, of what admins hold, fail, resolve, publish, grant and pause, and of the
// beginning and the completion of files that people upload. Everybody is there, as in a random run.
func TestRow01APIKilled(t *testing.T) {
	faults := []Fault{ServeKilled(targetA), ServeKilled(targetB), ServeKilled(targetBoth)}
	for _, at := range []failpoint{
		atCreation, atClaim, atDraft, atSubmission, atExtension, atRelease, atUndo,
		atBegin, atComplete, atInit, atConfirm, atHold, atUnhold, atResolve, atPublish, atAdmit, atDismiss, atPause, atResume, atFail,
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
