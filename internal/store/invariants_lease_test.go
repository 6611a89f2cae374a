package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// A lease that ends in time, by whatever way, accuses nobody; one that is called
// expired before is told.
func TestLeasesThatEndAsTheyMayAccuseNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   func(b *bench, c *store.Claim) error
		wrong bool
	}{
		"it runs out": {end: func(b *bench, c *store.Claim) error {
			b.lapse(c.TaskID, time.Second)
			_, err := b.Store.CheckDeadlines(b.t.Context(), c.TaskID)
			return err
		}},
		"it is extended and runs out": {end: func(b *bench, c *store.Claim) error {
			b.lapse(c.TaskID, time.Minute)
			if _, err := b.Store.ExtendClaim(b.t.Context(), c.UserID, c.ID); err != nil {
				return err
			}
			b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, c.TaskID)
			_, err := b.Store.CheckDeadlines(b.t.Context(), c.TaskID)
			return err
		}},
		"it is given back": {end: func(b *bench, c *store.Claim) error {
			return b.Store.ReleaseClaim(b.t.Context(), c.UserID, c.ID, store.Release{})
		}},
		"an admin gives it back": {end: func(b *bench, c *store.Claim) error {
			return b.Store.ReleaseNode(b.t.Context(), b.member(b.Admin), c.TaskID, c.Node, 0, "")
		}},
		"an admin sets the node aside and opens it again": {end: func(b *bench, c *store.Claim) error {
			if err := b.Store.Quarantine(b.t.Context(), b.member(b.Admin), c.TaskID, c.Node, ""); err != nil {
				return err
			}
			return b.Store.Requeue(b.t.Context(), b.member(b.Admin), c.TaskID, "")
		}},
		"its holder is removed": {end: func(b *bench, _ *store.Claim) error {
			return b.Store.RemoveUser(b.t.Context(), b.Slug, b.Email("contributor1"))
		}},
		"the node's time is over": {end: func(b *bench, c *store.Claim) error {
			b.exec(`UPDATE task_nodes SET sla_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, c.TaskID)
			_, err := b.Store.CheckDeadlines(b.t.Context(), c.TaskID)
			return err
		}},
		"the task is failed": {end: func(b *bench, c *store.Claim) error {
			return b.Store.FailTask(b.t.Context(), b.member(b.Admin), c.TaskID, "")
		}},
		"it is taken back too early": {wrong: true, end: func(b *bench, c *store.Claim) error {
			b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, c.TaskID)
			_, err := b.Store.CheckDeadlines(b.t.Context(), c.TaskID)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := b.create(1)[0]
			mine := b.claim(b.Contributors[0], pipeline.KindSubtask)
			require.NoError(t, c.end(b, mine))
			b.claim(b.Contributors[1], pipeline.KindSubtask) // if it is open by now
			b.settle(id)
			found, _, err := b.Store.CheckJournal(t.Context(), 0, 100)
			require.NoError(t, err)
			if !c.wrong {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, "claim-alone", found[0].Invariant)
			require.Contains(t, found[0].Where, "event 3 called it expired, while claim "+mine.ID+" held it until ")
		})
	}
}
