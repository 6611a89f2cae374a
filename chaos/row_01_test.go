package chaos

import (
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// TestRow01APIKilled kills the API by chance, and before and after the commits of
// creations, claims, drafts, and submissions and verdicts.
func TestRow01APIKilled(t *testing.T) {
	faults := []Fault{ServeKilled(targetA), ServeKilled(targetB), ServeKilled(targetBoth)}
	for _, at := range []failpoint{atCreation, atClaim, atDraft, atSubmission} {
		faults = append(faults, KilledAtCommit(ofServe, pgproxy.Before, at, nil), KilledAtCommit(ofServe, pgproxy.After, at, nil))
	}
	RunRow(t, Row{Number: 1, Name: "API killed mid-command", Hold: time.Second, Faults: faults})
}
