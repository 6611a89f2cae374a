package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestWorkFromClaimToApproval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	maker, checker := b.login(t, "contributor1"), b.login(t, "reviewer1")

	claim := maker.claim(t, "contributor")
	for _, name := range []string{"claim_id", "task_id", "node", "fields", "values", "draft", "lease_expires_at", "kind", "title", "instructions", "iteration", "comments", "reviewed"} {
		require.Contains(t, claim, name)
	}
	require.Equal(t, "solve", claim["node"])
	require.Equal(t, map[string]any{"question": "What is 0 + 1?"}, claim["values"])
	require.Nil(t, claim["draft"])
	require.Len(t, claim["fields"], 4)

	draft := maker.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"answer": "on"}, "revision": 0})
	require.InDelta(t, 1, draft["revision"], 0)
	maker.refused(t, 409, "api_error", http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"answer": "x"}, "revision": 0})
	again := maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)
	require.Equal(t, map[string]any{"answer": "on"}, again["draft"].(map[string]any)["values"])
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/extend"), nil)
	require.Len(t, maker.ok(t, 200, http.MethodGet, "/claims", nil)["claims"], 1)

	a := maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/submit"), values("sure", false))
	require.Len(t, a.Body["problems"], 2, "answer and doubt")
	done := maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit?next=true"), values("answer", "one", "sure", true))
	require.Equal(t, claim["task_id"], done["task_id"])
	require.Equal(t, "solve", done["next"].(map[string]any)["node"], "the second task")
	repeat := maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("answer", "one", "sure", true))
	require.Equal(t, claim["task_id"], repeat["task_id"])
	require.Nil(t, repeat["next"])

	b.step(t, claim)
	review := checker.claim(t, "reviewer")
	require.Equal(t, "check", review["node"])
	require.Equal(t, "review", review["kind"])
	under := review["reviewed"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"answer"}, under["fields"])
	require.Equal(t, b.Email("contributor1"), under["author"].(map[string]any)["email"])
	require.Empty(t, under["earlier"])
	back := checker.ok(t, 200, http.MethodPost, onClaim(review, "/review"), map[string]any{
		"verdict": "reject", "comments": []any{map[string]any{"field": "answer", "text": "in digits"}},
	})
	require.Nil(t, back["next"])

	b.step(t, claim)
	rework := maker.ok(t, 200, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor", "task_id": claim["task_id"], "node": "solve"})
	require.InDelta(t, 2, rework["iteration"], 0)
	require.Equal(t, "in digits", rework["comments"].([]any)[0].(map[string]any)["text"])
	require.Equal(t, "one", rework["draft"].(map[string]any)["values"].(map[string]any)["answer"])
	maker.ok(t, 200, http.MethodPost, onClaim(rework, "/submit"), values("answer", "1", "sure", true))
	b.step(t, claim)
	review = checker.claim(t, "reviewer")
	checker.ok(t, 200, http.MethodPost, onClaim(review, "/review?next=true"), map[string]any{"verdict": "approve"})
	b.step(t, claim)
	status := b.v1(t, http.MethodGet, b.workflow("/tasks/%v", claim["task_id"]), nil)
	require.Equal(t, "finished", status.Body["status"])
}

// What came too late is kept as the draft, also when it is more than a draft is saved with.
func TestALateSubmissionIsKeptThatIsLargerThanADraft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	ada, ben := b.login(t, "contributor1"), b.login(t, "contributor2")
	late := ada.claim(t, "contributor")
	b.exec(t, `UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE status = 'claimed'`)
	other := ben.claim(t, "contributor")
	answer, doubt := strings.Repeat("a", 700_000), strings.Repeat("ü", 350_000)
	a := ada.refused(t, 409, "api_error", http.MethodPost, onClaim(late, "/submit"), values("answer", answer, "doubt", doubt, "sure", false))
	require.Contains(t, a.message(), "kept as your draft")
	ben.ok(t, 204, http.MethodDelete, onClaim(other, ""), nil)
	b.step(t, late)
	again := ada.ok(t, 200, http.MethodGet, onClaim(ada.claim(t, "contributor"), ""), nil)
	require.Equal(t, late["task_id"], again["task_id"])
	kept := again["draft"].(map[string]any)["values"].(map[string]any)
	require.True(t, kept["answer"] == answer && kept["doubt"] == doubt && kept["sure"] == false)
}

// A review that names its subtasks the other way round shows their forms as they were filled
// in, or a condition of the later one would find nothing of the one before.
func TestAReviewShowsItsFormsInTheOrderOfTheWork(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	start, solve, check, end := d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3]
	explain := pipeline.Node{Key: "explain", Kind: pipeline.KindSubtask, Title: "Explain it", Fields: []form.Field{{
		Name: "why", Title: "Why?", Type: form.ShortText, Input: form.Contributor,
		VisibleWhen: mustCondition(t, `{"field":"sure","op":"eq","value":true}`),
	}}}
	check.Reviews = []pipeline.Target{{Node: "explain"}, {Node: "solve"}}
	d.Nodes = []pipeline.Node{start, solve, explain, check, end}
	d.Edges = []pipeline.Edge{{From: "start", To: "solve"}, {From: "solve", To: "explain"}, {From: "explain", To: "check"}, {From: "check", To: "end"}}
	b := setup(t, dbtest.WithDefinition(d))
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	for _, answers := range []map[string]any{values("answer", "1", "sure", true), values("why", "because")} {
		claim := maker.claim(t, "contributor")
		maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), answers)
		b.step(t, claim)
	}
	review := b.login(t, "reviewer1").claim(t, "reviewer")
	each := func(list, member string) (out []any) {
		for _, one := range review[list].([]any) {
			out = append(out, one.(map[string]any)[member])
		}
		return out
	}
	require.Equal(t, []any{"question", "answer", "sure", "doubt", "why"}, each("fields", "name"))
	require.Equal(t, []any{"solve", "explain"}, each("reviewed", "node"))
}

// step applies the consequences of what people did, as the workflow would.
func (b *bench) step(t *testing.T, claim map[string]any) {
	t.Helper()
	loaded, err := b.Store.LoadTask(t.Context(), int64(claim["task_id"].(float64)))
	require.NoError(t, err)
	b.settle(t, loaded.TaskID)
}

func TestClaimOfAnEmptyQueueIs204(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.login(t, "contributor1").do(t, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
	require.Equal(t, http.StatusNoContent, a.Status)
	require.Empty(t, a.Raw)
}

func TestClaimInAPausedPipelineIs409(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	b.login(t, "manager1").ok(t, 200, http.MethodPost, b.pipeline("/pause"), nil)
	b.login(t, "contributor1").refused(t, 409, "api_error", http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
}

func TestClaimsAreForTheRole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	b.login(t, "contributor1").refused(t, 403, "forbidden", http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "reviewer"})
	b.login(t, "reviewer1").refused(t, 403, "forbidden", http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor"})
	b.login(t, "manager1").claim(t, "contributor")
}

func TestTwoPeopleNeverHoldOneNode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	first, second := b.login(t, "contributor1").claim(t, "contributor"), b.login(t, "contributor2").claim(t, "contributor")
	require.NotEqual(t, first["task_id"], second["task_id"])
	b.login(t, "contributor2").refused(t, 409, "api_error", http.MethodPost, b.pipeline("/claim"),
		map[string]any{"role": "contributor", "task_id": first["task_id"], "node": "solve"})
}

// A stale device hands in what stands in its form; a newer draft is not gone with it.
func TestAHandInSaysWhichDraftItSaw(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	maker, checker := b.login(t, "contributor1"), b.login(t, "reviewer1")
	claim := maker.claim(t, "contributor")
	save := func(p person, claim map[string]any, answer string, revision int) {
		p.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"answer": answer}, "revision": revision})
	}
	save(maker, claim, "laptop", 0)
	save(maker, claim, "phone", 1)
	body := values("answer", "laptop", "sure", true)
	body["draft_revision"] = 1
	a := maker.refused(t, 409, "api_error", http.MethodPost, onClaim(claim, "/submit"), body)
	require.Contains(t, a.Body["message"], "is at revision 2, not 1: it was saved elsewhere since, and nothing was handed in; load it")
	draft := maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)["draft"].(map[string]any)
	require.Equal(t, map[string]any{"answer": "phone"}, draft["values"])
	require.InDelta(t, 2, draft["revision"], 0)
	body["draft_revision"] = 2
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), body)
	body["draft_revision"] = 1
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), body)

	b.step(t, claim)
	review := checker.claim(t, "reviewer")
	save(checker, review, "phone", 0)
	verdict := map[string]any{"verdict": "approve", "draft_revision": 0}
	checker.refused(t, 409, "api_error", http.MethodPost, onClaim(review, "/review"), verdict)
	delete(verdict, "draft_revision")
	checker.ok(t, 200, http.MethodPost, onClaim(review, "/review"), verdict)
}

func TestReleasedClaimIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	p := b.login(t, "contributor1")
	claim := p.claim(t, "contributor")
	p.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"answer": "half"}, "revision": 0})
	p.ok(t, 204, http.MethodDelete, onClaim(claim, "?reason=lunch"), nil)
	p.refused(t, 409, "api_error", http.MethodPost, onClaim(claim, "/submit"), values("answer", "late", "sure", true))
	again := p.claim(t, "contributor")
	require.Equal(t, claim["task_id"], again["task_id"])
	require.Equal(t, "late", again["draft"].(map[string]any)["values"].(map[string]any)["answer"], "what came with a refused submission is kept")
}

// secrets is a definition that holds what people who work must not see.
func secrets() pipeline.Definition {
	d := dbtest.Definition()
	d.Nodes[1].Fields[1].Criteria = []form.Criterion{{Name: "canary-criterion", Description: "canary-gold"}}
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{
		Name: "hint", Title: "Hint", Type: form.LongText, Input: form.LLM,
		LLM: &form.Generation{Model: "canary-model", Prompt: "canary-prompt {{question}}", Context: []string{"question"}},
	})
	return d
}

func TestWorkShowsNoCriteriaAndNoPrompts(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.WithDefinition(secrets()))
	b.created(t, 1)
	b.exec(t, `UPDATE task_nodes SET status = 'available' WHERE status = 'deferred'`)
	p := b.login(t, "contributor1")
	claim := p.claim(t, "contributor")
	detail := p.do(t, http.MethodGet, onClaim(claim, ""), nil)
	require.Equal(t, http.StatusOK, detail.Status)
	for _, doc := range []string{string(mustJSON(t, claim)), string(detail.Raw)} {
		require.NotContains(t, doc, "canary")
		require.NotContains(t, doc, "criteria")
		require.NotContains(t, doc, "prompt")
	}
	admin := b.login(t, "manager1").do(t, http.MethodGet, b.pipeline(""), nil)
	require.Contains(t, string(admin.Raw), "canary-gold", "admins build with it")
}

// TestFieldsAreShownOneByOne fails when form.Field gets a member that nobody
// has decided about.
func TestFieldsAreShownOneByOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(b.do(t, http.MethodGet, "/api/console/openapi.json", nil).Raw, &doc))
	shown := doc.Components.Schemas["Field"].Properties
	hidden := map[string]bool{"llm": true, "criteria": true}
	for _, name := range jsonNames(form.Field{}) {
		_, ok := shown[name]
		require.Equal(t, !hidden[name], ok, "decide whether people who work see %q", name)
	}
}

func TestOthersDraftsAreInvisible(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	p := b.login(t, "contributor1")
	claim := p.claim(t, "contributor")
	p.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"answer": "canary"}, "revision": 0})
	p.ok(t, 204, http.MethodDelete, onClaim(claim, ""), nil)
	other := b.login(t, "contributor2")
	theirs := other.claim(t, "contributor")
	require.Equal(t, claim["task_id"], theirs["task_id"])
	require.Nil(t, theirs["draft"])
	require.NotContains(t, fmt.Sprint(theirs), "canary")
}
