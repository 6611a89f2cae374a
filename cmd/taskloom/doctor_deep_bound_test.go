package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/store"
)

// Questions about files and runs are bounded by --patience as all others are.
func TestQuestionsAboutFilesAndRunsHaveABound(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			fmt.Fprintf(rw, `<ListBucketResult><Contents><Key>org/%d/files/x</Key><LastModified>2020-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>`, w.OrgID)
			return
		}
		answerAs(rw, r, "")
	}))
	t.Cleanup(srv.Close)
	d := &doctor{
		store: w.Store, config: config.Config{S3: config.S3{Bucket: "b"}},
		objects:    blob.Open(blob.Config{Endpoint: srv.URL, Region: "r", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s"}),
		temporalUp: true, temporal: faultyTemporal{run: fmt.Sprintf("task/%d", w.failed)},
	}
	o := deepOptions{patience: lockedFor / 3}
	w.lock("task_files, tasks")
	found, err := d.deepFiles(t.Context(), nil, o)
	require.NoError(t, err)
	require.Len(t, found, 3)
	runs, err := d.deepRuns(t.Context(), nil, o)
	require.NoError(t, err)
	for _, f := range append(found, runs[:2]...) {
		require.Equal(t, skipped, f.Verdict, f.Name)
		require.Equal(t, adviceLate, f.Advice, f.Name)
	}
}

// When Postgres fails, scripts still get what the checks before had found, and each
// promise by its name.
func TestADatabaseThatFailsIsToldAsJSON(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	var out bytes.Buffer
	sick, err := (&doctor{store: st}).deep(t.Context(), &app{out: &out, err: &out}, deepOptions{json: true},
		[]toldCheck{{Name: "database", Verdict: failure, Text: "does not answer"}})
	require.NoError(t, err)
	require.True(t, sick)
	var doc struct {
		Checks   []toldCheck   `json:"checks"`
		Promises []deepFinding `json:"promises"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc), out.String())
	require.Len(t, doc.Checks, 1)
	told := map[string]deepFinding{}
	for _, f := range doc.Promises {
		told[f.Name] = f
	}
	for _, inv := range store.InvariantList() {
		if inv.Drained {
			continue
		}
		require.Equal(t, skipped, told[inv.Name].Verdict, inv.Name)
		require.Contains(t, told[inv.Name].Advice, "because the database failed: ", inv.Name)
	}
	require.Equal(t, skipped, told["runs-end"].Verdict)
}
