package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// batch is a creation of one task, asked for with the key.
func (b *bench) batch(key int64) store.CreateTasks {
	b.t.Helper()
	p, err := b.Store.Version(b.t.Context(), b.VersionID)
	require.NoError(b.t, err)
	input := raw(`{"question":"What is 6 times 7?"}`)
	st, err := pipeline.Start(p.Graph, p.Skipped("start", input, form.NewBudget()))
	require.NoError(b.t, err)
	return store.CreateTasks{
		OrgID: b.OrgID, PipelineID: b.PipelineID, VersionID: b.VersionID, Actor: b.Admin, KeyID: key,
		Tasks: []store.NewTask{{Input: input, State: st}},
	}
}

// keyActs are what requests with a key make; the upload is pending.
func keyActs(b *bench, pending uuid.UUID) map[string]func(key int64) error {
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	plain := b.batch(0)
	return map[string]func(key int64) error{
		"tasks": func(key int64) error {
			in := plain
			in.KeyID = key
			_, err := b.Store.CreateTasks(ctx, in)
			return err
		},
		"tasks once": func(key int64) error {
			in := plain
			in.KeyID = key
			in.Idempotency = &store.IdempotencyKey{KeyID: key, Route: "POST /tasks", Key: "k"}
			in.Answer = func([]int64) (int, []byte) { return 200, []byte(`{}`) }
			_, err := b.Store.CreateTasks(ctx, in)
			return err
		},
		"an upload": func(key int64) error {
			id := uuid.Must(uuid.NewV7())
			_, _, err := b.Store.CreateUpload(ctx, store.NewUpload{
				ID: id, OrgID: b.OrgID, PipelineID: b.PipelineID, Actor: b.Admin, KeyID: key,
				ObjectKey: "org/1/uploads/" + id.String(), Lives: time.Hour, Rows: rows(1),
			})
			return err
		},
		"a confirmation": func(key int64) error {
			_, _, err := b.Store.ConfirmUpload(ctx, store.ConfirmUpload{
				OrgID: b.OrgID, PipelineID: b.PipelineID, KeyID: key, ID: pending, ArchiveBytes: 7, ArchiveETag: `"x"`,
			})
			return err
		},
	}
}

// keyEnds are how a key ends.
func keyEnds(b *bench) map[string]func(key int64) error {
	ctx := context.WithoutCancel(b.t.Context())
	return map[string]func(key int64) error{
		"revoked": func(key int64) error { _, err := b.Store.RevokeKey(ctx, b.OrgID, key, b.Admin); return err },
		"expired": func(key int64) error {
			at := time.Now().Add(-time.Second)
			_, err := b.Store.SetKeyExpiry(ctx, b.OrgID, key, &at, b.Admin)
			return err
		},
	}
}

// A request is let in by what its key was when it began, before its body.
func TestAKeyThatIsOverMakesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	pending := (&uploads{World: b.World, t: t}).create(rows(1)...)
	for what, act := range keyActs(b, pending.ID) {
		require.Equal(t, fault.InvalidAPIKey, fault.KindOf(act(1<<40)), "%s with a key that is not there", what)
		for how, end := range keyEnds(b) {
			k, _, err := createKey(ctx, b.World, what+", "+how)
			require.NoError(t, err)
			// The end waits for another request with the key, and this one for both.
			errs := b.behindLock(`SELECT pg_advisory_xact_lock_shared(2, ($1::bigint % 2147483647)::int)`, k.ID,
				func() error { return end(k.ID) }, func() error { return act(k.ID) })
			require.NoError(t, errs[0], "%s, %s", what, how)
			require.Equal(t, fault.InvalidAPIKey, fault.KindOf(errs[1]), "%s beside it, %s: %v", what, how, errs[1])
			require.ErrorContains(t, errs[1], how)
			err = act(k.ID)
			require.Equal(t, fault.InvalidAPIKey, fault.KindOf(err), "%s after it, %s: %v", what, how, err)
		}
	}
	require.Zero(t, b.count(`SELECT count(*) FROM tasks`))
	require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM uploads`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM uploads WHERE status = 'pending'`))
}

// The other way round: what is on its way when the key ends is made, and the end comes
// after it.
func TestTheEndOfAKeyWaitsForWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	pending := (&uploads{World: b.World, t: t}).create(rows(1)...)
	for what, act := range keyActs(b, pending.ID) {
		k, _, err := createKey(ctx, b.World, what)
		require.NoError(t, err)
		lock, arg := `SELECT pg_advisory_xact_lock(3, ($1::bigint % 2147483647)::int)`, any(b.PipelineID)
		switch what {
		case "an upload":
			lock = `SELECT 1 FROM pipelines WHERE id = $1 FOR UPDATE`
		case "a confirmation":
			lock, arg = `SELECT 1 FROM uploads WHERE id = $1 FOR UPDATE`, any(pending.ID)
		}
		errs := b.behindLock(lock, arg,
			func() error { return act(k.ID) },
			func() error { return keyEnds(b)["revoked"](k.ID) })
		require.NoError(t, errors.Join(errs...), what)
	}
	require.Equal(t, 2, b.count(`SELECT count(*) FROM tasks`))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM uploads`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM uploads WHERE status = 'processing'`))
}

// Uploads act in the creator's name, tasks do not.
func TestUploadsEndWithTheCreatorOfTheirKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	held := b.create(1)[0]
	pending := (&uploads{World: b.World, t: t}).create(rows(1)...)
	acts := keyActs(b, pending.ID)
	for _, what := range []string{"an upload", "a confirmation"} {
		maker := b.AddUser(t, "maker of "+what, store.OrgRoleAdmin, "")
		k, err := b.Store.CreateKey(ctx, b.OrgID, maker, what, [32]byte{byte(len(what))}, "beef", nil, maker)
		require.NoError(t, err)
		_, err = b.Store.ClaimTask(ctx, b.member(maker), pipeline.KindSubtask, held, "solve")
		require.NoError(t, err)
		// The removal has ended the membership, and waits for the task of a claim to end.
		errs := b.behindLock(lockTask, held,
			func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), maker) },
			func() error { return acts[what](k.ID) })
		require.NoError(t, errs[0], what)
		require.ErrorIs(t, errs[1], store.ErrCreatorRemoved, what)
		require.ErrorIs(t, acts[what](k.ID), store.ErrCreatorRemoved, what)
		require.NoError(t, acts["tasks"](k.ID), "the key itself goes on")
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM uploads WHERE status = 'pending'`))
}
