package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func TestAFieldKeepsItsTypeThroughVersionsWithoutIt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	without := dbtest.Simple()
	with := func(fields ...form.Field) pipeline.Definition {
		def := dbtest.Simple()
		def.Nodes[1].Fields = append(def.Nodes[1].Fields, fields...)
		return def
	}
	a := func(typ form.Type) form.Field { return form.Field{Name: "a", Type: typ, Input: form.Contributor} }
	p, err := w.Store.CreatePipeline(ctx, member(w), with(a(form.ShortText)), document(t, with(a(form.ShortText))))
	require.NoError(t, err)
	publish := func(def pipeline.Definition) error {
		row, err := w.Store.Pipeline(ctx, w.OrgID, p.ID)
		require.NoError(t, err)
		_, err = w.Store.SavePipelineDraft(ctx, member(w), p.ID, store.DraftSave{Definition: document(t, def), Revision: row.Revision})
		require.NoError(t, err)
		_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{})
		return err
	}
	_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{})
	require.NoError(t, err)
	require.NoError(t, publish(without))

	err = publish(with(a(form.Number)))
	require.Equal(t, fault.Validation, fault.KindOf(err))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Problems, 1)
	require.Contains(t, f.Problems[0].Message, "was published as short_text and stays that; give a field of type number another name")

	p, err = w.Store.Pipeline(ctx, w.OrgID, p.ID)
	require.NoError(t, err)
	types, err := w.Store.PublishedTypes(ctx, p, with(a(form.Number), form.Field{Name: "b"}, form.Field{Name: "\x00"}))
	require.NoError(t, err)
	require.Equal(t, form.ShortText, types["a"])
	require.NotContains(t, types, "b")
	stranger := p
	stranger.OrgID = dbtest.Org(t, w.Store, dbtest.WithSlug("other")).OrgID
	types, err = w.Store.PublishedTypes(ctx, stranger, with(a(form.Number)))
	require.NoError(t, err)
	require.NotContains(t, types, "a", "another organization learns nothing")

	// An earlier release published both: the newest decides, and it goes on.
	_, err = w.Store.Pool().Exec(ctx, `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) VALUES ($1, $2, 3, $3)`,
		w.OrgID, p.ID, document(t, with(a(form.Number))))
	require.NoError(t, err)
	require.NoError(t, publish(with(a(form.Number))))
	require.NoError(t, publish(without))
	require.NoError(t, publish(with(a(form.Number))))
}
