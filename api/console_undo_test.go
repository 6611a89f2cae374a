package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// handedIn lets the contributor submit the next task, which nobody reviews.
func handedIn(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, ids)
	_, err := b.Store.Submit(t.Context(), b.Contributors[0], claim.ID, form.Values{"answer": json.RawMessage(`"1"`)})
	require.NoError(t, err)
}

func TestUndoFromTheConsole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	maker, checker := b.login(t, "contributor1"), b.login(t, "reviewer1")
	claim := maker.claim(t, "contributor")
	done := maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit?next=true"), values("answer", "one", "sure", true))
	require.Equal(t, claim["claim_id"], done["claim_id"])
	until, err := time.Parse(time.RFC3339, done["undo_until"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Minute), until, 30*time.Second)
	b.step(t, claim)

	work := maker.ok(t, 200, http.MethodPost, onClaim(claim, "/undo"), nil)
	require.InDelta(t, 2, work["iteration"], 0)
	require.Equal(t, map[string]any{"answer": "one", "sure": true}, work["draft"].(map[string]any)["values"])
	require.Equal(t, claim["claim_id"], work["undo_of"].(map[string]any)["claim_id"])
	require.Equal(t, "Math check", work["pipeline"])
	require.NotEmpty(t, work["project"])
	require.Len(t, maker.ok(t, 200, http.MethodGet, "/claims", nil)["claims"], 2, "beside the next one, which is theirs already")
	require.Equal(t, http.StatusNoContent, checker.do(t, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "reviewer"}).Status)

	history := maker.ok(t, 200, http.MethodGet, "/history", nil)
	first := history["submissions"].([]any)[0].(map[string]any)
	require.Equal(t, "undone", first["outcome"])
	require.Nil(t, first["undo_until"])

	maker.ok(t, 200, http.MethodPost, onClaim(work, "/submit"), values("answer", "two", "sure", true))
	b.step(t, claim)
	checker.claim(t, "reviewer")
	a := maker.refused(t, 409, "api_error", http.MethodPost, onClaim(work, "/undo"), nil)
	require.Contains(t, a.message(), "taken up")
}

func TestSkipFromTheConsole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	maker := b.login(t, "contributor1")
	first := maker.claim(t, "contributor")
	maker.ok(t, 204, http.MethodDelete, onClaim(first, "?skip=true"), nil)
	second := maker.claim(t, "contributor")
	require.NotEqual(t, first["task_id"], second["task_id"])
	queue := maker.ok(t, 200, http.MethodGet, b.pipeline("/queue?role=contributor"), nil)
	require.InDelta(t, 0, queue["available"], 0)
	require.InDelta(t, 1, queue["mine"], 0)
	reason := queue["reasons"].([]any)[0].(map[string]any)
	require.Equal(t, "skipped", reason["code"])
	require.Contains(t, reason["message"], "1 subtask is left out")
	queues := maker.ok(t, 200, http.MethodGet, "/queues", nil)["queues"].([]any)
	require.Len(t, queues, 1)
	require.InDelta(t, 1, queues[0].(map[string]any)["mine"], 0)
	require.Equal(t, "contributor", queues[0].(map[string]any)["role"])
	reset := maker.ok(t, 200, http.MethodPost, b.pipeline("/queue/reset"), nil)
	require.InDelta(t, 1, reset["reset"], 0)
	require.Equal(t, first["task_id"], maker.claim(t, "contributor")["task_id"])
	maker.refused(t, 403, "forbidden", http.MethodGet, b.pipeline("/queue?role=reviewer"), nil)
}

func TestHistoryFromTheConsole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 3)
	maker := b.login(t, "contributor1")
	var claim map[string]any
	for range 3 {
		claim = maker.claim(t, "contributor")
		maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("answer", "1", "sure", true))
	}
	page := maker.ok(t, 200, http.MethodGet, fmt.Sprintf("/history?limit=2&pipeline_id=%d", b.PipelineID), nil)
	require.Len(t, page["submissions"], 2)
	require.Equal(t, true, page["has_more"])
	newest := page["submissions"].([]any)[0].(map[string]any)
	require.Equal(t, claim["claim_id"], newest["claim_id"])
	require.Equal(t, "waiting", newest["outcome"])
	require.NotNil(t, newest["undo_until"])
	next := maker.ok(t, 200, http.MethodGet, fmt.Sprintf("/history?limit=2&pipeline_id=%d&cursor=%s", b.PipelineID, page["next_cursor"]), nil)
	require.Len(t, next["submissions"], 1)
	require.Nil(t, next["next_cursor"])
	maker.refused(t, 400, "invalid_request", http.MethodGet, "/history?cursor="+page["next_cursor"].(string), nil)
	b.login(t, "contributor2").refused(t, 400, "invalid_request", http.MethodGet, fmt.Sprintf("/history?pipeline_id=%d&cursor=%s", b.PipelineID, page["next_cursor"]), nil)

	detail := maker.ok(t, 200, http.MethodGet, "/history/"+claim["claim_id"].(string), nil)
	require.Equal(t, "1", detail["values"].(map[string]any)["answer"])
	require.Len(t, detail["fields"], 4)
	require.Empty(t, detail["reviews"])
	progress := maker.ok(t, 200, http.MethodGet, "/progress?tz_offset=120", nil)
	require.InDelta(t, 3, progress["today"], 0)
	require.Len(t, progress["days"], 14)
}
