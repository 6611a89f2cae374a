package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// Claims whose lease ended long ago hide none that holds.
func TestClaimsListedHaveABound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	const held = store.MaxClaims + 1
	ada, ids := b.Contributors[0], b.create(held)
	b.exec(`UPDATE task_nodes SET status = 'claimed', claim_id = gen_random_uuid(), claimed_by = $1,
			lease_expires_at = now() + CASE task_id WHEN $2 THEN interval '1 hour' ELSE task_id * interval '-1 second' END
		WHERE key = 'solve'`, ada, ids[0])
	listed, err := b.Store.ListClaims(ctx, ada)
	require.NoError(t, err)
	require.Len(t, listed, store.MaxClaims)
	require.Equal(t, ids[0], listed[len(listed)-1].TaskID, "the one that holds")
	require.True(t, listed[0].LeaseExpiresAt.Before(listed[1].LeaseExpiresAt), "oldest lease first")
	all, err := b.Store.MyClaims(ctx, ada)
	require.NoError(t, err)
	require.Len(t, all, held)
	require.Equal(t, listed, all[1:])
}
