package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
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

// A floor that writes other rows than the product is none.
func TestTheFloorOfCreationsWritesWhatTheProductDoes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := &world{store: dbtest.Store(t)}
	require.NoError(t, w.populate(ctx, 1))
	b := &bench{progress: io.Discard, profile: &profile{}}
	t.Cleanup(b.close)
	var err error
	w.base, err = b.serve(ctx, w.store)
	require.NoError(t, err)
	f := &copyFloor{world: w, size: mathcheck.Small}
	require.NoError(t, f.check(ctx, w.creator(mathcheck.CreateBody(batchSize, mathcheck.Small))))
	require.NoError(t, w.clear(ctx))
	broken, err := w.store.CheckInvariants(ctx, true)
	require.NoError(t, err)
	require.Empty(t, broken)
}
