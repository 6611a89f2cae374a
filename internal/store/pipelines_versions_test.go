package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func TestVersionsAndRestoring(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, m := t.Context(), member(b.World)
	old := b.create(2)
	def := dbtest.Definition()
	def.Description = "Second"
	_, err := b.Store.SavePipelineDraft(ctx, m, b.PipelineID, store.DraftSave{Definition: document(t, def), Revision: 1})
	require.NoError(t, err)
	_, err = b.Store.Publish(ctx, b.OrgID, b.PipelineID, b.ProjectAdmin, pipeline.Options{}, store.Publication{Note: "more words"})
	require.NoError(t, err)
	p, err := b.Store.Pipeline(ctx, b.OrgID, b.PipelineID)
	require.NoError(t, err)
	b.VersionID = *p.VersionID
	b.create(3)
	require.NoError(t, b.Store.FailTask(ctx, b.member(b.Admin), old[0], ""))

	versions, err := b.Store.Versions(ctx, b.OrgID, b.PipelineID)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, []any{2, "more words", b.ProjectAdmin, true, 3},
		[]any{versions[0].Number, versions[0].Note, *versions[0].PublishedBy, versions[0].Live, versions[0].OpenTasks})
	require.Equal(t, []any{1, false, 1}, []any{versions[1].Number, versions[1].Live, versions[1].OpenTasks})

	first, err := b.Store.VersionByNumber(ctx, b.OrgID, b.PipelineID, 1)
	require.NoError(t, err)
	_, err = b.Store.RestoreVersion(ctx, m, b.PipelineID, 1, 1)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.Store.RestoreVersion(ctx, m, b.PipelineID, 7, 2)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	restored, err := b.Store.RestoreVersion(ctx, m, b.PipelineID, 1, 2)
	require.NoError(t, err)
	require.EqualValues(t, 3, restored.Revision)
	require.Equal(t, 2, restored.VersionNumber, "what is live stays until it is published")
	draft, err := b.Store.PipelineDraft(ctx, b.OrgID, b.PipelineID)
	require.NoError(t, err)
	require.JSONEq(t, string(first.Definition), string(draft.Draft))

	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	_, err = b.Store.Versions(ctx, other.OrgID, b.PipelineID)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, err = b.Store.VersionByNumber(ctx, other.OrgID, b.PipelineID, 1)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

func TestVersionsListedHaveABound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition)
		SELECT $1, $2, 1 + i, '{}' FROM generate_series(1, $3::int) i`, b.OrgID, b.PipelineID, store.MaxVersions)
	versions, err := b.Store.Versions(t.Context(), b.OrgID, b.PipelineID)
	require.NoError(t, err)
	require.Len(t, versions, store.MaxVersions)
	require.Equal(t, store.MaxVersions+1, versions[0].Number, "the newest")
}

// A version of an older release, which took keys in another case, can be published again.
// Every other one is restored word for word.
func TestARestoredVersionCanBePublished(t *testing.T) {
	t.Parallel()
	def := dbtest.Definition()
	def.Description, def.Nodes[1].Lease = "Older", pipeline.Duration(30*time.Minute)
	doc := string(document(t, def))
	short := strings.ReplaceAll(doc, `"30m0s"`, `"30m"`)
	for name, c := range map[string]struct {
		published, draft string
	}{
		"keys in another case": {strings.ReplaceAll(doc, `"name":`, `"NAME":`), doc},
		"word for word":        {short, short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			b.exec(`INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition, note) VALUES ($1, $2, 2, $3, '')`,
				b.OrgID, b.PipelineID, json.RawMessage(c.published))
			_, err := b.Store.RestoreVersion(ctx, member(b.World), b.PipelineID, 2, 1)
			require.NoError(t, err)
			d, err := b.Store.PipelineDraft(ctx, b.OrgID, b.PipelineID)
			require.NoError(t, err)
			require.JSONEq(t, c.draft, string(d.Draft))
			p, err := b.Store.Publish(ctx, b.OrgID, b.PipelineID, b.ProjectAdmin, pipeline.Options{}, store.Publication{})
			require.NoError(t, err)
			require.Equal(t, 3, p.VersionNumber)
		})
	}
}

func TestALayoutIsNoChangeOfTheDraft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	m := member(w)
	def := document(t, dbtest.Definition())
	layout := map[string][2]float64{"solve": {12.5, -3}}
	saved, err := w.Store.SavePipelineDraft(ctx, m, w.PipelineID, store.DraftSave{Definition: def, Revision: 1, Layout: layout})
	require.NoError(t, err)
	require.EqualValues(t, 1, saved.Revision)
	listed, err := w.Store.ListPipelines(ctx, m)
	require.NoError(t, err)
	require.False(t, listed[0].Unpublished)

	changed := dbtest.Definition()
	changed.Description = "x"
	saved, err = w.Store.SavePipelineDraft(ctx, m, w.PipelineID, store.DraftSave{Definition: document(t, changed), Revision: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2, saved.Revision)
	d, err := w.Store.PipelineDraft(ctx, w.OrgID, w.PipelineID)
	require.NoError(t, err)
	require.Equal(t, layout, d.Layout, "a save without a layout leaves it")
	require.Equal(t, w.Admin, *d.SavedBy)

	_, err = w.Store.SavePipelineDraft(ctx, m, w.PipelineID, store.DraftSave{Definition: def, Revision: 1})
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, err.Error(), "saved by admin1 at 20")
	_, err = w.Store.SavePipelineDraft(ctx, m, w.PipelineID, store.DraftSave{Definition: def, Revision: 2, Layout: map[string][2]float64{"a": {1e9, 0}}})
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	listed, err = w.Store.ListPipelines(ctx, m)
	require.NoError(t, err)
	require.True(t, listed[0].Unpublished)
}

func TestCopiesGetNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	m := member(w)
	_, err := w.Store.SavePipelineDraft(ctx, m, w.PipelineID, store.DraftSave{
		Definition: document(t, dbtest.Definition()), Revision: 1, Layout: map[string][2]float64{"solve": {1, 2}},
	})
	require.NoError(t, err)
	for _, want := range []string{"Math check (copy)", "Math check (copy) (2)", "Math check (copy) (3)"} {
		p, err := w.Store.DuplicatePipeline(ctx, m, w.PipelineID, m, "")
		require.NoError(t, err)
		require.Equal(t, want, p.Name)
		require.Equal(t, store.StatusDraft, p.Status)
		d, err := w.Store.PipelineDraft(ctx, w.OrgID, p.ID)
		require.NoError(t, err)
		require.Contains(t, string(d.Draft), want)
		require.Equal(t, map[string][2]float64{"solve": {1, 2}}, d.Layout)
	}
	imported, err := w.Store.ImportPipeline(ctx, m, dbtest.Definition())
	require.NoError(t, err)
	require.Equal(t, "Math check (2)", imported.Name)
	long := dbtest.Definition()
	long.Name = strings.Repeat("é", pipeline.MaxName)
	for range 2 {
		p, err := w.Store.ImportPipeline(ctx, m, long)
		require.NoError(t, err)
		require.Len(t, []rune(p.Name), pipeline.MaxName)
	}
	elsewhere := m
	elsewhere.ProjectID = w.AddProject(t, "Elsewhere")
	p, err := w.Store.DuplicatePipeline(ctx, m, w.PipelineID, elsewhere, "Math check")
	require.NoError(t, err)
	require.Equal(t, elsewhere.ProjectID, p.ProjectID)
	require.Equal(t, "Math check", p.Name)

	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	_, err = w.Store.DuplicatePipeline(ctx, m, w.PipelineID, member(other), "")
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	_, err = w.Store.DuplicatePipeline(ctx, member(other), w.PipelineID, member(other), "")
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

func TestListsOfPipelinesCountTheirWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	busy(t, b, 18)
	_, err := b.Store.ImportPipeline(ctx, member(b.World), dbtest.Simple())
	require.NoError(t, err)
	want := store.QueueCounts{Available: 6, Claimed: 2, InReview: 4, Escalated: 2, Quarantined: 2, Failed: 2, Open: 16, Total: 18}
	for range 2 {
		counts, err := b.Store.QueueCounts(ctx, b.OrgID, b.PipelineID)
		require.NoError(t, err)
		require.Equal(t, want, counts)
		listed, err := b.Store.ListPipelines(ctx, b.member(b.Admin))
		require.NoError(t, err)
		require.Len(t, listed, 2)
		require.Equal(t, store.QueueCounts{}, listed[0].Counts)
		require.Equal(t, want, listed[1].Counts)
		listed, err = b.Store.ListPipelines(ctx, b.member(b.Contributors[0]))
		require.NoError(t, err)
		require.Len(t, listed, 1, "drafts are for admins")
		err = b.Store.Tidy(ctx)
		require.NoError(t, err)
		require.Equal(t, 0, b.count(`SELECT count(*) FROM count_changes`), "and the same again once they are folded")
	}
}

func TestCountsHealWhenAnotherProgramWroteTheRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(2)
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input) SELECT $1, $2, $3, 1, 1, '{}' FROM generate_series(1, 3)`,
		b.OrgID, b.PipelineID, b.VersionID)
	b.exec(`UPDATE pipeline_counts SET n = 99`)
	for _, want := range []int{2, 5, 5} {
		counts, err := b.Store.QueueCounts(t.Context(), b.OrgID, b.PipelineID)
		require.NoError(t, err)
		require.Equal(t, want, counts.Open)
		b.exec(`UPDATE count_checks SET at = now() - interval '61 minutes'`)
		err = b.Store.Tidy(t.Context())
		require.NoError(t, err)
	}
}
