package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// A repair of the kept counts beside the reconciler's own comparison corrects
// them once, whoever comes first.
func TestCountsAreCorrectedOnce(t *testing.T) {
	t.Parallel()
	for name, repairFirst := range map[string]bool{"the repair first": true, "the reconciler first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := context.WithoutCancel(t.Context())
			b.create(2)
			err := b.Store.Tidy(ctx) // folds the counts
			require.NoError(t, err)
			b.exec(`UPDATE pipeline_counts SET n = n + 40 WHERE what = 'open'`)
			b.exec(`UPDATE count_checks SET at = now() - interval '61 minutes'`)

			commands := []func() error{
				func() error { _, err := b.Store.RepairCounts(ctx, true); return err },
				func() error { return b.Store.Tidy(ctx) },
			}
			if !repairFirst {
				commands[0], commands[1] = commands[1], commands[0]
			}
			errs := b.behindLock(`LOCK TABLE count_changes IN EXCLUSIVE MODE`, nil, commands...)
			require.NoError(t, errors.Join(errs...))
			counts, err := b.Store.QueueCounts(ctx, b.OrgID, b.PipelineID)
			require.NoError(t, err)
			require.Equal(t, 2, counts.Open)
		})
	}
}

// Who waits for the other's comparison in vain is told whom for.
func TestARepairOfCountsSaysWhoIsInItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	st, err := store.Open(ctx, b.Store.Pool().Config().ConnString()+"&lock_timeout=50ms", store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(ctx)) })
	_, err = tx.Exec(ctx, `SELECT FROM count_checks FOR UPDATE`)
	require.NoError(t, err)
	_, err = st.RepairCounts(ctx, true)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorContains(t, err, "the reconciler, or another repair, compares the kept counts now")

	require.NoError(t, tx.Rollback(ctx))
	b.exec(`UPDATE count_checks SET at = now() - interval '61 minutes'`)
	_, err = st.RepairCounts(ctx, true)
	require.NoError(t, err)
	var at time.Time
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT at FROM count_checks`).Scan(&at))
	require.WithinDuration(t, time.Now(), at, time.Minute, "they were compared now")
}
