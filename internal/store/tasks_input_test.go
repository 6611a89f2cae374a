package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestInputIsKeptAsItWasSent creates tasks from values as callers may write
// them: with white space, escapes and nothing at all.
func TestInputIsKeptAsItWasSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Store.Version(t.Context(), b.VersionID)
	require.NoError(t, err)
	state, err := pipeline.Start(p.Graph, nil)
	require.NoError(t, err)
	inputs := []form.Values{
		{},
		{"question": nil},
		{"question": json.RawMessage(" \n\t\"a\\u00e4\\n\\\"b\\\" <&> ä 🙂\" ")},
		{"b": json.RawMessage(`[1, 2.50, {"x" : null}]`), "a": json.RawMessage(`true`), `q"\`: json.RawMessage(`1e3`)},
	}
	in := store.CreateTasks{OrgID: b.OrgID, PipelineID: b.PipelineID, VersionID: b.VersionID, Actor: b.Admin}
	for _, input := range inputs {
		in.Tasks = append(in.Tasks, store.NewTask{Input: input, State: state})
	}
	made, err := b.Store.CreateTasks(t.Context(), in)
	require.NoError(t, err)
	for i, id := range made.IDs {
		var got string
		err := b.Store.Pool().QueryRow(t.Context(), `SELECT input::text FROM tasks WHERE id = $1`, id).Scan(&got)
		require.NoError(t, err)
		want, err := json.Marshal(inputs[i])
		require.NoError(t, err)
		require.JSONEq(t, string(want), got)
	}
}
