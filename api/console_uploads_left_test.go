package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// What is under way when somebody leaves is done to its end: the row would name a copy
// that is deleted meanwhile.
func TestACompletionOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes))
	require.Equal(t, http.StatusOK, browserPut(t, created, pngBytes))
	complete := onClaim(claim, "/files/"+created["file_id"].(string)+"/complete")

	ctx := context.WithoutCancel(t.Context())
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, `SELECT FROM task_files WHERE id = $1 FOR UPDATE`, created["file_id"])
	require.NoError(t, err)
	waits, leave := context.WithCancel(ctx)
	defer leave()
	call := httptest.NewRequestWithContext(waits, http.MethodPost, publicURL+"/api/console"+complete, nil)
	call.AddCookie(maker.cookie)
	left := make(chan struct{})
	go func() {
		defer close(left)
		b.handler.ServeHTTP(httptest.NewRecorder(), call) // what it says, nobody hears
	}()
	require.Eventually(t, func() bool {
		return b.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	}, 20*time.Second, 5*time.Millisecond)
	leave()
	require.Never(t, func() bool {
		select {
		case <-left:
			return true
		default:
			return false
		}
	}, 200*time.Millisecond, 5*time.Millisecond, "the end is waited for")
	require.NoError(t, tx.Rollback(ctx))
	<-left

	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM task_files WHERE completed_at IS NOT NULL`))
	done := maker.ok(t, 200, http.MethodPost, complete, nil)
	require.Equal(t, pngBytes, fetch(t, done["url"]))
	there, err := objects(t).List(ctx, fmt.Sprintf("org/%d/files/task/%v/%s", b.OrgID, claim["task_id"], created["file_id"]), "")
	require.NoError(t, err)
	require.Len(t, there, 1)
}

// An upload that began more than a day ago is not completed, for the sweep deletes
// whatever is copied of it; and it leaves no copy.
func TestAnUploadOfYesterdayIsGivenUp(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes))
	require.Equal(t, http.StatusOK, browserPut(t, created, pngBytes))
	b.exec(t, `UPDATE task_files SET created_at = now() - interval '24 hours 1 minute' WHERE id = $1`, created["file_id"])
	a := maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
	require.Contains(t, a.message(), "began more than a day ago, so it is given up: upload it again")
	there, err := objects(t).List(t.Context(), store.TaskFileCopy(b.OrgID, int64(claim["task_id"].(float64)), uuid.MustParse(created["file_id"].(string)), ""), "")
	require.NoError(t, err)
	require.Empty(t, there)
}
