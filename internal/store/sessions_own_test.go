package store_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	open := func(user int64, name string) [32]byte {
		hash := sha256.Sum256([]byte(name))
		require.NoError(t, w.Store.CreateSession(ctx, w.User(t, user), hash, name, time.Hour))
		return hash
	}
	laptop, phone, idle := open(w.Admin, "laptop"), open(w.Admin, "phone"), open(w.Admin, "idle")
	theirs := open(w.ProjectAdmin, "theirs")
	_, err := w.Store.Pool().Exec(ctx, `UPDATE sessions SET seen_at = now() - CASE agent WHEN 'idle' THEN interval '12 hours' ELSE interval '1 hour' END
		WHERE agent IN ('idle', 'phone')`)
	require.NoError(t, err)

	sessions, err := w.Store.Sessions(ctx, w.Admin)
	require.NoError(t, err)
	require.Len(t, sessions, 2)
	require.Equal(t, "laptop", sessions[0].Agent)
	require.Equal(t, laptop, sessions[0].Hash)
	require.Equal(t, phone, sessions[1].Hash)
	require.NotEqual(t, idle, sessions[1].Hash)

	require.Equal(t, fault.NotFound, fault.KindOf(w.Store.EndSession(ctx, w.ProjectAdmin, sessions[0].ID)), "not theirs")
	require.NoError(t, w.Store.EndSession(ctx, w.Admin, sessions[1].ID))
	_, err = w.Store.SessionUser(ctx, phone)
	require.Equal(t, fault.Unauthorized, fault.KindOf(err))

	open(w.Admin, "tablet")
	n, err := w.Store.EndOtherSessions(ctx, w.Admin, laptop)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	for _, kept := range [][32]byte{laptop, theirs} {
		_, err = w.Store.SessionUser(ctx, kept)
		require.NoError(t, err)
	}
}

func TestSessionsListedHaveABound(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	inUse := sha256.Sum256([]byte("in use"))
	require.NoError(t, w.Store.CreateSession(ctx, w.User(t, w.Admin), inUse, "", time.Hour))
	_, err := w.Store.Pool().Exec(ctx, `INSERT INTO sessions (hash, user_id, agent, expires_at, seen_at)
		SELECT sha256(convert_to(i::text, 'UTF8')), $1, '', now() + interval '1 hour', now() - interval '1 hour'
		FROM generate_series(1, $2::int) i`, w.Admin, store.MaxSessions)
	require.NoError(t, err)
	sessions, err := w.Store.Sessions(ctx, w.Admin)
	require.NoError(t, err)
	require.Len(t, sessions, store.MaxSessions)
	require.Equal(t, inUse, sessions[0].Hash)
}

func TestChangePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	kept, lost := sha256.Sum256([]byte("kept")), sha256.Sum256([]byte("lost"))
	for _, hash := range [][32]byte{kept, lost} {
		require.NoError(t, w.Store.CreateSession(ctx, w.User(t, w.Admin), hash, "", time.Hour))
	}
	u, err := w.Store.UserByEmail(ctx, w.Email("admin1"))
	require.NoError(t, err)
	require.NoError(t, w.Store.ChangePassword(ctx, w.Admin, u.PasswordHash, "renewed", kept))
	_, err = w.Store.SessionUser(ctx, kept)
	require.NoError(t, err)
	_, err = w.Store.SessionUser(ctx, lost)
	require.Equal(t, fault.Unauthorized, fault.KindOf(err))
	err = w.Store.ChangePassword(ctx, w.Admin, u.PasswordHash, "once more", kept)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
}

// lockUser keeps everybody from the person's row while it is held.
const lockUser = `SELECT 1 FROM users WHERE id = $1 FOR UPDATE`

// A login whose password was checked, and is changed before the session is opened.
func TestALoginDoesNotOutliveTheChangeOfItsPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	doc, err := apply.Read([]byte(`{organizations: [{slug: acme, users: [{email: admin1@acme.test, password: by the command line}]}]}`))
	require.NoError(t, err)
	for name, change := range map[string]func(old string) error{
		"by its owner": func(old string) error {
			return b.Store.ChangePassword(ctx, b.Admin, old, "renewed", sha256.Sum256([]byte("kept")))
		},
		"by a document": func(string) error {
			_, err := b.Store.Apply(ctx, doc, store.ApplyOptions{Rand: rand.Reader})
			return err
		},
	} {
		was := b.User(t, b.Admin)
		login := func() error {
			return b.Store.CreateSession(ctx, was, sha256.Sum256([]byte("late")), "", time.Hour)
		}
		nobody := func(when string) {
			t.Helper()
			require.Zero(t, b.count(`SELECT count(*) FROM sessions`), "%s, %s", name, when)
			b.exec(`UPDATE users SET password_hash = $2 WHERE id = $1`, b.Admin, was.PasswordHash)
		}
		require.NoError(t, change(was.PasswordHash))
		require.ErrorIs(t, login(), store.ErrWrongPassword, name)
		nobody("before")

		first := func() error { return change(was.PasswordHash) }
		errs := b.behindLock(lockUser, b.Admin, first, login)
		require.NoError(t, errs[0], name)
		require.ErrorIs(t, errs[1], store.ErrWrongPassword, name)
		nobody("on its way")

		errs = b.behindLock(lockUser, b.Admin, login, first)
		require.NoError(t, errors.Join(errs...), name)
		nobody("after")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	put := func(user int64, key, value string) error {
		return w.Store.PutSetting(ctx, user, key, json.RawMessage(value))
	}
	settings, err := w.Store.Settings(ctx, w.Admin)
	require.NoError(t, err)
	require.Equal(t, map[string]json.RawMessage{}, settings)

	require.NoError(t, put(w.Admin, "density", `"compact"`))
	require.NoError(t, put(w.Admin, "density", `"wide"`))
	require.NoError(t, put(w.Admin, "views.tasks.7", `[{"name": "Mine"}]`))
	require.NoError(t, put(w.ProjectAdmin, "density", `"theirs"`))
	settings, err = w.Store.Settings(ctx, w.Admin)
	require.NoError(t, err)
	require.Equal(t, map[string]json.RawMessage{"density": json.RawMessage(`"wide"`), "views.tasks.7": json.RawMessage(`[{"name": "Mine"}]`)}, settings)
	require.NoError(t, put(w.Admin, "density", " null "))
	settings, err = w.Store.Settings(ctx, w.Admin)
	require.NoError(t, err)
	require.Len(t, settings, 1)

	long := `"` + strings.Repeat("x", 16<<10) + `"`
	require.Equal(t, fault.Validation, fault.KindOf(put(w.Admin, "long", long)))
	require.NoError(t, put(w.Admin, "long", long[:1]+long[3:]))
	grows := `[` + strings.Repeat(`1e-400,`, 41) + `0]`
	require.Equal(t, fault.Validation, fault.KindOf(put(w.Admin, "grows", grows)))
	require.NoError(t, put(w.Admin, "grows", strings.Replace(grows, `1e-400,`, ``, 1)))

	t.Run("at most 100, also at the same time", func(t *testing.T) {
		var g errgroup.Group
		for i := range 110 {
			g.Go(func() error {
				if err := put(w.Outsider, fmt.Sprintf("key%d", i), `1`); !fault.Is(err, fault.Conflict) {
					return err
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		settings, err := w.Store.Settings(ctx, w.Outsider)
		require.NoError(t, err)
		require.Len(t, settings, 100)
		for key := range settings {
			require.NoError(t, put(w.Outsider, key, `2`), "one of them can still be changed")
			break
		}
	})
}
