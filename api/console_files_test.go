package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// withFile makes a task whose scan is a stored file of the organization.
func (b *bench) withFile(t *testing.T, orgID int64, name, contentType, content string) (fileID string) {
	t.Helper()
	id := uuid.New()
	key := "test/" + id.String()
	sum, err := objects(t).Put(t.Context(), key, "application/octet-stream", int64(len(content)), strings.NewReader(content))
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects(t).Delete(t.Context(), key) })
	b.exec(t, `INSERT INTO files (id, org_id, object_key, name, size, sha256, content_type) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, orgID, key, name, len(content), sum, contentType)
	v, err := b.Store.Version(t.Context(), b.VersionID)
	require.NoError(t, err)
	state, err := pipeline.Start(v.Graph, nil)
	require.NoError(t, err)
	value := json.RawMessage(fmt.Sprintf(`{"file_id": %q, "name": %q, "size": %d}`, id, name, len(content)))
	_, err = b.Store.CreateTasks(t.Context(), store.CreateTasks{
		OrgID: b.OrgID, PipelineID: b.PipelineID, VersionID: b.VersionID, Actor: b.Admin,
		Tasks: []store.NewTask{{Input: form.Values{"scan": value}, State: state}},
	})
	require.NoError(t, err)
	return id.String()
}

func withLinks(t *testing.T) *bench {
	t.Helper()
	return serve(t, dbtest.NewWorld(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("scan")))), func(d *api.Deps) { d.Links = objects(t) })
}

func TestAClaimLinksTheFilesOfItsTask(t *testing.T) {
	t.Parallel()
	b := withLinks(t)
	id := b.withFile(t, b.OrgID, "cat.png", "image/png", "meow")
	work := b.login(t, "contributor1").ok(t, 200, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
	linked := work["files"].([]any)
	require.Len(t, linked, 1)
	file := linked[0].(map[string]any)
	require.Equal(t, id, file["file_id"])
	for link, disposition := range map[string]string{"url": "inline", "download_url": "attachment"} {
		res, err := http.Get(file[link].(string))
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, "meow", string(body))
		require.Equal(t, "image/png", res.Header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(res.Header.Get("Content-Disposition"), disposition), res.Header.Get("Content-Disposition"))
	}
}

func TestAFileThatCouldCarryScriptsIsSaved(t *testing.T) {
	t.Parallel()
	b := withLinks(t)
	b.withFile(t, b.OrgID, "page.html", "text/html; charset=utf-8", "<script>alert(1)</script>")
	work := b.login(t, "contributor1").ok(t, 200, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
	res, err := http.Get(work["files"].([]any)[0].(map[string]any)["url"].(string))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.True(t, strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment"))
}

// What somebody writes into a draft, under a field that is not theirs to fill in, links no
// file: they could name one of a project that they do not belong to.
func TestADraftLinksNoFileOfAnotherTask(t *testing.T) {
	t.Parallel()
	b := withLinks(t)
	mine := b.withFile(t, b.OrgID, "cat.png", "image/png", "meow")
	other := b.withFile(t, b.OrgID, "dog.png", "image/png", "woof")
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	maker.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"),
		map[string]any{"values": map[string]any{"scan": map[string]any{"file_id": other, "name": "dog.png", "size": 4}}, "revision": 0})
	linked := maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)["files"].([]any)
	require.Len(t, linked, 1)
	require.Equal(t, mine, linked[0].(map[string]any)["file_id"])
}

func TestAFileOfAnotherOrganizationIsNotLinked(t *testing.T) {
	t.Parallel()
	b := withLinks(t)
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	b.withFile(t, other.OrgID, "secret.png", "image/png", "secret")
	work := b.login(t, "contributor1").ok(t, 200, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
	require.Equal(t, []any{}, work["files"])
}
