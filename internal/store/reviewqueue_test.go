package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// submitted lets a person do a subtask of a task.
func (b *bench) submitted(user, id int64, node, values string) {
	b.t.Helper()
	c, err := b.Store.ClaimTask(b.t.Context(), b.member(user), pipeline.KindSubtask, id, node)
	require.NoError(b.t, err)
	_, err = b.Store.Submit(b.t.Context(), user, c.ID, raw(values))
	require.NoError(b.t, err)
	b.settle(id)
}

// reviews reads the list to its end, in small steps.
func (b *bench) reviews(m store.Member, q store.ReviewQuery) []store.QueuedReview {
	b.t.Helper()
	var out []store.QueuedReview
	for range 200 {
		page, err := store.ReviewQueueIn(b.Store, b.t.Context(), m, q, []int{1, 3})
		require.NoError(b.t, err)
		out = append(out, page.Reviews...)
		if page.Next == nil {
			return out
		}
		q.After = *page.Next
	}
	require.Fail(b.t, "the list has no end")
	return nil
}

func taskIDs(rs []store.QueuedReview) []int64 {
	ids := []int64{}
	for _, r := range rs {
		ids = append(ids, r.TaskID)
	}
	return ids
}

func TestReviewQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(8)
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	authors := []int64{ben, ada, ben, ada, ben, ada}
	for i, author := range authors {
		b.submitted(author, ids[i], "solve", `{"answer":"42","sure":true}`)
		b.exec(`UPDATE task_nodes SET opened_at = $2 WHERE task_id = $1 AND key = 'check'`, ids[i], began.Add(-time.Duration(i)*time.Hour))
	}
	m := b.member(rita)
	byAge := b.reviews(m, store.ReviewQuery{Limit: 2})
	require.Equal(t, []int64{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, taskIDs(byAge))
	require.Equal(t, "Check the answer", byAge[0].Title)
	require.Equal(t, ada, byAge[0].Contributor)
	require.Zero(t, byAge[0].With)

	require.Equal(t, []int64{ids[1], ids[3], ids[5], ids[0], ids[2], ids[4]}, taskIDs(b.reviews(m, store.ReviewQuery{Limit: 2, ByContributor: true})))
	require.Equal(t, []int64{ids[0], ids[2], ids[4]}, taskIDs(b.reviews(m, store.ReviewQuery{Limit: 2, Contributor: ben})))
	require.Empty(t, b.reviews(m, store.ReviewQuery{Limit: 2, Contributor: b.Admin}))

	require.NoError(t, b.Store.Hold(ctx, b.member(b.Admin), ids[0], ""))
	c, err := b.Store.ClaimReviewOf(ctx, m, ben)
	require.NoError(t, err)
	require.Equal(t, ids[2], c.TaskID, "the oldest that is not on hold")
	again, err := b.Store.ClaimReviewOf(ctx, b.member(b.Reviewers[1]), ben)
	require.NoError(t, err)
	require.Equal(t, ids[4], again.TaskID)
	none, err := b.Store.ClaimReviewOf(ctx, m, ben)
	require.NoError(t, err)
	require.Nil(t, none)
	taken := b.reviews(m, store.ReviewQuery{Limit: 5, Contributor: ben})
	require.Equal(t, []int64{ids[2], ids[4]}, taskIDs(taken), "not what is on hold")
	require.Equal(t, []int64{rita, b.Reviewers[1]}, []int64{taken[0].With, taken[1].With})
	require.Equal(t, []int64{ids[5], ids[4], ids[3], ids[2], ids[1]}, taskIDs(b.reviews(m, store.ReviewQuery{Limit: 2})), "a claim changes no age")

	require.NoError(t, b.Store.ReleaseClaim(ctx, rita, c.ID, store.Release{Skip: true}))
	b.settle(ids[2])
	none, err = b.Store.ClaimReviewOf(ctx, m, ben)
	require.NoError(t, err)
	require.Nil(t, none, "what they skipped is not served again")

	b.exec(`UPDATE pipelines SET status = 'PAUSED' WHERE id = $1`, b.PipelineID)
	_, err = b.Store.ClaimReviewOf(ctx, m, ada)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// pair is a pipeline with two subtasks that one four-eyes review checks.
func pair() pipeline.Definition {
	d := dbtest.Definition()
	solve, check := d.Nodes[1], d.Nodes[2]
	more := pipeline.Node{Key: "more", Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: "extra", Type: form.ShortText, Input: form.Contributor},
	}}
	check.FourEyes = true
	check.Reviews = []pipeline.Target{{Node: "solve"}, {Node: "more"}}
	d.Nodes = []pipeline.Node{d.Nodes[0], solve, more, check, d.Nodes[3]}
	d.Edges = []pipeline.Edge{{From: "start", To: "solve"}, {From: "start", To: "more"}, {From: "solve", To: "check"}, {From: "more", To: "check"}, {From: "check", To: "end"}}
	return d
}

func TestAReviewOfTwoPeoplesWorkIsListedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(pair()))
	ids := b.create(3)
	ada, ben := b.Contributors[0], b.Contributors[1]
	for i, id := range ids {
		b.submitted(ada, id, "solve", `{"answer":"42","sure":true}`)
		if i < 2 {
			b.submitted(ben, id, "more", `{"extra":"x"}`)
		}
	}
	m := b.member(b.Reviewers[0])
	for _, q := range []store.ReviewQuery{{Limit: 1}, {Limit: 1, ByContributor: true}, {Limit: 1, Contributor: ada}, {Limit: 1, Contributor: ben}} {
		got := b.reviews(m, q)
		require.Equal(t, ids[:2], taskIDs(got), "%+v: of the third one nothing is to be reviewed yet", q)
		for _, r := range got {
			if want := q.Contributor; want != 0 {
				require.Equal(t, want, r.Contributor)
			}
		}
	}
	admin := b.member(b.Admin)
	b.exec(`UPDATE task_nodes SET actor = $2 WHERE task_id = $1 AND key = 'more'`, ids[0], b.Admin)
	require.Equal(t, ids[1:2], taskIDs(b.reviews(admin, store.ReviewQuery{Limit: 5})), "nobody reviews their own work")
	c, err := b.Store.ClaimReviewOf(t.Context(), admin, ada)
	require.NoError(t, err)
	require.Equal(t, ids[1], c.TaskID)
}

func TestReviewPositionsSurviveTheWire(t *testing.T) {
	t.Parallel()
	at := store.ReviewPosition{Opened: began.Add(123456 * time.Microsecond), Actor: 7, TaskID: 9, Node: "é"}
	doc, err := json.Marshal(at)
	require.NoError(t, err)
	var got store.ReviewPosition
	require.NoError(t, json.Unmarshal(doc, &got))
	require.Equal(t, at, got)
	require.NotEqual(t, store.ReviewQuery{Contributor: 1}.Filter(), store.ReviewQuery{Contributor: 1, ByContributor: true}.Filter())
}
