package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestAStepForAnotherTaskOfTheNumberChangesNothing gives a step the right events, and
// takes it from a run that was told of another task: the first event of all tells
// nothing apart, and the graph may be another one.
func TestAStepForAnotherTaskOfTheNumberChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	b.submit(b.Contributors[0], b.claim(b.Contributors[0], pipeline.KindSubtask))
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, l.State.Seq)
	require.Equal(t, b.VersionID, l.Identity.VersionID)
	in := b.step(id, 10)
	in.Events, err = b.Store.LoadEvents(ctx, id, in.From, 10)
	require.NoError(t, err)
	for name, other := range map[string]store.Identity{
		"of another version":      {VersionID: b.VersionID + 1, CreatedAt: l.Identity.CreatedAt},
		"created at another time": {VersionID: b.VersionID, CreatedAt: l.Identity.CreatedAt.Add(-time.Microsecond)},
	} {
		in.Identity = other
		out, err := b.Store.ApplyStep(ctx, in)
		require.NoError(t, err)
		require.True(t, out.Diverged, name)
		require.False(t, out.Applied, name)
		after, err := b.Store.LoadTask(ctx, id)
		require.NoError(t, err)
		require.Equal(t, l.State, after.State, name)
	}
	doc, err := json.Marshal(l.Identity) // through a history
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, &in.Identity))
	out, err := b.Store.ApplyStep(ctx, in)
	require.NoError(t, err)
	require.True(t, out.Applied)
	b.checked()
}
