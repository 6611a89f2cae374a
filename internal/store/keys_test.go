package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func createKey(ctx context.Context, w *dbtest.World, name string) (store.APIKey, [32]byte, error) {
	hash := sha256.Sum256([]byte(w.Slug + name))
	k, err := w.Store.CreateKey(ctx, w.OrgID, w.Admin, name, hash, "beef", nil, w.Admin)
	return k, hash, err
}

func TestAuthenticateKey(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)

	k, err := w.Store.AuthenticateKey(ctx, apikey.Hash(w.KeyValue))
	require.NoError(t, err)
	require.Equal(t, w.KeyID, k.ID)
	require.Equal(t, w.OrgID, k.OrgID)
	require.False(t, k.CreatorRemoved)

	refused := func(hash [32]byte, word string) {
		t.Helper()
		_, err := w.Store.AuthenticateKey(ctx, hash)
		require.Equal(t, fault.InvalidAPIKey, fault.KindOf(err))
		require.ErrorContains(t, err, word)
	}
	refused(apikey.Hash("pk_live_"), "not known")

	t.Run("expired by the database's clock", func(t *testing.T) {
		k, hash, err := createKey(ctx, w, "expiring")
		require.NoError(t, err)
		at := time.Now().Add(time.Hour)
		_, err = w.Store.SetKeyExpiry(ctx, w.OrgID, k.ID, &at, w.Admin)
		require.NoError(t, err)
		_, err = w.Store.AuthenticateKey(ctx, hash)
		require.NoError(t, err)
		_, err = w.Store.Pool().Exec(ctx, `UPDATE api_keys SET expires_at = now() WHERE id = $1`, k.ID)
		require.NoError(t, err)
		refused(hash, "expired")
	})
	t.Run("revoked at once", func(t *testing.T) {
		k, hash, err := createKey(ctx, w, "revoked")
		require.NoError(t, err)
		_, err = w.Store.AuthenticateKey(ctx, hash)
		require.NoError(t, err)
		_, err = w.Store.RevokeKey(ctx, w.OrgID, k.ID, w.Admin)
		require.NoError(t, err)
		refused(hash, "revoked")
	})
	t.Run("of a removed creator it goes on, and says so", func(t *testing.T) {
		w.RemoveUser(t, w.Admin)
		k, err := w.Store.AuthenticateKey(ctx, apikey.Hash(w.KeyValue))
		require.NoError(t, err)
		require.True(t, k.CreatorRemoved)
	})
}

func TestLastUsedMovesAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	hash := apikey.Hash(w.KeyValue)
	use := func() {
		t.Helper()
		_, err := w.Store.AuthenticateKey(ctx, hash)
		require.NoError(t, err)
	}
	used := func() *time.Time {
		k, err := w.Store.KeyByName(ctx, w.OrgID, "test")
		require.NoError(t, err)
		return k.LastUsedAt
	}
	ago := func(span string) {
		_, err := w.Store.Pool().Exec(ctx, `UPDATE api_keys SET last_used_at = now() - $2::interval WHERE id = $1`, w.KeyID, span)
		require.NoError(t, err)
	}
	require.Nil(t, used())
	use()
	first := used()
	require.NotNil(t, first)
	use()
	require.Equal(t, first, used())
	ago("59 seconds")
	before := used()
	use()
	require.Equal(t, before, used())
	ago("60 seconds")
	use()
	require.True(t, used().After(*first))
}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))

	k, hash, err := createKey(ctx, w, "  crm ")
	require.NoError(t, err)
	require.Equal(t, "crm", k.Name)
	require.Equal(t, "beef", k.Last4)
	require.Equal(t, "admin1@acme.test", k.CreatedByEmail)
	require.Nil(t, k.ExpiresAt)

	_, _, err = createKey(ctx, w, "crm")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.ErrorContains(t, err, `"crm"`)
	_, _, err = createKey(ctx, other, "crm")
	require.NoError(t, err, "names are the organization's own")

	for _, name := range []string{"", " \t", "a\x00b", strings.Repeat("é", 101)} {
		_, _, err = createKey(ctx, w, name)
		require.Equal(t, fault.Validation, fault.KindOf(err), "%q", name)
	}
	_, err = w.Store.CreateKey(ctx, w.OrgID, other.Admin, "stranger's", sha256.Sum256([]byte("x")), "beef", nil, 0)
	require.Equal(t, fault.Validation, fault.KindOf(err))

	stored := func() (raw string) {
		require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT string_agg(k::text, ' ') FROM api_keys k`).Scan(&raw))
		return raw
	}
	require.NotContains(t, stored(), w.KeyValue)
	require.Contains(t, stored(), hex.EncodeToString(hash[:]))
}

func TestRacingKeyCreatesOfOneName(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	const rivals = 32
	var g errgroup.Group
	outcomes := make(chan fault.Kind, rivals)
	for i := range rivals {
		g.Go(func() error {
			hash := sha256.Sum256([]byte{byte(i)})
			_, err := w.Store.CreateKey(t.Context(), w.OrgID, w.Admin, "one", hash, "beef", nil, w.Admin)
			outcomes <- fault.KindOf(err)
			return nil
		})
	}
	require.NoError(t, g.Wait())
	close(outcomes)
	count := map[fault.Kind]int{}
	for kind := range outcomes {
		count[kind]++
	}
	require.Equal(t, map[fault.Kind]int{"": 1, fault.Conflict: rivals - 1}, count)
}

func TestKeysAreListedActiveFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	for _, name := range []string{"b", "c", "d"} {
		_, _, err := createKey(ctx, w, name)
		require.NoError(t, err)
	}
	for _, name := range []string{"test", "d"} {
		k, err := w.Store.KeyByName(ctx, w.OrgID, name)
		require.NoError(t, err)
		_, err = w.Store.RevokeKey(ctx, w.OrgID, k.ID, 0)
		require.NoError(t, err)
	}
	keys, err := w.Store.Keys(ctx, w.OrgID)
	require.NoError(t, err)
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	require.Equal(t, []string{"c", "b", "d", "test"}, names)
	page, err := w.Store.ListKeys(ctx, w.OrgID)
	require.NoError(t, err)
	require.Equal(t, keys, page)

	keys, err = w.Store.ListKeys(ctx, other.OrgID)
	require.NoError(t, err)
	require.Len(t, keys, 1)
}

// An organization that makes a key for every run of something has more that are over
// than one answer lists. Those hide none that still opens something.
func TestKeysThatAreOverHideNone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	over := func(name, revoked, expires string) {
		t.Helper()
		_, err := w.Store.Pool().Exec(ctx, `INSERT INTO api_keys (org_id, name, hash, last4, created_by, revoked_at, expires_at)
			SELECT $1, $3::text || i, sha256(convert_to($3::text || i, 'UTF8')), 'beef', $2, `+revoked+`, `+expires+`
			FROM generate_series(1, $4::int) i`, w.OrgID, w.Admin, name, store.MaxKeys)
		require.NoError(t, err)
	}
	_, _, err := createKey(ctx, w, "never expires")
	require.NoError(t, err)
	for name, is := range map[string][2]string{"revoked": {"now()", "NULL"}, "expired": {"NULL", "now() - interval '1 hour'"}} {
		over(name, is[0], is[1])
		keys, err := w.Store.ListKeys(ctx, w.OrgID)
		require.NoError(t, err)
		require.Len(t, keys, store.MaxKeys)
		listed := map[string]bool{}
		for _, k := range keys {
			listed[k.Name] = true
		}
		require.True(t, listed["test"], name)
		require.True(t, listed["never expires"], name)
	}
	all, err := w.Store.Keys(ctx, w.OrgID)
	require.NoError(t, err)
	require.Len(t, all, 2*store.MaxKeys+2, "the command line lists all")
}

func TestChangeKey(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

	k, err := w.Store.SetKeyExpiry(ctx, w.OrgID, w.KeyID, &at, w.Admin)
	require.NoError(t, err)
	require.Equal(t, at, *k.ExpiresAt)
	k, err = w.Store.SetKeyExpiry(ctx, w.OrgID, w.KeyID, nil, w.Admin)
	require.NoError(t, err)
	require.Nil(t, k.ExpiresAt)

	for _, id := range []int64{other.KeyID, 1 << 40} {
		_, err = w.Store.SetKeyExpiry(ctx, w.OrgID, id, &at, w.Admin)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		_, err = w.Store.RevokeKey(ctx, w.OrgID, id, w.Admin)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
	}
	_, err = w.Store.KeyByName(ctx, w.OrgID, "none")
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	k, err = w.Store.RevokeKey(ctx, w.OrgID, w.KeyID, w.Admin)
	require.NoError(t, err)
	require.NotNil(t, k.RevokedAt)
	again, err := w.Store.RevokeKey(ctx, w.OrgID, w.KeyID, w.Admin)
	require.NoError(t, err)
	require.Equal(t, k, again)

	_, err = w.Store.SetKeyExpiry(ctx, w.OrgID, w.KeyID, &at, w.Admin)
	require.Equal(t, fault.InvalidRequest, fault.KindOf(err))

	var audited []string
	require.NoError(t, w.Store.Pool().QueryRow(ctx,
		`SELECT array_agg(action ORDER BY id) FROM audit_log WHERE org_id = $1`, w.OrgID).Scan(&audited))
	require.Equal(t, []string{"key.expire", "key.expire", "key.revoke"}, audited)
}

// A request is let in by the role that its sender had when it began.
func TestWhoIsNoAdminAnyMoreChangesNoKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	demote := func(user int64) func() error {
		return func() error { return b.Store.SetOrgRole(ctx, orgAdmin(b.World), user, store.OrgRoleMember) }
	}
	acts := map[string]func(actor int64) error{
		"create": func(actor int64) error {
			_, err := b.Store.CreateKey(ctx, b.OrgID, actor, "late", sha256.Sum256([]byte("late")), "beef", nil, actor)
			return err
		},
		"expire": func(actor int64) error {
			at := time.Now().Add(time.Hour)
			_, err := b.Store.SetKeyExpiry(ctx, b.OrgID, b.KeyID, &at, actor)
			return err
		},
		"revoke": func(actor int64) error { _, err := b.Store.RevokeKey(ctx, b.OrgID, b.KeyID, actor); return err },
	}
	for name, act := range acts {
		late := b.AddUser(t, "late-"+name, store.OrgRoleAdmin, "")
		require.NoError(t, demote(late)())
		err := act(late)
		require.Equal(t, fault.Forbidden, fault.KindOf(err), "%s after the demotion: %v", name, err)

		beside := b.AddUser(t, "beside-"+name, store.OrgRoleAdmin, "")
		// The demotion waits for another change of the organization, and the act for both.
		errs := b.behindLock(`SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, b.OrgID,
			demote(beside), func() error { return act(beside) })
		require.NoError(t, errs[0])
		require.Equal(t, fault.Forbidden, fault.KindOf(errs[1]), "%s beside it: %v", name, errs[1])
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND expires_at IS NULL`), "nothing changed")
}
