package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// TestRow09AmbiguousCommit cuts connections before and after the commit: one
// commit in a hundred all the time, and bursts of the API's and the worker's.
func TestRow09AmbiguousCommit(t *testing.T) {
	RunRow(t, Row{
		Number: 9, Name: "ambiguous commit", Hold: 10 * time.Second,
		Settings: func(s *Settings) { s.Load.CutShare = 0.01 },
		Faults: []Fault{
			CommitsCut(ofServe, pgproxy.Before, 30), CommitsCut(ofServe, pgproxy.After, 30),
			CommitsCut(ofWorker, pgproxy.Before, 30), CommitsCut(ofWorker, pgproxy.After, 30),
		},
		After: func(_ context.Context, r *Run) error {
			const least = 30 // of each: the bursts alone are that many
			for _, p := range r.proxies() {
				if s := p.Stats(); s.Before < least || s.After < least {
					r.Violate("the proxy cut only %d commits before and %d after: the row shows nothing", s.Before, s.After)
				}
			}
			return nil
		},
	})
}
