package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsolePollersHearThatNothingChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	p, again, admin := b.login(t, "manager1"), b.login(t, "manager1"), b.login(t, "admin1")
	for _, path := range []string{b.pipeline(""), b.pipeline("/tasks"), b.pipeline("/counts"), "/projects"} {
		first := p.do(t, http.MethodGet, path, nil)
		tag := first.Header.Get("ETag")
		require.Regexp(t, `^W/"[\w-]{16}"$`, tag, path)
		require.Equal(t, "no-store", first.Header.Get("Cache-Control"))
		same := p.do(t, http.MethodGet, path, nil, with("If-None-Match", tag))
		require.Equal(t, http.StatusNotModified, same.Status, path)
		require.Empty(t, same.Raw)
		require.Equal(t, tag, same.Header.Get("ETag"))
		for name, other := range map[string]person{"another session": again, "another person": admin} {
			a := other.do(t, http.MethodGet, path, nil, with("If-None-Match", tag))
			require.Equal(t, http.StatusOK, a.Status, "%s as %s", path, name)
			require.NotEqual(t, tag, a.Header.Get("ETag"))
			require.NotEmpty(t, a.Raw)
		}
		for _, forged := range []string{tag, "*"} {
			a := person{b: b}.do(t, http.MethodGet, path, nil, with("If-None-Match", forged))
			require.Equal(t, http.StatusUnauthorized, a.Status, "who is nobody learns nothing")
			require.Empty(t, a.Header.Get("ETag"))
		}
	}
	tag := p.do(t, http.MethodGet, b.pipeline("/counts"), nil).Header.Get("ETag")
	b.created(t, 1)
	require.Equal(t, http.StatusOK, p.do(t, http.MethodGet, b.pipeline("/counts"), nil, with("If-None-Match", tag)).Status)
	a := p.do(t, http.MethodPost, b.pipeline("/validate"), nil)
	require.Empty(t, a.Header.Get("ETag"), "only what is read has one")
	document := p.do(t, http.MethodGet, "/openapi.json", nil)
	require.Regexp(t, `^"`, document.Header.Get("ETag"), "the document has its own")
}
