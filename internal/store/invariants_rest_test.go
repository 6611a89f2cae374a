package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// A check rests between two pages, not only between two chunks of tasks: here
// there is one chunk, and twice one more than a page holds.
func TestAChecksWalksRest(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T) *store.Store{
		"journals": func(t *testing.T) *store.Store {
			t.Helper()
			b := newBench(t)
			b.create(1001)
			return b.Store
		},
		"uploads": func(t *testing.T) *store.Store {
			t.Helper()
			u := newUploads(t)
			for range 21 {
				u.create(rows(1)...)
			}
			return u.Store
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := fill(t)
			const rest = 2 * time.Second
			begun := time.Now()
			found, err := st.Check(t.Context(), store.CheckOptions{NoPeople: true, Pause: rest})
			require.NoError(t, err)
			require.GreaterOrEqual(t, time.Since(begun), rest)
			for _, f := range found {
				require.Zero(t, f.Total, "%s: %v", f.Name, f.Violations)
			}
		})
	}
}
