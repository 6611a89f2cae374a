package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLabelStudioIsAskedAsItAnswers(t *testing.T) {
	t.Parallel()
	var asked []string
	stuck := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		if !strings.HasPrefix(r.URL.Path, "/api/tasks/") {
			http.Error(w, `{"detail": "There are no tasks"}`, http.StatusNotFound)
			return
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		if stuck {
			page = 1
		}
		fmt.Fprintf(w, `{"tasks": [{"id": %d}, {"id": %d}], "total": 4}`, 2*page-1, 2*page)
	}))
	defer s.Close()
	c := newHTTPClient(s.URL, 1)
	l := &labelStudio{world: &labelStudioWorld{project: 7}, admin: c, workers: []*httpClient{c}}
	_, _, err := l.claim(t.Context(), 3)
	require.ErrorIs(t, err, errEmpty, "404 says that nothing is left")
	n, err := l.list(t.Context(), 1000)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Equal(t, []string{
		"/api/projects/7/next/", // without the slash it is 404 for another reason
		"/api/tasks/?project=7&page=1&page_size=1000&include=id&resolve_uri=false",
		"/api/tasks/?project=7&page=2&page_size=1000&include=id&resolve_uri=false",
	}, asked)
	stuck = true
	n, err = l.list(t.Context(), 1000)
	require.NoError(t, err)
	require.Equal(t, 2, n, "the same page twice is no other ids")
}

func TestAllMustBeCreated(t *testing.T) {
	t.Parallel()
	require.NoError(t, allCreated([]byte(`{"success_count":50,"errors":[]}`), 50))
	require.Error(t, allCreated([]byte(`{"success_count":50,"errors":[]}`), 5))
	require.Error(t, allCreated(nil, 5))
}
