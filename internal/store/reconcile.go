package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Times after which the reconciler looks at a task. One that lags is rung soon
// enough for all to be well again within a minute after a fault, the
// reconciler's rounds included, unless the outbox is behind: then after
// lagDespiteBacklog, which is longer than an outage of ten minutes and the
// draining after it.
const (
	lagBeforeRing      = 30 * time.Second
	lagDespiteBacklog  = 15 * time.Minute
	deadlineBeforeRing = 5 * time.Minute
)

// outboxBehind rows that have been due for lagBeforeRing and must be told say that
// the outbox is behind, as it is after an outage. Rows that Temporal refuses are
// due later each time, what they stand for need not be told, and those of tasks that are
// gone can be told to nobody.
const outboxBehind = 100

// outboxBehindSQL is whether there are so many.
var outboxBehindSQL = fmt.Sprintf(`(SELECT count(*) = %[1]d FROM (SELECT FROM outbox o WHERE o.priority < %[2]d
	AND o.next_attempt_at < now() - %[3]s AND CASE WHEN `+coveredSQL+` THEN false ELSE `+toldSomebodySQL+` END LIMIT %[1]d) b)`, outboxBehind, UrgencyRung, inSQL(lagBeforeRing))

// inSQL is a span as a constant of a statement.
func inSQL(d time.Duration) string { return "interval '" + milliseconds(d) + " milliseconds'" }

// healedAtOnce bounds what is healed in a round without a ring, of each sort.
const healedAtOnce = 200

// Reconcile heals what was lost on the way: it rings the runs of tasks and
// uploads that lag, frees nodes that were kept for somebody who did not come, and
// those whose runs cannot be told that a lease ran out. It ends what is past its
// time limit of tasks that have no run yet. It cancels uploads that nobody
// confirmed in time, where the sweep, which has Temporal and a worker for archives
// behind it, is late; what is stored of them waits for that. It returns the tasks
// whose runs it rang, also with an error: at most limit and none of except. Each
// costs one outbox row. What one part meets holds up no other.
func (s *Store) Reconcile(ctx context.Context, limit int, except ...int64) ([]int64, error) {
	future := s.fromTheFuture(ctx, healedAtOnce)
	overdue := s.endOverdue(ctx, healedAtOnce)
	rung, lag := s.ringLagging(ctx, limit, except)
	kept := s.freeReservations(ctx, healedAtOnce)
	_, uploads := s.RingStuckUploads(ctx)
	_, expired := s.expireUploads(ctx, confirmGrace+sweepMissed, healedAtOnce)
	// The last: they may be many, and nobody waits for them to be ended.
	alone := s.endAlone(ctx, aloneAtOnce)
	return rung, errors.Join(translate(future), overdue, translate(lag), translate(kept), uploads, expired, alone)
}

// Tidy drops stored answers past their time, and adds kept counts up; once in
// countsChecked it compares them with the rows, for as long as it takes to read
// all of them. Nothing waits for it.
func (s *Store) Tidy(ctx context.Context) error {
	return errors.Join(translate(s.dropOldAnswers(ctx)), translate(s.foldCounts(ctx)), s.checkCounts(ctx))
}

// StillLagging returns those of the tasks to which nothing has happened since
// they were rung: events that nobody applied still wait, or what was overdue is.
func (s *Store) StillLagging(ctx context.Context, ids []int64) ([]int64, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id FROM tasks t WHERE id = ANY($1) AND (applied_seq < seq AND updated_at < now() - $2::interval
		OR EXISTS (SELECT 1 FROM task_nodes n WHERE n.task_id = t.id AND (n.status = 'claimed' AND n.lease_expires_at < now() - $3::interval
			OR n.status IN ('available', 'claimed') AND n.sla_at < now() - $3::interval)))`,
		ids, lagBeforeRing, deadlineBeforeRing)
	out, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return out, translate(err)
}

var ringLaggingSQL = `INSERT INTO outbox (topic, task_id, seq, priority)
		SELECT 'task_sync', r.id, 0, $5::smallint FROM (SELECT u.id FROM (
			(SELECT g.task_id AS id, row_number() OVER (ORDER BY g.since) AS turn FROM task_lag g
				WHERE g.since < now() - $1::interval AND g.task_id <> ALL($4)
				AND (g.since < now() - $6::interval OR NOT ` + outboxBehindSQL + `)
				AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = g.task_id) ORDER BY g.since LIMIT $3)
			UNION ALL SELECT l.task_id, row_number() OVER (ORDER BY l.turn, l.at) FROM (` + overdueSQL("$2", "$3",
	`n.task_id <> ALL($4) AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = n.task_id)`, `NOT `+aloneSQL) + `) l
		) u GROUP BY u.id ORDER BY min(u.turn), u.id LIMIT $3) r ON CONFLICT DO NOTHING RETURNING task_id`

// ringLagging rings tasks with events that nobody applied for half a minute,
// and with leases and time limits that ran out five minutes ago. While the outbox
// is behind, the former are left alone for longer: what has just been told has
// lagged for as long as what has not, and a ring would be one more signal and one
// more step. Where there are more than limit of both, each has half.
func (s *Store) ringLagging(ctx context.Context, limit int, except []int64) ([]int64, error) {
	rows, _ := s.pool.Query(ctx, ringLaggingSQL,
		lagBeforeRing, deadlineBeforeRing, limit, append([]int64{}, except...) /* never NULL */, UrgencyRung, lagDespiteBacklog)
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// freeReservations puts returned nodes that nobody came for into the queue.
// The journal does not know of it: a reservation is the rows' own.
func (s *Store) freeReservations(ctx context.Context, limit int) error {
	_, err := s.pool.Exec(ctx, `UPDATE task_nodes n SET reserved_for = NULL, reserved_until = NULL
		FROM (SELECT task_id, key FROM task_nodes WHERE status = 'available' AND reserved_for IS NOT NULL
			AND reserved_until <= now() ORDER BY reserved_until LIMIT $1 FOR UPDATE SKIP LOCKED) k
		WHERE n.task_id = k.task_id AND n.key = k.key`, limit)
	return err
}
