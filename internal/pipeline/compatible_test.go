package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestAFieldNameKeepsItsType(t *testing.T) {
	t.Parallel()
	with := func(fields ...form.Field) pipeline.Definition {
		return pipeline.Definition{Nodes: []pipeline.Node{{Key: "start"}, {Key: "solve", Fields: fields}}}
	}
	live := with(form.Field{Name: "a", Type: form.Integer}, form.Field{Name: "b", Type: form.ShortText})
	require.Empty(t, pipeline.Incompatible(pipeline.FieldTypes(live), live))
	require.Empty(t, pipeline.Incompatible(pipeline.FieldTypes(live), with(form.Field{Name: "c", Type: form.Integer})), "fields may come and go")
	got := pipeline.Incompatible(pipeline.FieldTypes(live), with(form.Field{Name: "b", Type: form.ShortText}, form.Field{Name: "a", Type: form.ShortText}))
	require.Len(t, got, 1)
	require.Equal(t, "nodes[1].fields[1].type", got[0].Path)
	require.Equal(t, "a", got[0].Field)
}
