package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

func (b *bench) history(q store.HistoryQuery) store.HistoryPage {
	b.t.Helper()
	if q.Limit == 0 {
		q.Limit = 50
	}
	page, err := b.Store.History(b.t.Context(), q)
	require.NoError(b.t, err)
	return page
}

// outcomes are the newest first.
func (b *bench) outcomes(user int64) (out []store.Outcome) {
	b.t.Helper()
	for _, d := range b.history(store.HistoryQuery{UserID: user}).Items {
		out = append(out, d.Outcome)
	}
	return out
}

// judge lets a reviewer give a verdict on the next review.
func (b *bench) judge(user int64, v store.Verdict) *store.Claim {
	b.t.Helper()
	c := b.claim(user, pipeline.KindReview)
	require.NotNil(b.t, c)
	_, err := b.Store.Review(b.t.Context(), user, c.ID, v)
	require.NoError(b.t, err)
	b.settle(c.TaskID)
	return c
}

func TestHistoryTellsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, rita := b.Contributors[0], b.Reviewers[0]
	b.create(5)
	approve := store.Verdict{Verdict: store.VerdictApprove}

	c, _ := b.handIn(ada)
	b.settle(c.TaskID)
	page := b.history(store.HistoryQuery{UserID: ada})
	require.Len(t, page.Items, 1)
	d := page.Items[0]
	require.Equal(t, store.OutcomeWaiting, d.Outcome)
	require.NotNil(t, d.UndoUntil)
	require.WithinDuration(t, d.At.Add(store.UndoWindow), *d.UndoUntil, 0)
	require.Equal(t, "Solve the problem", d.Title)
	require.Equal(t, "Math check", d.Pipeline)
	require.Equal(t, c.ID, d.ClaimID)

	b.judge(rita, approve)
	require.Equal(t, []store.Outcome{store.OutcomeAccepted}, b.outcomes(ada))
	require.Equal(t, []store.Outcome{store.OutcomeFinished}, b.outcomes(rita))

	c, _ = b.handIn(ada)
	b.settle(c.TaskID)
	b.judge(rita, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"41"}`)})
	require.Equal(t, store.OutcomeFixed, b.outcomes(ada)[0])

	c, _ = b.handIn(ada)
	b.settle(c.TaskID)
	b.judge(rita, store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "no", Verdict: "wrong"}}})
	require.Equal(t, store.OutcomeReturned, b.outcomes(ada)[0])
	require.Equal(t, store.OutcomeReturned, b.outcomes(rita)[0])

	c, _ = b.handIn(ada) // what was returned comes first
	require.Equal(t, 2, c.Iteration)
	require.Nil(t, b.history(store.HistoryQuery{UserID: ada}).Items[1].UndoUntil)
	_, err := b.undo(ada, c.ID)
	require.NoError(t, err)
	require.Equal(t, []store.Outcome{store.OutcomeUndone, store.OutcomeReturned, store.OutcomeFixed, store.OutcomeAccepted}, b.outcomes(ada))
	require.Nil(t, b.history(store.HistoryQuery{UserID: ada}).Items[0].UndoUntil)

	c, _ = b.handIn(ada)
	require.NoError(t, b.Store.Quarantine(ctx, b.member(b.Admin), c.TaskID, "solve", ""))
	b.settle(c.TaskID)
	require.Equal(t, store.OutcomeEscalated, b.outcomes(ada)[0])
	require.NoError(t, b.Store.FailTask(ctx, b.member(b.Admin), c.TaskID, ""))
	b.settle(c.TaskID)
	require.Equal(t, store.OutcomeClosed, b.outcomes(ada)[0])

	p, err := b.Store.Progress(ctx, ada, 0)
	require.NoError(t, err)
	require.Equal(t, 4, p.Today, "what was undone does not count")
	require.Equal(t, 4, p.Week)
	require.Equal(t, 4, p.Total)
	require.Equal(t, 2, p.Accepted)
	require.Equal(t, 1, p.Returned)
	require.Len(t, p.Days, 14)
	require.Equal(t, 4, p.Days[13].Count)

	require.Empty(t, b.outcomes(b.Contributors[1]), "of others nothing")
	b.RemoveUser(t, ada)
	require.Empty(t, b.outcomes(ada), "and nothing where one no longer belongs")
	_, err = b.Store.Submission(ctx, ada, c.ID)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ada := b.Contributors[0]
	b.create(5)
	for range 5 {
		b.handIn(ada)
	}
	// Two of them at the same microsecond.
	b.exec(`UPDATE submissions SET created_at = (SELECT min(created_at) FROM submissions WHERE seq = 3 AND task_id =
		(SELECT task_id FROM submissions ORDER BY created_at OFFSET 2 LIMIT 1))
		WHERE task_id = (SELECT task_id FROM submissions ORDER BY created_at OFFSET 1 LIMIT 1)`)
	seen := map[string]int{}
	q := store.HistoryQuery{UserID: ada, PipelineID: b.PipelineID, Limit: 2}
	for range 5 {
		page := b.history(q)
		for _, d := range page.Items {
			seen[d.ClaimID]++
			q.Before = d.At
		}
		if !page.More {
			break
		}
	}
	require.Len(t, seen, 5)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
	require.Empty(t, b.history(store.HistoryQuery{UserID: ada, PipelineID: b.PipelineID + 1}).Items)
}

func TestASubmissionWithItsReviews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, rita := b.Contributors[0], b.Reviewers[0]
	b.create(1)
	first, _ := b.handIn(ada)
	b.settle(first.TaskID)
	wrong := store.Comment{Node: "solve", Field: "answer", Text: "no", Verdict: "wrong"}
	b.judge(rita, store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "no", Verdict: "wrong"}}})
	second := b.claim(ada, pipeline.KindSubtask)
	w, err := b.Store.Work(ctx, *second)
	require.NoError(t, err)
	require.Equal(t, "Math check", w.Pipeline)
	require.NotEmpty(t, w.Project)
	require.Nil(t, w.UndoOf)
	require.Len(t, w.Earlier, 1)
	require.Equal(t, store.VerdictReject, w.Earlier[0].Verdict)
	require.Equal(t, []store.Comment{wrong}, w.Earlier[0].Comments)
	require.JSONEq(t, `"42"`, string(w.Earlier[0].Values["answer"]))
	_, err = b.Store.Submit(ctx, ada, second.ID, raw(`{"answer":"43","sure":true}`))
	require.NoError(t, err)
	b.settle(first.TaskID)

	rc := b.claim(rita, pipeline.KindReview)
	w, err = b.Store.Work(ctx, *rc)
	require.NoError(t, err)
	require.Len(t, w.Reviewed, 1)
	require.Equal(t, ada, w.Reviewed[0].Author.ID)
	require.Equal(t, b.Email("contributor1"), w.Reviewed[0].Author.Email)
	require.Len(t, w.Reviewed[0].Earlier, 1)
	require.Equal(t, 1, w.Reviewed[0].Earlier[0].Iteration)
	require.Equal(t, []store.Comment{wrong}, w.Reviewed[0].Earlier[0].Comments)
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{
		Verdict: store.VerdictApprove, Values: raw(`{"answer":"44"}`), Comments: []store.Comment{{Field: "answer", Verdict: "ok"}},
	})
	require.NoError(t, err)
	b.settle(first.TaskID)

	d, err := b.Store.Submission(ctx, ada, first.ID)
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(d.Values["answer"]), "as it was handed in")
	require.Contains(t, d.Values, "question")
	require.Len(t, d.Reviews, 1, "those of this round only")
	require.Equal(t, store.VerdictReject, d.Reviews[0].Verdict)
	d, err = b.Store.Submission(ctx, ada, second.ID)
	require.NoError(t, err)
	require.Len(t, d.Reviews, 1)
	require.JSONEq(t, `"44"`, string(d.Reviews[0].Values["answer"]))
	require.Equal(t, store.OutcomeFixed, d.Outcome)

	d, err = b.Store.Submission(ctx, rita, rc.ID)
	require.NoError(t, err)
	require.JSONEq(t, `"44"`, string(d.Values["answer"]), "what was reviewed, as the reviewer corrected it")
	require.Equal(t, "ok", d.Comments[0].Verdict)
	_, err = b.Store.Submission(ctx, ada, rc.ID)
	require.True(t, fault.Is(err, fault.NotFound), "another person's: %v", err)
	b.checked()
}

func TestCommentsWithVerdicts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(1)
	c, _ := b.handIn(b.Contributors[0])
	b.settle(c.TaskID)
	rita := b.Reviewers[0]
	rc := b.claim(rita, pipeline.KindReview)
	for _, bad := range []store.Comment{
		{Field: "answer"}, {Verdict: "wrong"}, {Field: "answer", Verdict: "maybe"}, {Text: ""}, {Field: "question", Verdict: "ok"},
	} {
		_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{bad}})
		require.True(t, fault.Is(err, fault.Validation), "%+v: %v", bad, err)
	}
	_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{
		Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Verdict: "ok"}, {Text: "but slow"}},
	})
	require.NoError(t, err)
	b.settle(c.TaskID)
	b.checked()
}

func TestProgressDaysBeginWhereTheCallersDo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ada := b.Contributors[0]
	b.create(1)
	c, _ := b.handIn(ada)
	// At 23:30 UTC of the day before yesterday it is the next day an hour to the east.
	b.exec(`UPDATE submissions SET created_at = date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 day 30 minutes'
		WHERE claim_id = $1`, c.ID)
	days := func(offset time.Duration) (out []string) {
		p, err := b.Store.Progress(t.Context(), ada, offset)
		require.NoError(t, err)
		for _, d := range p.Days {
			if d.Count > 0 {
				out = append(out, d.Date.Format(time.DateOnly))
			}
		}
		return out
	}
	var now time.Time
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT now()`).Scan(&now))
	require.Equal(t, []string{now.UTC().AddDate(0, 0, -2).Format(time.DateOnly)}, days(0))
	require.Equal(t, []string{now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)}, days(time.Hour))
}

// A verdict that came when the task had left the way ends its round, and returns nothing.
func TestAVerdictThatCameTooLateIsClosed(t *testing.T) {
	t.Parallel()
	for status, want := range map[task.NodeStatus]store.Outcome{
		task.NodeNA: store.OutcomeClosed, task.NodePending: store.OutcomeReturned, task.NodeAvailable: store.OutcomeReturned,
	} {
		d := store.Done{Verdict: store.VerdictEscalate, Status: status, Iteration: 1, Round: 2}
		require.Equal(t, want, d.OutcomeNow(), status)
	}
}
