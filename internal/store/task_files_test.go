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
