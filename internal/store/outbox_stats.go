package store

import (
	"context"
	"fmt"
	"time"
)

// OutboxStats says how far the runs are behind the journal. Reading it costs no more
// beside an outbox of millions, as an import of that many tasks leaves it: counts stop at
// VitalsLimit, and what is looked for is looked for in as many rows.
type OutboxStats struct {
	Rows int64
	// Oldest is the age of the row that was written first.
	Oldest time.Duration
	// Urgent is the age of the oldest row that is neither a claim nor a start, among those
	// that are told next.
	Urgent time.Duration
	// Tried is how often the row was tried that was tried most in vain, LastError
	// what it met; 0 and "" without such a row among those that are told next or wait
	// for another attempt.
	Tried     int
	LastError string
	// Lagging are tasks whose consequences are not written yet.
	Lagging int64
}

// outboxVainSQL looks where rows are that were tried: they wait for their next attempt,
// and are not due, or are again and stand where all do.
var outboxVainSQL = fmt.Sprintf(`SELECT v.attempts, v.last_error FROM (
		(SELECT id, attempts, last_error FROM outbox ORDER BY priority, next_attempt_at LIMIT %[1]d)
		UNION ALL SELECT w.* FROM generate_series(%[2]d, %[3]d) AS u(priority) CROSS JOIN LATERAL (
			SELECT id, attempts, last_error FROM outbox o WHERE o.priority = u.priority AND o.next_attempt_at > now()
			ORDER BY o.priority, o.next_attempt_at LIMIT %[1]d) w
	) v WHERE v.last_error <> '' ORDER BY v.attempts DESC, v.id LIMIT 1`, VitalsLimit, UrgencyHanded, UrgencyCreated)

// OutboxStats counts what waits for delivery and the tasks whose consequences
// are not written yet, in one view: what goes from one to the other is in either.
func (s *Store) OutboxStats(ctx context.Context) (OutboxStats, error) {
	var st OutboxStats
	err := s.pool.QueryRow(ctx, `SELECT o.n, o.oldest, o.urgent, coalesce(v.attempts, 0), coalesce(v.last_error, ''), l.n
		FROM (`+vitalsOutboxSQL+`) AS o(n, oldest, urgent)
		CROSS JOIN (SELECT count(*) AS n FROM (SELECT FROM task_lag LIMIT $1) g) l
		LEFT JOIN (`+outboxVainSQL+`) v ON true`, VitalsLimit, UrgencyClaimed).
		Scan(&st.Rows, &st.Oldest, &st.Urgent, &st.Tried, &st.LastError, &st.Lagging)
	return st, translate(err)
}
