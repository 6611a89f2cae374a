package chaos

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// slowCheck is after how long it is told, and told again, what a check waits for.
const slowCheck = 10 * time.Second

// activeSQL is what Postgres is at, for how long, and what that waits for: a lock, the
// disk, or nothing but a processor.
const activeSQL = `SELECT format('%s for %s s, waits for %s (behind %s): %s', backend_type, extract(epoch FROM now() - query_start)::int,
		coalesce(wait_event_type || ' ' || wait_event, 'nothing'), pg_blocking_pids(pid), left(regexp_replace(query, '\s+', ' ', 'g'), 300))
	FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (state = 'active' OR wait_event_type IN ('IO', 'Lock'))
	ORDER BY query_start`

// watched does a check, and tells what is in its way while it lasts: it fails when a
// statement has run for too long, and nobody knows any more why.
func (r *Run) watched(ctx context.Context, what string, do func(context.Context) error) error {
	watching, done := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for began := time.Now(); wait(watching, slowCheck) == nil; {
			rows, _ := r.Store().Pool().Query(watching, activeSQL)
			active, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				active = []string{fmt.Sprintf("what Postgres does is not known: %v", err)}
			}
			r.Logf("the check of %s lasts for %s now (%s; waited for the disk, %s):\n\t%s", what, time.Since(began).Round(time.Second), loadOfMachine(),
				diskPressure(), strings.Join(active, "\n\t"))
		}
	})
	defer watch.Wait()
	defer done()
	return do(ctx)
}

// diskPressure is how much of the time somebody waited for the disk lately, as Linux
// tells it.
func diskPressure() string {
	raw, err := os.ReadFile("/proc/pressure/io")
	if err != nil {
		return "unknown"
	}
	some, _, _ := strings.Cut(string(raw), "\n")
	return some
}
