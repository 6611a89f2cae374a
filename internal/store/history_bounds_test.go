package store_test

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

const mebibyte = 1 << 20

// measuredConn adds up what is read from it.
type measuredConn struct {
	net.Conn

	read *atomic.Int64
}

func (c measuredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// measured is the store on connections of its own, and how many bytes Postgres has sent on
// them.
func (b *bench) measured() (*store.Store, *atomic.Int64) {
	b.t.Helper()
	read := new(atomic.Int64)
	config := b.Store.Pool().Config()
	config.ConnConfig.Tracer = nil
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return measuredConn{conn, read}, nil
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(b.t.Context()), config)
	require.NoError(b.t, err)
	b.t.Cleanup(pool.Close)
	return store.OnPool(pool), read
}

// size is how long something is as JSON.
func size(t *testing.T, v any) int {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return len(out)
}

// returned has a person do these subtasks of a task so many times, and get all of it back
// from the review check each time.
func (b *bench) returned(id int64, times int, subtasks map[string]string) {
	b.t.Helper()
	for range times {
		for _, node := range []string{"solve", "more"} {
			if values, ok := subtasks[node]; ok {
				b.submitted(b.Contributors[0], id, node, values)
			}
		}
		b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{{Text: "again"}}})
	}
}

const (
	largeAnswers = `UPDATE submissions SET values = jsonb_build_object('answer', repeat('x', 1 << 20)) WHERE node_key = 'solve'`
	largeRemarks = `UPDATE submissions SET comments = jsonb_build_array(jsonb_build_object('field', '', 'text', repeat('x', 1 << 20)))
		WHERE verdict = 'reject'`
)

// A subtask that came back again and again, with megabytes each time, fills no memory: not
// with what its holder or its reviewer is shown of it, nor with what is read for that. What
// they work on is whole, and so is the newest round before.
func TestEarlierRoundsHaveAnEnd(t *testing.T) {
	t.Parallel()
	const times = 12
	for name, grow := range map[string]string{"large answers": largeAnswers, "large remarks": largeRemarks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.Definition()
			d.Nodes[2].MaxRework = new(2 * times)
			b := newBench(t, dbtest.WithDefinition(d))
			ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
			id := b.create(1)[0]
			b.returned(id, times, map[string]string{"solve": answer42})
			b.exec(grow)
			st, read := b.measured()

			c, err := b.Store.ClaimTask(ctx, b.member(ada), pipeline.KindSubtask, id, "solve")
			require.NoError(t, err)
			w, err := st.Work(ctx, *c)
			require.NoError(t, err)
			require.Less(t, read.Swap(0), int64(10*mebibyte))
			endsWith(t, w.Earlier, 7, times)
			last := w.Earlier[6]
			require.Equal(t, size(t, last.Values), size(t, w.Draft.Values), "to go on from")
			require.Equal(t, size(t, last.Comments), size(t, w.Comments), "and why")
			require.Greater(t, size(t, last), mebibyte, "all of it")

			_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"43","sure":true}`))
			require.NoError(t, err)
			b.settle(id)
			rc, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, "check")
			require.NoError(t, err)
			w, err = st.Work(ctx, *rc)
			require.NoError(t, err)
			require.Less(t, read.Swap(0), int64(10*mebibyte))
			require.Len(t, w.Reviewed, 1)
			require.JSONEq(t, `"43"`, string(w.Reviewed[0].Values["answer"]))
			endsWith(t, w.Reviewed[0].Earlier, 7, times)

			done, err := st.Submission(ctx, ada, c.ID)
			require.NoError(t, err)
			require.JSONEq(t, `"43"`, string(done.Values["answer"]))
			require.Less(t, read.Swap(0), int64(2*mebibyte), "the round before at most")
			history := b.history(store.HistoryQuery{UserID: ada}).Items
			done, err = st.Submission(ctx, ada, history[len(history)-1].ClaimID)
			require.NoError(t, err)
			require.Equal(t, 1, done.Iteration)
			require.Len(t, done.Reviews, 1)
			require.Greater(t, size(t, done), mebibyte, "an old one is whole, too")

			b.exec(`UPDATE submissions SET values = jsonb_build_object('answer', repeat('x', 9 << 20)) WHERE node_key = 'solve' AND iteration = $1`, times)
			w, err = st.Work(ctx, *rc)
			require.NoError(t, err)
			require.Len(t, w.Reviewed[0].Earlier, 1, "that one in any case")
			require.Equal(t, times, w.Reviewed[0].Earlier[0].Iteration)
			require.Greater(t, size(t, w.Reviewed[0].Earlier[0]), 9*mebibyte)
		})
	}
}

// endsWith asserts that these are so many attempts up to this one, and no more than a
// history shows.
func endsWith(t *testing.T, earlier []store.Attempt, n, last int) {
	t.Helper()
	require.LessOrEqual(t, size(t, earlier), 8*mebibyte)
	var rounds, want []int
	for _, a := range earlier {
		rounds = append(rounds, a.Iteration)
		require.Equal(t, store.VerdictReject, a.Verdict)
		require.Len(t, a.Comments, 1)
	}
	for i := last - n + 1; i <= last; i++ {
		want = append(want, i)
	}
	require.Equal(t, want, rounds)
}

// One rejection of several subtasks is shown with each of them, and counts as often. Of
// each the newest round comes before older ones of the others.
func TestARejectionCountsForEachSubtaskThatItReturned(t *testing.T) {
	t.Parallel()
	const times = 12
	d := detour()
	d.Nodes[3].MaxRework = new(2 * times)
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	both := map[string]string{"solve": answer42, "more": `{"extra":"x"}`}
	b.returned(id, times, both)
	b.exec(largeRemarks)
	b.submitted(ada, id, "solve", both["solve"])
	b.submitted(ada, id, "more", both["more"])
	c, err := b.Store.ClaimTask(ctx, b.member(b.Reviewers[0]), pipeline.KindReview, id, "check")
	require.NoError(t, err)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.Len(t, w.Reviewed, 2)
	endsWith(t, w.Reviewed[0].Earlier, 3, times)
	require.Len(t, w.Reviewed[1].Earlier, 4, "handed in later")
	require.Equal(t, w.Reviewed[1].Iteration-1, w.Reviewed[1].Earlier[3].Iteration, "the newest is the last")
	require.LessOrEqual(t, size(t, w.Reviewed), 8*mebibyte)
}

// Reviews of one submission that correct it again and again fill no memory either: its
// history has the newest of them, and a list of many reads of none what it says.
func TestTheReviewsOfASubmissionHaveAnEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	b.submitted(ada, id, "solve", answer42)
	b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictApprove})
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, verdict, values, comments)
		SELECT gen_random_uuid(), $2, $1, 'check', n, $3, n, 'approve', jsonb_build_object('answer', repeat('x', 1 << 20)),
			jsonb_build_array(jsonb_build_object('field', '', 'text', n::text)) FROM generate_series(101, 120) AS n`, id, b.OrgID, b.Reviewers[0])
	b.exec(`INSERT INTO task_events (task_id, seq, kind, node_key) SELECT task_id, seq, 'review', node_key FROM submissions WHERE seq > 100`)
	st, read := b.measured()
	page, err := st.History(ctx, store.HistoryQuery{UserID: ada, Limit: 50})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, store.OutcomeFixed, page.Items[0].Outcome)
	require.Less(t, read.Swap(0), int64(mebibyte))

	done, err := st.Submission(ctx, ada, page.Items[0].ClaimID)
	require.NoError(t, err)
	require.Less(t, read.Swap(0), int64(9*mebibyte))
	require.LessOrEqual(t, size(t, done.Reviews), 8*mebibyte)
	require.Len(t, done.Reviews, 7)
	last := done.Reviews[6]
	require.Equal(t, []store.Comment{{Text: "120"}}, last.Comments, "the newest is the last")
	require.Greater(t, size(t, last.Values), mebibyte)
}

// given is a verdict on a review of a task. An undone one is taken back.
type given struct {
	node    string
	verdict store.Verdict
	undone  bool
}

func TestOutcomesFollowFromTheApprovalsThatStand(t *testing.T) {
	t.Parallel()
	approve := func(node, values string) given {
		return given{node: node, verdict: store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)}}
	}
	taken := approve("check", `{"answer":"43"}`)
	taken.undone = true
	reject := given{node: "again", verdict: store.Verdict{Verdict: store.VerdictReject}}
	cases := map[string]struct {
		given []given
		want  []store.Outcome // the newest round first
	}{
		"approved":                       {[]given{approve("check", `{}`), approve("again", `{}`)}, []store.Outcome{store.OutcomeAccepted}},
		"corrected, then approved":       {[]given{approve("check", `{"answer":"43"}`), approve("again", `{}`)}, []store.Outcome{store.OutcomeFixed}},
		"approved, then corrected":       {[]given{approve("check", `{}`), approve("again", `{"answer":"43"}`)}, []store.Outcome{store.OutcomeFixed}},
		"corrected, and that taken back": {[]given{taken, approve("check", `{}`), approve("again", `{}`)}, []store.Outcome{store.OutcomeAccepted}},
		"approved by the first only":     {[]given{approve("check", `{"answer":"43"}`)}, []store.Outcome{store.OutcomeWaiting}},
		"corrected in the round before": {
			[]given{approve("check", `{"answer":"43"}`), reject, approve("check", `{}`), approve("again", `{}`)},
			[]store.Outcome{store.OutcomeAccepted, store.OutcomeReturned},
		},
		"corrected in the second round": {
			[]given{approve("check", `{}`), reject, approve("check", `{"answer":"43"}`), approve("again", `{}`)},
			[]store.Outcome{store.OutcomeFixed, store.OutcomeReturned},
		},
		"returned": {[]given{approve("check", `{}`), reject}, []store.Outcome{store.OutcomeWaiting, store.OutcomeReturned}},
	}
	b := newBench(t, dbtest.WithDefinition(twoChecks()))
	ada := b.Contributors[0]
	ids := map[string]int64{}
	for name, c := range cases {
		ids[name] = b.create(1)[0]
		b.submitted(ada, ids[name], "solve", answer42)
		for _, g := range c.given {
			b.give(ids[name], g)
			if g.verdict.Verdict == store.VerdictReject {
				b.submitted(ada, ids[name], "solve", answer42)
			}
		}
	}
	became := map[int64][]store.Outcome{} // of all tasks in one list
	for _, d := range b.history(store.HistoryQuery{UserID: ada}).Items {
		became[d.TaskID] = append(became[d.TaskID], d.Outcome)
	}
	for name, c := range cases {
		require.Equal(t, c.want, became[ids[name]], name)
	}
}

// give gives a verdict and takes it back where that is asked for; the reviewer then lets go
// of the review.
func (b *bench) give(id int64, g given) {
	b.t.Helper()
	if !g.undone {
		b.judged(b.Reviewers[0], id, g.node, g.verdict)
		return
	}
	ctx, rita := b.t.Context(), b.Reviewers[0]
	c, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, g.node)
	require.NoError(b.t, err)
	_, err = b.Store.Review(ctx, rita, c.ID, g.verdict)
	require.NoError(b.t, err)
	again, err := b.undo(rita, c.ID)
	require.NoError(b.t, err)
	require.NoError(b.t, b.Store.ReleaseClaim(ctx, rita, again.ID, store.Release{}))
	b.settle(id)
}

// A review of two subtasks that corrects one of them has fixed that one only.
func TestACorrectionFixesItsOwnSubtask(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(detour()))
	ada, rita := b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ada, id, "more", `{"extra":"x"}`)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"extra":"y"}`)})
	b.judged(rita, id, "last", store.Verdict{Verdict: store.VerdictApprove})
	require.Equal(t, []store.Outcome{store.OutcomeFixed, store.OutcomeAccepted}, b.outcomes(ada), "more, then solve")
}

// What a history leaves unread says nothing about the answers of its time.
func TestAHistoryReadsAllThatTheAnswersFollowFrom(t *testing.T) {
	t.Parallel()
	p := pipeline.Compile(asked())
	rapid.Check(t, func(t *rapid.T) {
		subs, rounds := drawRounds(t)
		before := rapid.Int64Range(0, 16).Draw(t, "before")
		then := slices.DeleteFunc(slices.Clone(subs), func(s store.Said) bool { return s.Seq >= before })
		read := store.Explaining(p, rounds, before)
		some := slices.DeleteFunc(slices.Clone(subs), func(s store.Said) bool { return !slices.Contains(read, s.Seq) })
		input := raw(`{"question":"What is 6 times 7?"}`)
		require.Equal(t, store.Merged(p, input, then), store.Merged(p, input, some))
	})
}

// drawRounds draws what is handed in for a task of asked: answers, corrections, and verdicts
// without any.
func drawRounds(t *rapid.T) (subs []store.Said, rounds []store.Round) {
	fields := map[string][]string{
		"solve": {"answer", "sure", "doubt"}, "more": {"extra", "why"},
		"check": {"extra", "why"}, "last": {"answer", "sure", "doubt", "extra", "why"},
	}
	words := map[string][]string{
		"answer": {`"42"`, `"43"`}, "sure": {`true`, `false`}, "doubt": {`"all"`, `"some"`},
		"extra": {`"x"`, `"none"`}, "why": {`"because"`, `"so"`},
	}
	for seq := range rapid.Int64Range(0, 15).Draw(t, "rounds") {
		node := rapid.SampledFrom([]string{"solve", "more", "check", "last"}).Draw(t, "node")
		sub := store.Said{Node: node, Seq: seq, Values: form.Values{}}
		if node == "check" || node == "last" {
			sub.Verdict = store.VerdictApprove
		}
		for _, name := range fields[node] {
			if rapid.Bool().Draw(t, name) {
				sub.Values[name] = json.RawMessage(rapid.SampledFrom(words[name]).Draw(t, "answer"))
			}
		}
		subs = append(subs, sub)
		rounds = append(rounds, store.Round{Node: node, Seq: seq, Verdict: sub.Verdict, Corrects: sub.Verdict != "" && len(sub.Values) > 0})
	}
	return subs, rounds
}

// Rounds that were replaced are not read, whatever was corrected in them.
func TestAHistoryReadsNoRoundsThatWereReplaced(t *testing.T) {
	t.Parallel()
	var all []store.Round
	for seq := int64(1); seq < 300; seq += 3 {
		all = append(all, store.Round{Node: "solve", Seq: seq},
			store.Round{Node: "check", Seq: seq + 1, Verdict: store.VerdictApprove, Corrects: true},
			store.Round{Node: "again", Seq: seq + 2, Verdict: store.VerdictReject})
	}
	require.Equal(t, []int64{299, 298}, store.Explaining(pipeline.Compile(twoChecks()), all, 301))
}
