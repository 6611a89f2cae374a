package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// The bytes of sound alone may look like those of a film: its name says that it is none.
func TestAFieldForSoundTakesItInContainersOfFilms(t *testing.T) {
	t.Parallel()
	const (
		webm = "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm and so on"
		mp4  = "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42 and so on"
	)
	d := uploadingDefinition()
	d.Nodes[1].Fields[1].Accept = []string{"audio/*"}
	b := serve(t, dbtest.NewWorld(t, dbtest.WithDefinition(d)), func(d *api.Deps) { d.Links = objects(t) })
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	var done map[string]any
	for _, c := range []struct{ name, announced, body, want string }{
		{"a.m4a", "audio/mp4", mp4, "audio/mp4"},
		{"a.webm", "audio/webm", webm, "audio/webm"},
		{"a.webm", "video/webm", webm, "audio/webm"},
	} {
		done = maker.upload(t, claim, "scan", c.name, c.announced, c.body)
		require.Equal(t, c.want, done["content_type"], c.name)
	}
	a := maker.do(t, http.MethodPost, onClaim(claim, "/files"),
		map[string]any{"field": "scan", "name": "a.mp4", "size": len(mp4), "content_type": "video/mp4"})
	require.Equal(t, 422, a.Status, "%s", a.Raw)
	created := maker.begin(t, claim, "scan", "a.webm", "audio/webm", len(htmlBytes))
	require.Equal(t, http.StatusOK, browserPut(t, created, htmlBytes))
	maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("scan", fileValue(done)))
}
