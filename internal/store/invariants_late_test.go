package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// TestWhatRunsOutOfTimeCostsNoOtherFinding locks what some checks read: with
// SkipLate those are late, each by its name, and what the others find is told;
// without it the check fails.
func TestWhatRunsOutOfTimeCostsNoOtherFinding(t *testing.T) {
	t.Parallel()
	for table, late := range map[string][]string{
		"count_changes": {"kept-counts"},
		"upload_rows":   {"row-made-task", "task-of-one-row", "task-has-row", "upload-rows", "upload-counts"},
		"uploads":       {"row-made-task", "upload-rows", "upload-counts", "tenant-of-file", "uploads-told"},
		"drafts":        {"nothing-without-task", "tenant-of-parts", "tenant-of-worker"},
		// A definition is what journals are folded by.
		"pipeline_versions": {"tenant-of-task", "journal-readable", "rows-follow-journal", "claim-alone", "task-has-row", "values-name-files"},
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			id := b.create(1)[0]
			b.settle(id)
			b.exec(`UPDATE tasks SET status = 'finished' WHERE id = $1`, id)
			tx, err := b.Store.Pool().Begin(ctx)
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(ctx)) })
			// Or Postgres would end a lock that is held for long.
			_, err = tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
			require.NoError(t, err)
			_, err = tx.Exec(ctx, `LOCK TABLE `+table)
			require.NoError(t, err)
			// A store that has no definition in memory.
			st, err := store.Open(ctx, b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
			require.NoError(t, err)
			t.Cleanup(st.Close)

			o := store.CheckOptions{Grace: store.NoGrace, NoPeople: true, Patience: 2 * time.Second, SkipLate: true}
			found, err := st.Check(ctx, o)
			require.NoError(t, err)
			var skipped []string
			for _, f := range found {
				if f.Late {
					skipped = append(skipped, f.Name)
				}
				if f.Name == "ended-is-done" {
					require.Positive(t, f.Total)
					require.Contains(t, f.Violations[0].Where, "finished, but node")
				}
			}
			require.ElementsMatch(t, late, skipped)

			o.SkipLate = false
			_, err = st.Check(ctx, o)
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
		})
	}
}
