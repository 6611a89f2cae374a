package chaos

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/internal/store"
)

// toldWithin is how long anything may wait in the outbox where nothing is broken:
// claims and starts as well, which the product promises no such time (outbox-prompt),
// for others may have more of them than the load has.
const toldWithin = time.Minute

// waitsTooLongSQL tells of what has waited there for longer, by the database's clock.
const waitsTooLongSQL = `SELECT 'task ' || task_id || ' event ' || seq || ': waits since ' || date_trunc('second', created_at) ||
		', tried ' || attempts || ' times' || CASE last_error WHEN '' THEN '' ELSE ', last error: ' || left(last_error, 100) END
	FROM outbox WHERE created_at < now() - $1::interval ORDER BY created_at, id LIMIT 10`

func waitTooLong(ctx context.Context, st *store.Store) ([]string, error) {
	rows, _ := st.Pool().Query(ctx, waitsTooLongSQL, toldWithin)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// staysPrompt looks, until end is called, for what waits in the outbox for longer than
// toldWithin. Once the last full recovery is over, nothing may; and when all has come to
// rest the outbox is empty, and says nothing of how long that took.
func (r *Run) staysPrompt(ctx context.Context, st *store.Store) (end func()) {
	r.t.Helper()
	looking, stop := context.WithCancel(ctx)
	var look sync.WaitGroup
	var err error // of the last look: connections that a fault has cut may fail one
	look.Go(func() {
		for wait(looking, time.Second) == nil {
			var late []string
			late, err = waitTooLong(ctx, st)
			for _, where := range late {
				r.Violate("I6: %s, longer than %s (%s)", where, toldWithin, loadOfMachine())
			}
			if len(late) > 0 {
				return // the first ones tell
			}
		}
	})
	return func() {
		stop()
		look.Wait()
		if err != nil {
			r.t.Errorf("look at what waits in the outbox: %v", err)
		}
	}
}

func TestWhatWaitsTooLongIsSeen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a Postgres")
	}
	ctx, db := t.Context(), cluster.Start(t, cluster.Options{})
	_, _, err := store.Migrate(ctx, db.URL())
	require.NoError(t, err)
	st, err := store.Open(ctx, db.URL(), store.Options{MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	put := func(sql string) {
		_, err := st.Pool().Exec(ctx, `INSERT INTO outbox (topic, task_id, seq, priority, attempts, last_error, created_at) VALUES `+sql)
		require.NoError(t, err)
	}
	put(`('task_event', 7, 3, 0, 0, '', now()), ('task_event', 8, 1, 9, 1, 'away', now() + interval '10 minutes')`)
	late, err := waitTooLong(ctx, st)
	require.NoError(t, err)
	require.Empty(t, late)

	r := &Run{t: t}
	end := r.staysPrompt(ctx, st)
	defer end()
	put(`('task_event', 9, 1, 9, 0, '', now() - interval '61 seconds'), ('task_event', 10, 4, 5, 2, 'away', now() - interval '62 seconds')`)
	require.Eventually(t, func() bool { return len(r.Violations()) == 2 }, 30*time.Second, 50*time.Millisecond)
	found := r.Violations()
	require.Contains(t, found[0], "I6: task 10 event 4: waits since ")
	require.Contains(t, found[0], ", tried 2 times, last error: away, longer than 1m0s")
	require.Contains(t, found[1], "I6: task 9 event 1: waits since ")
}
