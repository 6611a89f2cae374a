package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// The starts of an import that is larger than what is counted hide neither what has waited
// for longest nor what Temporal refuses, wherever that stands.
func TestALargeImportHidesNothingInTheOutbox(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"waits for its next try": "now() + interval '4 minutes'", "is due again": "now() - interval '1 minute'"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, attempts, last_error, next_attempt_at, created_at)
				VALUES ('task_event', 1, 2, 0, 7, 'refused', ` + next + `, now() - interval '20 minutes')`)
			b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) SELECT 'task_event', i, 1, $2 FROM generate_series(2, $1::int) i`,
				store.VitalsLimit+10, store.UrgencyCreated)
			b.exec(`ANALYZE outbox`)
			s, err := b.Store.OutboxStats(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, store.VitalsLimit, s.Rows)
			require.InDelta(t, 20*time.Minute, s.Oldest, float64(time.Minute))
			require.InDelta(t, 20*time.Minute, s.Urgent, float64(time.Minute))
			require.Equal(t, 7, s.Tried)
			require.Equal(t, "refused", s.LastError)
		})
	}
}
