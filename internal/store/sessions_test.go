package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
)

func TestSession(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	open := func(name string, ttl time.Duration) [32]byte {
		hash := sha256.Sum256([]byte(name))
		require.NoError(t, w.Store.CreateSession(ctx, w.User(t, w.Admin), hash, "", ttl))
		return hash
	}
	exec := func(sql string, args ...any) {
		_, err := w.Store.Pool().Exec(ctx, sql, args...)
		require.NoError(t, err)
	}
	over := func(hash [32]byte) {
		t.Helper()
		_, err := w.Store.SessionUser(ctx, hash)
		require.Equal(t, fault.Unauthorized, fault.KindOf(err))
	}

	hash := open("a", time.Hour)
	u, err := w.Store.SessionUser(ctx, hash)
	require.NoError(t, err)
	require.Equal(t, w.Admin, u.ID)
	require.Empty(t, u.PasswordHash)

	over(sha256.Sum256([]byte("unknown")))

	t.Run("seen_at moves at most once a minute", func(t *testing.T) {
		seen := func() (at time.Time) {
			require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT seen_at FROM sessions WHERE hash = $1`, hash[:]).Scan(&at))
			return at
		}
		before := seen()
		_, err := w.Store.SessionUser(ctx, hash)
		require.NoError(t, err)
		require.Equal(t, before, seen())
		exec(`UPDATE sessions SET seen_at = now() - interval '61 seconds' WHERE hash = $1`, hash[:])
		_, err = w.Store.SessionUser(ctx, hash)
		require.NoError(t, err)
		require.True(t, seen().After(before))
	})
	t.Run("idle for 12 hours it is over", func(*testing.T) {
		h := open("idle", 24*time.Hour)
		exec(`UPDATE sessions SET seen_at = now() - interval '12 hours' WHERE hash = $1`, h[:])
		over(h)
	})
	t.Run("past its end it is over, and swept", func(t *testing.T) {
		h := open("old", time.Hour)
		exec(`UPDATE sessions SET expires_at = now() WHERE hash = $1`, h[:])
		over(h)
		open("next", time.Hour)
		var n int
		require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM sessions WHERE hash = $1`, h[:]).Scan(&n))
		require.Zero(t, n)
	})
	t.Run("deleted it is over", func(t *testing.T) {
		h := open("deleted", time.Hour)
		require.NoError(t, w.Store.DeleteSession(ctx, h))
		require.NoError(t, w.Store.DeleteSession(ctx, h))
		over(h)
	})
	t.Run("of a removed member it is over", func(t *testing.T) {
		w.RemoveUser(t, w.Admin)
		over(hash)
	})
}
