package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Who was not told how a completion ended looks for it while it may still be under way:
// the copy that they would delete is the file by then.
func TestAFileIsSettledOnceItsCompletionIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	b.create(1)
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	f := store.TaskFile{Field: "scan", UploadKey: "put", Announced: "image/png"}
	f.ID, f.Name, f.Size = uuid.New(), "a.png", 1
	require.NoError(t, b.Store.CreateTaskFile(ctx, *c, f))

	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, `UPDATE task_files SET object_key = 'copy', sha256 = '', content_type = '', completed_at = now() WHERE id = $1`, f.ID)
	require.NoError(t, err)
	type looked struct {
		store.TaskFile
		err error
	}
	settled := make(chan looked, 1)
	go func() {
		now, err := b.Store.SettledTaskFile(ctx, *c, f.ID)
		settled <- looked{now, err}
	}()
	b.waiting(1)
	now, err := b.Store.TaskFile(ctx, *c, f.ID)
	require.NoError(t, err)
	require.Nil(t, now.CompletedAt, "its commit is on the way")
	require.NoError(t, tx.Commit(ctx))
	got := <-settled
	require.NoError(t, got.err)
	require.Equal(t, "copy", got.Key)
	require.NotNil(t, got.CompletedAt)
}

// Whatever is copied of a file has a row that the sweep begins with. Once it is at that
// row, nothing that is copied can become the file any more.
func TestAFileIsCompletedBeforeItIsSwept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(1)
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	begun := func(age string) (f store.TaskFile) {
		f = store.TaskFile{Field: "scan", UploadKey: "put " + age, Announced: "image/png"}
		f.ID, f.Name, f.Size = uuid.New(), "a.png", 1
		require.NoError(t, b.Store.CreateTaskFile(ctx, *c, f))
		b.exec(`UPDATE task_files SET created_at = now() - $2::interval WHERE id = $1`, f.ID, age)
		f.Key, f.ContentType = store.TaskFileCopy(b.OrgID, c.TaskID, f.ID, "A"), "image/png"
		return f
	}
	for age, want := range map[string]bool{"23 hours": true, "24 hours 30 minutes": false, "26 hours": false} {
		f := begun(age)
		unknown := store.TaskFileCopy(b.OrgID, c.TaskID, uuid.New(), "A")
		left, err := b.Store.Unreferenced(ctx, 0, []string{f.UploadKey, f.Key, unknown})
		require.NoError(t, err)
		require.NotContains(t, left, f.Key, "the sweep is going to look for it")
		require.Contains(t, left, unknown)
		completed, err := b.Store.CompleteTaskFile(ctx, *c, f.File)
		require.NoError(t, err)
		require.Equal(t, want, completed, age)
	}
	late := begun("25 hours 30 minutes")
	b.exec(`UPDATE task_files SET object_key = $2, sha256 = '', content_type = '', completed_at = now() WHERE id = $1`, late.ID, late.Key)
	left, err := b.Store.TaskFilesToSweep(ctx, store.TaskFileLeft{}, 10)
	require.NoError(t, err)
	require.Len(t, left, 2)
	for _, f := range left {
		require.Equal(t, store.TaskFileCopy(b.OrgID, c.TaskID, f.ID, ""), f.Copies)
		require.Equal(t, f.ID != late.ID, f.Gone)
		require.Equal(t, f.Gone, f.Kept == "")
	}
	require.NoError(t, b.Store.SweptTaskFile(ctx, store.TaskFileLeft{ID: late.ID, OrgID: b.OrgID}))
	stray := store.TaskFileCopy(b.OrgID, c.TaskID, late.ID, "B")
	nobodys, err := b.Store.Unreferenced(ctx, 0, []string{late.Key, stray})
	require.NoError(t, err)
	require.Equal(t, []string{stray}, nobodys, "it was looked for, and came later")
}
