package store_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestNobodyIsAccusedWhilePeopleWork checks a database again and again while
// people claim, hand in, reject, take back and give up, and runs apply what
// follows: every promise that can be asked then holds at every moment. The
// grace is far shorter, and the chunks smaller, than in production.
func TestNobodyIsAccusedWhilePeopleWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithContributors(4), dbtest.WithReviewers(2))
	b.create(200)
	work, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i, user := range append(append([]int64{}, b.Contributors...), b.Reviewers...) {
		kind := pipeline.KindSubtask
		if i >= len(b.Contributors) {
			kind = pipeline.KindReview
		}
		m := b.member(user)
		wg.Go(func() { b.live(work, m, kind, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	for n := range int64(2) {
		wg.Go(func() { b.walk(work, n) })
	}
	wg.Go(func() {
		for work.Err() == nil {
			_, err := b.Store.Reconcile(work, 100)
			b.while(work, err)
			b.while(work, b.Store.Tidy(work))
			_, err = b.Store.Pool().Exec(work, `DELETE FROM outbox WHERE created_at < now() - interval '100 milliseconds'`)
			b.while(work, err)
		}
	})
	var seen int64
	for round, begun := 0, time.Now(); time.Since(begun) < 4*time.Second || round < 3; round++ {
		found, err := b.Store.Check(t.Context(), store.CheckOptions{
			Grace: 2 * time.Second, Chunk: 30, NoPeople: true, Progress: func(done, _ int64) { seen = done },
		})
		require.NoError(t, err)
		for _, f := range found {
			require.Zero(t, f.Total, "%s in round %d: %v", f.Name, round, f.Violations)
		}
	}
	require.Positive(t, seen)
	stop()
	wg.Wait()
	var events int
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT count(*) FROM task_events`).Scan(&events))
	require.Greater(t, events, 300, "too little was done for the check to prove anything")
}

// while fails the test for an error that is not the end of the work, nor a
// refusal, which is part of the play.
func (b *bench) while(work context.Context, err error) {
	if err != nil && work.Err() == nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
		b.t.Error(err)
	}
}

// live is a person who does what people do, until work ends.
func (b *bench) live(work context.Context, m store.Member, kind pipeline.Kind, r *rand.Rand) {
	for work.Err() == nil {
		c, err := b.Store.ClaimNext(work, m, kind)
		b.while(work, err)
		if c == nil {
			continue
		}
		switch dice := r.IntN(10); {
		case dice == 0:
			err = b.Store.ReleaseClaim(work, m.UserID, c.ID, store.Release{})
		case kind == pipeline.KindReview && dice < 4:
			_, err = b.Store.Review(work, m.UserID, c.ID, store.Verdict{Verdict: store.VerdictReject})
		case kind == pipeline.KindReview:
			_, err = b.Store.Review(work, m.UserID, c.ID, store.Verdict{Verdict: store.VerdictApprove})
		default:
			_, err = b.Store.Submit(work, m.UserID, c.ID, raw(`{"answer":"42","sure":true}`))
			if b.while(work, err); dice == 1 {
				_, err = b.Store.Undo(work, m.UserID, c.ID)
			}
		}
		b.while(work, err)
	}
}

// walk applies, as the runs of every second task, what is to be applied.
func (b *bench) walk(work context.Context, half int64) {
	for work.Err() == nil {
		var ids []int64
		err := b.Store.Pool().QueryRow(work, `SELECT coalesce(array_agg(id), '{}') FROM tasks WHERE applied_seq < seq AND id % 2 = $1`, half).Scan(&ids)
		b.while(work, err)
		for _, id := range ids {
			l, err := b.Store.LoadTask(work, id)
			b.while(work, err)
			events, err := b.Store.LoadEvents(work, id, l.State.Seq, 100)
			b.while(work, err)
			in := store.StepInput{TaskID: id, From: l.State.Seq, To: l.State.Seq}
			s := l.State
			for _, e := range events {
				var changes []pipeline.Change
				s, changes = pipeline.Step(l.Graph, s, e)
				in.Changes, in.To = append(in.Changes, changes...), e.Seq
			}
			_, err = b.Store.ApplyStep(work, in)
			b.while(work, err)
		}
	}
}
