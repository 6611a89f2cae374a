package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// servedWorld is a world on a database of the test's, and the API that serves it.
func servedWorld(t *testing.T, people int) *world {
	t.Helper()
	w := &world{store: dbtest.Store(t)}
	require.NoError(t, w.populate(t.Context(), people))
	b := &bench{progress: io.Discard, profile: &profile{}}
	t.Cleanup(b.close)
	var err error
	w.base, err = b.serve(t.Context(), w.store)
	require.NoError(t, err)
	return w
}

// The world that everything is measured in is made by SQL, past the rules of the
// product; the product must take it, or nothing can be measured.
func TestTheProductTakesTheWorld(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := servedWorld(t, 2)
	require.NoError(t, w.fill(ctx, 50))
	require.NoError(t, w.fillNew(ctx, 2))

	var page struct {
		Tasks []struct {
			ID int64 `json:"task_id"`
		} `json:"tasks"`
	}
	path := fmt.Sprintf("/api/v1/workflows/%d/tasks?limit=%d", w.pipelineID, pageSize)
	_, err := w.integrator().decode(ctx, http.MethodGet, path, nil, &page)
	require.NoError(t, err)
	require.Len(t, page.Tasks, 52)
	for _, p := range w.people {
		c, err := w.store.ClaimNext(ctx, p.Member, pipeline.KindSubtask)
		require.NoError(t, err)
		require.NotNil(t, c)
	}
}

// A floor that writes other rows than the product is none.
func TestTheFloorOfCreationsWritesWhatTheProductDoes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := servedWorld(t, 1)
	f := &copyFloor{world: w, size: mathcheck.Small}
	require.NoError(t, f.check(ctx, w.creator(mathcheck.CreateBody(batchSize, mathcheck.Small))))
	require.NoError(t, w.clear(ctx))
	broken, err := w.store.CheckInvariants(ctx, true)
	require.NoError(t, err)
	require.Empty(t, broken)
}
