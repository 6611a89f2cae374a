package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// journaledBetween is journalBetween with the events' times.
func journaledBetween(ctx context.Context, tx pgx.Tx, taskID, from, to int64) ([]journaled, error) {
	rows, _ := tx.Query(ctx, `SELECT e.created_at, `+eventColumns+` FROM task_events e
		WHERE e.task_id = $1 AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq`, taskID, from, to)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (journaled, error) {
		var e journaled
		var lease *time.Time
		err := row.Scan(append([]any{&e.at}, eventFields(&e.Event, &lease)...)...)
		e.LeaseEnds = orZero(lease)
		return e, err
	})
}

// same is sameEvent, whatever the time.
func (e journaled) same(other pipeline.Event) bool { return sameEvent(e.Event, other) }

// firstHandedIn is when the first of what people handed in after event from was; zero
// where none of the events is that. Of all that is told to runs it is what somebody waits
// for: the next node opens by it. Claims and starts give way to it (docs/adr/0012), and
// may take long.
func firstHandedIn(journal []journaled, from int64) time.Time {
	first := slices.IndexFunc(journal, func(e journaled) bool {
		return e.Seq > from && (e.Kind == pipeline.EventSubmit || e.Kind == pipeline.EventReview)
	})
	if first < 0 {
		return time.Time{}
	}
	return journal[first].at
}

// waited is how long the locked task had to wait for the step that was written just now;
// 0 where nothing was handed in, or where the clock was set back meanwhile.
func (t *lockedTask) waited() time.Duration {
	if t.handedInAt.IsZero() {
		return 0
	}
	return max(0, t.writtenAt.Sub(t.handedInAt))
}
