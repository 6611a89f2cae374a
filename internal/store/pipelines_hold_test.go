package store_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// openCreation starts a creation that stands before its commit until go on is called,
// which returns its error.
func (b *bench) openCreation() (goOn func() error) {
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	k, _, err := createKey(ctx, b.World, uuid.NewString())
	require.NoError(b.t, err)
	in := b.batch(k.ID)
	in.Idempotency = &store.IdempotencyKey{KeyID: k.ID, Route: "POST /tasks", Key: "k"}
	there, on, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	release := sync.OnceFunc(func() { close(on) })
	b.t.Cleanup(release)
	in.Answer = func([]int64) (int, []byte) {
		close(there)
		<-on
		return 200, []byte(`{}`)
	}
	go func() {
		_, err := b.Store.CreateTasks(ctx, in)
		done <- err
	}()
	select {
	case <-there:
	case err := <-done:
		require.FailNow(b.t, "the creation ended", "%v", err)
	}
	return func() error {
		release()
		return <-done
	}
}

// Creations that come while somebody waits to change the pipeline stand behind them, so
// that an integrator who never pauses keeps no admin waiting.
func TestAChangeOfAPipelineGoesBeforeLaterCreations(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(b *bench) error
		later  func(b *bench, err error)
	}{
		"pausing": {
			change: func(b *bench) error {
				_, err := b.Store.SetPipelineStatus(b.t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.VerbPause)
				return err
			},
			later: func(b *bench, err error) { require.NoError(b.t, err) },
		},
		"publishing": {
			change: func(b *bench) error {
				_, err := b.Store.Publish(b.t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.Options{LLM: true}, store.Publication{})
				return err
			},
			later: func(b *bench, err error) { require.ErrorIs(b.t, err, store.ErrVersionChanged) },
		},
		"completing": {
			change: func(b *bench) error {
				_, err := b.Store.SetPipelineStatus(b.t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.VerbComplete)
				if !fault.Is(err, fault.Conflict) { // it sees the task that was on its way
					return err
				}
				return nil
			},
			later: func(b *bench, err error) { require.NoError(b.t, err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if name == "publishing" {
				b.redrafted()
			}
			goOn := b.openCreation()
			change, created := make(chan error, 1), make(chan error, 1)
			go func() { change <- row.change(b) }()
			b.waiting(1)
			later := b.batch(0)
			go func() {
				_, err := b.Store.CreateTasks(context.WithoutCancel(t.Context()), later)
				created <- err
			}()
			b.waiting(2)
			require.NoError(t, goOn())
			require.NoError(t, <-change)
			row.later(b, <-created)
		})
	}
}

// A completion that open tasks refuse waits for no creation, so no creation waits for it.
func TestARefusedCompletionHoldsOffNoCreation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	goOn := b.openCreation()
	complete := func() error {
		_, err := b.Store.SetPipelineStatus(t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.VerbComplete)
		return err
	}
	err := complete()
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.ErrorContains(t, err, "still has 1 open task;")
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, status, n_total, n_pending, input)
		SELECT $1, $2, $3, (ARRAY['pending', 'in_progress', 'paused', 'escalated', 'quarantined'])[1 + i % 5], 1, 1, '{}'
		FROM generate_series(1, $4::int) i`, b.OrgID, b.PipelineID, b.VersionID, store.OpenCounted)
	require.ErrorContains(t, complete(), "still has more than 1000 open tasks;")
	require.NoError(t, goOn())
}

// What stands behind a completion is not created, and a completion sees nothing of it.
func TestNothingIsCreatedBehindACompletion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.batch(0)
	errs := b.behindLock(`SELECT pg_advisory_xact_lock_shared(3, ($1::bigint % 2147483647)::int)`, b.PipelineID,
		func() error {
			_, err := b.Store.SetPipelineStatus(t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.VerbComplete)
			return err
		},
		func() error {
			_, err := b.Store.CreateTasks(t.Context(), in)
			return err
		})
	require.NoError(t, errs[0])
	require.True(t, fault.Is(errs[1], fault.Validation), "%v", errs[1])
	require.Zero(t, b.count(`SELECT count(*) FROM tasks`))
}

// Creations that stand behind a change have connections and places in their hands: it
// gives up before they would.
func TestAChangeOfAPipelineGivesUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	goOn := b.openCreation()
	change, created := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := b.Store.SetPipelineStatus(t.Context(), b.OrgID, b.PipelineID, b.Admin, pipeline.VerbPause)
		change <- err
	}()
	b.waiting(1)
	later := b.batch(0)
	go func() {
		_, err := b.Store.CreateTasks(context.WithoutCancel(t.Context()), later)
		created <- err
	}()
	err := <-change
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorContains(t, err, "tasks are being created")
	require.NoError(t, <-created, "beside the one that is still under way")
	require.NoError(t, goOn())
}

// redrafted gives the pipeline a draft that differs from its version, while a creation
// is under way: nothing waits.
func (b *bench) redrafted() {
	b.t.Helper()
	goOn := b.openCreation()
	defer func() { require.NoError(b.t, goOn()) }()
	p, err := b.Store.Version(b.t.Context(), b.VersionID)
	require.NoError(b.t, err)
	def := p.Definition
	def.Name += " once more"
	_, err = b.Store.SavePipelineDraft(b.t.Context(), b.member(b.Admin), b.PipelineID,
		store.DraftSave{Definition: document(b.t, def), Revision: 1})
	require.NoError(b.t, err)
}
