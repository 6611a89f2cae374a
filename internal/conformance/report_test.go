package conformance

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sample() Report {
	return Report{
		Target: "http://taskloom.test/api/v1", Began: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Took: 1500 * time.Millisecond,
		Results: []Result{
			{ID: "2-workflow-name", Section: "2", Sentence: "name | string", Does: "GET it", Outcome: Passed, Took: 20 * time.Millisecond},
			{
				ID: "4.1.4-index", Section: "4.1", Sentence: "errors[].index is the zero-based position in the sent array.", Does: "create five items",
				Outcome: Failed, Failure: &Failure{Expected: "index 1", Got: "index 2", Exchange: &Exchange{
					Request: "POST http://taskloom.test/api/v1/workflows/1/tasks", Status: 200, RequestID: "r-1", Body: `{"errors":[<&>]}`,
				}},
			},
			{ID: "4.2.1-files", Section: "4.2", Sentence: "each top-level file becomes one task", Outcome: Skipped, Reason: "needs --file-workflow"},
		},
	}
}

func TestReportForPeople(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sample().Text(&b))
	for _, line := range []string{
		"  ok    2-workflow-name            name | string",
		"  FAIL  4.1.4-index                errors[].index is the zero-based position in the sent array.",
		"        did       create five items", "        expected  index 1", "        got       index 2",
		"        request   POST http://taskloom.test/api/v1/workflows/1/tasks", "        answer    200, X-Request-Id r-1",
		"  skip  4.2.1-files                needs --file-workflow",
		"4.1  Create tasks from JSON                    0      1       0       1",
		"all                                            1      1       1       3   in 1.5s",
	} {
		require.Contains(t, b.String(), line+"\n")
	}
}

func TestReportsForMachines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sample().JSON(&b))
	var doc struct {
		Target                  string
		Passed, Failed, Skipped int
		TookMS                  int64 `json:"took_ms"`
		Results                 []struct {
			ID, Outcome, Reason string
			TookMS              int64 `json:"took_ms"`
			Failure             *Failure
		}
	}
	require.NoError(t, json.Unmarshal([]byte(b.String()), &doc))
	require.Equal(t, []int{1, 1, 1}, []int{doc.Passed, doc.Failed, doc.Skipped})
	require.Equal(t, int64(1500), doc.TookMS)
	require.Equal(t, int64(20), doc.Results[0].TookMS)
	require.Equal(t, "r-1", doc.Results[1].Failure.Exchange.RequestID)
	require.Equal(t, "needs --file-workflow", doc.Results[2].Reason)

	b.Reset()
	require.NoError(t, sample().JUnit(&b))
	var suite junitSuite
	require.NoError(t, xml.Unmarshal([]byte(b.String()), &suite))
	require.Equal(t, []int{3, 1, 1}, []int{suite.Tests, suite.Failures, suite.Skipped})
	require.Equal(t, "expected index 1, got index 2", suite.Cases[1].Failure.Message)
	require.Contains(t, suite.Cases[1].Failure.Text, `{"errors":[<&>]}`)
	require.Equal(t, "needs --file-workflow", suite.Cases[2].Skipped.Message)
}

// What is not given skips checks and says which flag would enable them; all
// checks come to an end, whatever the server says.
func TestEveryCheckEndsAgainstNonsense(t *testing.T) {
	t.Parallel()
	const secret = "pk_live_0123456789abcdef0123456789abcdef01234567"
	for name, nonsense := range map[string]http.HandlerFunc{
		"nothing":      func(http.ResponseWriter, *http.Request) {},
		"empty object": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") },
		"wrong types": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"fields":{},"tasks":7,"task_ids":["a"],"errors":[1],"paths":[],"servers":{},"components":7,"status":{},
				"upload_id":"x","upload_url":7,"expires_at":1,"node_summary":[],"next_cursor":1,"has_more":0}`)
		},
		"not found": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := Target{
				Key: secret, Workflow: 1, FileWorkflow: 2, FolderWorkflow: 3, MixedWorkflow: 4, ForeignWorkflow: 5, PausedWorkflow: 6,
				DraftWorkflow: 7, CompletedWorkflow: 8, ArchivedWorkflow: 9, RevokedKey: secret, ExpiredKey: secret, RemovedCreatorKey: secret,
			}
			report := run(t, nonsense, target, Options{WithoutHeavy: true})
			require.NotEmpty(t, report.failed())
			var b strings.Builder
			require.NoError(t, report.Text(&b))
			require.NotContains(t, b.String(), secret)
			require.NotContains(t, b.String(), "panic")
		})
	}
	t.Run("skips", func(t *testing.T) {
		t.Parallel()
		report := run(t, http.NotFoundHandler(), Target{Key: secret, Workflow: 1}, Options{WithoutHeavy: true})
		for _, r := range report.Results {
			if r.Outcome == Skipped {
				require.Contains(t, r.Reason, "needs --", r.ID)
			}
		}
		require.Greater(t, report.Count(Skipped), 30)
	})
}

func TestTargetsThatAreNone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	for words, target := range map[string]Target{
		"--url":      {BaseURL: "taskloom.test", Key: "k", Workflow: 1},
		"--key":      {BaseURL: server.URL, Workflow: 1},
		"--workflow": {BaseURL: server.URL, Key: "k"},
		"no answer":  {BaseURL: server.URL, Key: "k", Workflow: 1},
	} {
		_, err := Run(t.Context(), target, Options{Client: server.Client()})
		require.ErrorContains(t, err, words)
	}
	up := httptest.NewServer(http.NotFoundHandler())
	defer up.Close()
	_, err := Run(t.Context(), Target{BaseURL: up.URL + prefix + "/", Key: "k", Workflow: 1}, Options{Client: up.Client(), Only: []string{"nothing"}})
	require.ErrorContains(t, err, "no check")
}
