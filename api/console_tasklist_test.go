package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/api/console"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// listed is the ids of a list of tasks, in order.
func listed(t *testing.T, body map[string]any) []any {
	t.Helper()
	ids := []any{}
	for _, item := range body["tasks"].([]any) {
		ids = append(ids, item.(map[string]any)["id"])
	}
	return ids
}

func TestTasksAreFiltered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.created(t, 4)
	p := b.login(t, "manager1")
	claim := b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, map[string]string{})
	require.InDelta(t, ids[0], claim.TaskID, 0)
	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%v/hold", ids[1]), nil)
	out := p.ok(t, 200, http.MethodPost, b.pipeline("/tasks/bulk"), map[string]any{"action": "set_priority", "priority": -7, "task_ids": []any{ids[2], 987654321}})
	require.Equal(t, []any{ids[2]}, out["done"])
	require.InDelta(t, 987654321, out["failed"].([]any)[0].(map[string]any)["task_id"], 0)
	require.Equal(t, []any{}, out["left"])
	out = p.ok(t, 200, http.MethodPost, b.pipeline("/tasks/bulk"), map[string]any{"action": "release", "as_of": "2020-01-01T00:00:00Z", "task_ids": []any{ids[0]}})
	require.Contains(t, out["failed"].([]any)[0].(map[string]any)["message"], "was claimed since you looked", "it was claimed since")
	for query, want := range map[string][]any{
		"":            {ids[3], ids[2], ids[1], ids[0]},
		"held=true":   {ids[1]},
		"held=false":  {ids[3], ids[2], ids[0]},
		"priority=-7": {ids[2]},
		"priority=0":  {ids[3], ids[1], ids[0]},
		fmt.Sprintf("person=%d", b.Contributors[0]): {ids[0]},
		"node=solve&node_status=claimed":            {ids[0]},
		"node=check":                                {},
		fmt.Sprintf("id=%v", ids[3]):                {ids[3]},
		"status=paused":                             {ids[1]},
		"created_before=2020-01-01T00:00:00Z":       {},
		"created_after=2020-01-01T00:00:00Z":        {ids[3], ids[2], ids[1], ids[0]},
	} {
		require.Equal(t, want, listed(t, p.ok(t, 200, http.MethodGet, b.pipeline("/tasks?"+query), nil)), query)
	}
	for _, query := range []string{
		"held=maybe", "held=", "priority=x", "priority=101", "person=0", "id=-1", "node_status=lost", "created_after=yesterday", "held=true&held=false",
	} {
		p.refused(t, 400, "invalid_request", http.MethodGet, b.pipeline("/tasks?"+query), nil)
	}
	page := p.ok(t, 200, http.MethodGet, b.pipeline("/tasks?held=false&limit=1"), nil)
	next := url.QueryEscape(page["next_cursor"].(string))
	require.Equal(t, []any{ids[2]}, listed(t, p.ok(t, 200, http.MethodGet, b.pipeline("/tasks?limit=1&held=false&cursor="+next), nil)))
	for _, other := range []string{"", "&held=true", "&held=false&node=solve"} {
		p.refused(t, 400, "invalid_request", http.MethodGet, b.pipeline("/tasks?limit=1&cursor="+next+other), nil)
	}
	at := p.ok(t, 200, http.MethodGet, b.pipeline(fmt.Sprintf("/tasks?id=%v", ids[0])), nil)["tasks"].([]any)[0].(map[string]any)["at"].([]any)[0].(map[string]any)
	require.Equal(t, "Solve the problem", at["title"])
	require.Equal(t, "contributor1", at["person"].(map[string]any)["name"])
	require.NotNil(t, at["lease_expires_at"])
}

func TestBulkRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	for _, body := range []map[string]any{
		{"action": "forget", "task_ids": []int{1}},
		{"action": "hold", "task_ids": []int{}},
		{"action": "set_priority", "task_ids": []int{1}},
		{"action": "set_priority", "priority": 101, "task_ids": []int{1}},
		{"action": "hold", "task_ids": make([]int, 201)},
	} {
		p.refused(t, 422, "validation_error", http.MethodPost, b.pipeline("/tasks/bulk"), body)
	}
}

// waits are the codes and messages of why a task waits.
func waits(t *testing.T, p person, id any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, item := range p.ok(t, 200, http.MethodGet, fmt.Sprintf("/tasks/%v", id), nil)["waiting"].([]any) {
		w := item.(map[string]any)
		key := w["code"].(string)
		if w["node"] != "" {
			key = w["node"].(string) + " " + key
		}
		out[key] = w["message"].(string)
	}
	return out
}

func TestATaskSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.created(t, 3)
	p := b.login(t, "manager1")
	why := waits(t, p, ids[1])
	require.Equal(t, "In the queue at place 2 of 3. Its priority is 0.", why["solve queue"])
	require.Equal(t, "Waits for “Solve the problem” (available).", why["check upstream"])
	require.Contains(t, why["run"], "has not started yet: 1 delivery goes before it")

	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%v/hold", ids[1]), map[string]any{"reason": "typo"})
	p.ok(t, 200, http.MethodPost, b.pipeline("/pause"), nil)
	why = waits(t, p, ids[1])
	require.Contains(t, why["held"], "by manager1: typo: nobody can claim")
	require.Contains(t, why["paused"], "The pipeline is PAUSED")
	p.ok(t, 200, http.MethodPost, b.pipeline("/resume"), nil)
	b.exec(t, `DELETE FROM outbox`)
	why = waits(t, p, ids[1])
	require.Contains(t, why["run"], "1 event waits for its run")

	at := map[string]string{}
	inReview(t, b, at)
	why = waits(t, p, at["{task_id}"])
	require.Equal(t, "Handed in; waits for the verdict of “Check the answer” (claimed).", why["solve review"])
	require.Regexp(t, `^Held by reviewer1 until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$`, why["check claimed"])
	b.exec(t, `UPDATE task_nodes SET lease_expires_at = now() - interval '1 minute' WHERE key = 'check' AND status = 'claimed'`)
	require.Contains(t, waits(t, p, at["{task_id}"])["check lapsed"], "The claim of reviewer1 ran out at ")

	_, err := b.Store.Review(t.Context(), b.Reviewers[0], at["{claim_id}"], store.Verdict{
		Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "no"}},
	})
	require.NoError(t, err)
	taskID, err := strconv.ParseInt(at["{task_id}"], 10, 64)
	require.NoError(t, err)
	b.settle(t, taskID)
	require.Regexp(t, `^Kept until .* for contributor1, whose work came back`, waits(t, p, taskID)["solve reserved"])
	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%d/nodes/solve/escalate", taskID), map[string]any{"reason": "unclear"})
	require.Regexp(t, `^Escalated since .* by manager1: unclear\. An admin decides`, waits(t, p, taskID)["solve escalated"])
	b.exec(t, `UPDATE task_nodes SET reason = 'max_rework' WHERE task_id = $1 AND key = 'solve'`, taskID)
	require.Contains(t, waits(t, p, taskID)["solve escalated"], "more often than its limit of 3")
	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%d/fail", taskID), nil)
	require.Empty(t, waits(t, p, taskID))
}

func TestATaskPageHasWhatItNeedsToShowItself(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.About = console.About{TemporalUIURL: "http://temporal.test/ui/", TemporalNamespace: "my space"}
	})
	b.created(t, 1)
	at := map[string]string{}
	inReview(t, b, at)
	p := b.login(t, "manager1")
	d := p.ok(t, 200, http.MethodGet, "/tasks/"+at["{task_id}"], nil)
	require.Equal(t, "Math check", d["pipeline_name"])
	require.InDelta(t, 1, d["version"], 0)
	require.Equal(t, map[string]any{
		"workflow_id": "task/" + at["{task_id}"],
		"url":         "http://temporal.test/ui/namespaces/my%20space/workflows/task%2F" + at["{task_id}"],
	}, d["run"])
	forms := d["forms"].([]any)
	require.Len(t, forms, 2)
	require.Equal(t, "solve", forms[0].(map[string]any)["node"])
	require.Len(t, forms[0].(map[string]any)["fields"], 4)
	require.Equal(t, []any{map[string]any{"node": "check", "targets": []any{map[string]any{"node": "solve", "fields": []any{"answer"}}}}}, d["reviews"])
	var names []any
	for _, person := range d["people"].([]any) {
		names = append(names, person.(map[string]any)["name"])
	}
	require.Equal(t, []any{"admin1", "contributor1", "reviewer1"}, names)
	require.Equal(t, []any{}, d["files"])
	release := p.do(t, http.MethodPost, "/tasks/"+at["{task_id}"]+"/nodes/check/release", map[string]any{"reason": "x"})
	require.Equal(t, http.StatusNoContent, release.Status, "%s", release.Raw)
	reviewer := b.login(t, "reviewer1")
	reviewer.refused(t, 409, "api_error", http.MethodPost, "/claims/"+at["{claim_id}"]+"/review", map[string]any{"verdict": "approve"})
}

func TestReviewersSeeWhatWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 3)
	for i := range 3 {
		c := b.claimAs(t, b.Contributors[i%2], pipeline.KindSubtask, map[string]string{})
		_, err := b.Store.Submit(t.Context(), c.UserID, c.ID, form.Values{"answer": []byte(`"1"`)})
		require.NoError(t, err)
		b.settle(t, c.TaskID)
	}
	rita, raj := b.login(t, "reviewer1"), b.login(t, "reviewer2")
	for _, query := range []string{"?limit=2", "?limit=2&order=contributor", fmt.Sprintf("?limit=1&contributor=%d", b.Contributors[0])} {
		seen, path := []any{}, query
		for range 5 {
			page := rita.ok(t, 200, http.MethodGet, b.pipeline("/reviews"+path), nil)
			for _, r := range page["reviews"].([]any) {
				seen = append(seen, r.(map[string]any)["task_id"])
				require.Equal(t, false, r.(map[string]any)["claimed"])
				require.NotNil(t, r.(map[string]any)["contributor"])
			}
			if page["has_more"] == false {
				break
			}
			path = query + "&cursor=" + url.QueryEscape(page["next_cursor"].(string))
			raj.refused(t, 400, "invalid_request", http.MethodGet, b.pipeline("/reviews?order=contributor&contributor=99&cursor=")+url.QueryEscape(page["next_cursor"].(string)), nil)
		}
		require.Len(t, seen, map[bool]int{true: 2, false: 3}[query[7] == '1'], query)
	}
	rita.refused(t, 400, "invalid_request", http.MethodGet, b.pipeline("/reviews?cursor=nonsense"), nil)
	work := rita.ok(t, 200, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "reviewer", "contributor": b.Contributors[1]})
	require.Equal(t, "check", work["node"])
	for as, mine := range map[*person]bool{&rita: true, &raj: false} {
		for _, r := range as.ok(t, 200, http.MethodGet, b.pipeline("/reviews"), nil)["reviews"].([]any) {
			item := r.(map[string]any)
			require.Equal(t, item["task_id"] == work["task_id"], item["claimed"])
			require.Equal(t, mine && item["task_id"] == work["task_id"], item["mine"])
		}
	}
	require.Equal(t, http.StatusNoContent, raj.do(t, http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "reviewer", "contributor": b.Contributors[1]}).Status)
	b.login(t, "contributor1").refused(t, 422, "validation_error", http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor", "contributor": 1})
	_, err := time.Parse(time.RFC3339, work["lease_expires_at"].(string))
	require.NoError(t, err)
}
