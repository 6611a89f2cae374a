package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func document(t *testing.T, d pipeline.Definition) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	return raw
}

func member(w *dbtest.World) store.Member {
	return store.Member{UserID: w.Admin, OrgID: w.OrgID, ProjectID: w.ProjectID, OrgAdmin: true}
}

func TestCreatePipeline(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	def := dbtest.Simple()

	p, err := w.Store.CreatePipeline(ctx, member(w), def, document(t, def))
	require.NoError(t, err)
	require.Equal(t, store.StatusDraft, p.Status)
	require.Equal(t, "Math", p.Name)
	require.Nil(t, p.VersionID)
	require.EqualValues(t, 1, p.Revision)

	got, err := w.Store.Pipeline(ctx, w.OrgID, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got)
	draft, err := w.Store.PipelineDraft(ctx, w.OrgID, p.ID)
	require.NoError(t, err)
	require.JSONEq(t, string(document(t, def)), string(draft.Draft))

	_, err = w.Store.CreatePipeline(ctx, member(w), def, document(t, def))
	require.Equal(t, fault.Conflict, fault.KindOf(err))

	foreign := member(w)
	foreign.ProjectID = other.ProjectID
	_, err = w.Store.CreatePipeline(ctx, foreign, def, document(t, def))
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	for _, org := range []int64{other.OrgID, 1 << 40} {
		_, err = w.Store.Pipeline(ctx, org, p.ID)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		_, err = w.Store.PipelineDraft(ctx, org, p.ID)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
	}
	for _, raw := range []string{`{"name":"a\u0000b","nodes":[],"edges":[]}`, `{"name":"\ud800","nodes":[],"edges":[]}`} {
		_, err = w.Store.CreatePipeline(ctx, member(w), pipeline.Definition{Name: "x"}, json.RawMessage(raw))
		require.Equal(t, fault.Validation, fault.KindOf(err), raw)
	}
}

func TestSavePipelineDraft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	def := dbtest.Definition()
	def.Name = "Renamed"

	p, err := w.Store.SavePipelineDraft(ctx, member(w), w.PipelineID, store.DraftSave{Definition: document(t, def), Revision: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2, p.Revision)
	require.Equal(t, "Renamed", p.Name)
	require.Equal(t, 1, p.VersionNumber, "a draft is not published")

	_, err = w.Store.SavePipelineDraft(ctx, member(w), w.PipelineID, store.DraftSave{Definition: document(t, def), Revision: 1})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.ErrorContains(t, err, "revision 2")

	_, err = w.Store.SavePipelineDraft(ctx, member(other), w.PipelineID, store.DraftSave{Definition: document(t, def), Revision: 2})
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	for _, raw := range []string{`{`, `{"name":"x","colour":1}`, `{"name":" "}`, `{"name":"x","description":"\u0000"}`} {
		_, err = w.Store.SavePipelineDraft(ctx, member(w), w.PipelineID, store.DraftSave{Definition: json.RawMessage(raw), Revision: 2})
		require.Equal(t, fault.Validation, fault.KindOf(err), raw)
	}
	_, err = w.Store.SavePipelineDraft(ctx, member(w), w.PipelineID, store.DraftSave{Definition: make(json.RawMessage, pipeline.MaxDefinition+1), Revision: 2})
	require.Equal(t, fault.PayloadTooLarge, fault.KindOf(err))

	w.AddPipeline(t, dbtest.Simple(), store.StatusActive)
	_, err = w.Store.SavePipelineDraft(ctx, member(w), w.PipelineID, store.DraftSave{Definition: document(t, dbtest.Simple()), Revision: 2})
	require.Equal(t, fault.Conflict, fault.KindOf(err), "the name is taken")
}

func TestPublish(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	def := dbtest.Simple()
	p, err := w.Store.CreatePipeline(ctx, member(w), def, document(t, def))
	require.NoError(t, err)

	p, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{Note: "first"})
	require.NoError(t, err)
	require.Equal(t, store.StatusActive, p.Status)
	require.Equal(t, 1, p.VersionNumber)
	first := *p.VersionID

	again, err := w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{Note: "same"})
	require.NoError(t, err)
	require.Equal(t, p, again, "the same definition makes no version")

	def.Description = "changed"
	_, err = w.Store.SavePipelineDraft(ctx, member(w), p.ID, store.DraftSave{Definition: document(t, def), Revision: p.Revision})
	require.NoError(t, err)
	_, err = w.Store.SetPipelineStatus(ctx, w.OrgID, p.ID, w.Admin, pipeline.VerbPause)
	require.NoError(t, err)
	seen := p.Revision
	_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{Revision: &seen})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.ErrorContains(t, err, "load it again")
	seen++
	p, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{Note: "second", Revision: &seen})
	require.NoError(t, err)
	require.Equal(t, store.StatusPaused, p.Status)
	require.Equal(t, 2, p.VersionNumber)
	require.NotEqual(t, first, *p.VersionID)

	old, err := w.Store.Version(ctx, first)
	require.NoError(t, err)
	require.Empty(t, old.Definition.Description, "a version is immutable")
	_, err = w.Store.Pool().Exec(ctx, `UPDATE pipeline_versions SET note = 'x' WHERE id = $1`, first)
	require.Error(t, err)

	_, err = w.Store.Publish(ctx, other.OrgID, p.ID, other.Admin, pipeline.Options{}, store.Publication{})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestPublishListsEveryProblem(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	def := dbtest.Simple()
	def.Nodes[1].Fields[0].Type = "crayon"
	def.Edges = append(def.Edges, pipeline.Edge{From: "solve", To: "nowhere"})
	p, err := w.Store.CreatePipeline(ctx, member(w), def, document(t, def))
	require.NoError(t, err)

	_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{}, store.Publication{})
	require.Equal(t, fault.Validation, fault.KindOf(err))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.GreaterOrEqual(t, len(f.Problems), 2)

	got, err := w.Store.Pipeline(ctx, w.OrgID, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got)
}

func TestPublishRefusesLLMFieldsWithoutProvider(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	def := dbtest.Simple()
	def.Nodes[1].Fields = append(def.Nodes[1].Fields, form.Field{
		Name: "hint", Type: form.LongText, Input: form.LLM,
		LLM: &form.Generation{Model: "default", Prompt: "Hint for {{question}}", Context: []string{"question"}},
	})
	p, err := w.Store.CreatePipeline(ctx, member(w), def, document(t, def))
	require.NoError(t, err)
	_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{LLM: false}, store.Publication{})
	require.Equal(t, fault.Validation, fault.KindOf(err))
	_, err = w.Store.Publish(ctx, w.OrgID, p.ID, w.Admin, pipeline.Options{LLM: true}, store.Publication{})
	require.NoError(t, err)
}

func TestSetPipelineStatus(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	set := func(v pipeline.Verb) (store.PipelineRow, error) {
		return w.Store.SetPipelineStatus(ctx, w.OrgID, w.PipelineID, w.Admin, v)
	}
	for _, step := range []struct {
		verb pipeline.Verb
		want string
	}{
		{pipeline.VerbPause, store.StatusPaused},
		{pipeline.VerbResume, store.StatusActive},
		{pipeline.VerbComplete, store.StatusCompleted},
		{pipeline.VerbReopen, store.StatusActive},
		{pipeline.VerbPause, store.StatusPaused},
		{pipeline.VerbArchive, store.StatusArchived},
		{pipeline.VerbUnarchive, store.StatusPaused},
	} {
		p, err := set(step.verb)
		require.NoError(t, err, step.verb)
		require.Equal(t, step.want, p.Status, step.verb)
	}
	_, err := set(pipeline.VerbReopen)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	for _, v := range []pipeline.Verb{pipeline.VerbPublish, "explode"} {
		_, err = set(v)
		require.Equal(t, fault.InvalidRequest, fault.KindOf(err), v)
	}
	_, err = w.Store.SetPipelineStatus(ctx, other.OrgID, w.PipelineID, other.Admin, pipeline.VerbResume)
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	t.Run("open tasks keep it from being completed", func(t *testing.T) {
		_, err := w.Store.Pool().Exec(ctx, `
			INSERT INTO tasks (org_id, pipeline_id, version_id, status, n_total, n_pending, input)
			SELECT $1, $2, $3, unnest(ARRAY['finished', 'failed', 'pending', 'in_progress']), 1, 1, '{}'`,
			w.OrgID, w.PipelineID, w.VersionID)
		require.NoError(t, err)
		_, err = set(pipeline.VerbComplete)
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		require.ErrorContains(t, err, "2 open tasks")
		_, err = w.Store.Pool().Exec(ctx, `UPDATE tasks SET status = 'finished'`)
		require.NoError(t, err)
		_, err = set(pipeline.VerbComplete)
		require.NoError(t, err)
	})
}
