package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
)

// The world that everything is measured in is made by SQL, past the rules of the
// product; the product must take it, or nothing can be measured.
func TestTheProductTakesTheWorld(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := &world{store: dbtest.Store(t)}
	require.NoError(t, w.populate(ctx, 2))
	require.NoError(t, w.fill(ctx, 50))
	require.NoError(t, w.fillNew(ctx, 2))
	b := &bench{progress: io.Discard, profile: &profile{}}
	t.Cleanup(b.close)
	base, err := b.serve(ctx, w.store)
	require.NoError(t, err)

	var page struct {
		Tasks []struct {
			ID int64 `json:"task_id"`
		} `json:"tasks"`
	}
	path := fmt.Sprintf("/api/v1/workflows/%d/tasks?limit=%d", w.pipelineID, pageSize)
	_, err = newAPIClient(base, w.key).decode(ctx, http.MethodGet, path, nil, &page)
	require.NoError(t, err)
	require.Len(t, page.Tasks, 52)
	for _, p := range w.people {
		c, err := w.store.ClaimNext(ctx, p.Member, "subtask")
		require.NoError(t, err)
		require.NotNil(t, c)
	}
}
