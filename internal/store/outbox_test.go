package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// A run reads in the journal what it was not told: of a task's events the last
// one is told, for all of them.
func TestTheLastRowOfATaskStandsForAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	require.Empty(t, b.take(store.UrgencyCreated), "the claim stands for the start")
	told := b.take(store.UrgencyClaimed)
	require.Len(t, told, 1)
	require.Equal(t, pipeline.EventClaim, told[0].Event.Kind)

	b.submit(b.Contributors[0], c)
	got := b.take(store.UrgencyHanded)
	require.Len(t, got, 1, "it waits for nothing that another dispatcher has in its hands")
	require.Equal(t, id, got[0].TaskID)
	require.Equal(t, pipeline.EventSubmit, got[0].Event.Kind)
	require.Equal(t, int64(3), got[0].Event.Seq)

	require.NoError(t, b.Store.DoneOutbox(ctx, told))
	require.Equal(t, []int64{3}, b.outboxOf(id), "what came after is still to be told")
	b.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0)`, id)
	nudge := b.take(store.UrgencyHanded)
	require.Len(t, nudge, 1, "a nudge is told by itself")
	require.Equal(t, store.TopicSync, nudge[0].Topic)
	require.NoError(t, b.Store.DoneOutbox(ctx, got))
	require.Equal(t, []int64{0}, b.outboxOf(id), "no event stands for it")
	require.NoError(t, b.Store.DoneOutbox(ctx, nudge))
	require.Empty(t, b.outboxOf(id))
}

// What is less urgent waits by itself, however late it came: of two nodes side by
// side one is handed in before the other one is claimed.
func TestALaterClaimDoesNotHoldUpWhatWasHandedIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_event', $1, 4, $2)`, id, store.UrgencyClaimed)
	got := b.take(store.UrgencyHanded)
	require.Len(t, got, 1)
	require.Equal(t, pipeline.EventSubmit, got[0].Event.Kind)
	require.NoError(t, b.Store.DoneOutbox(ctx, got))
	require.Equal(t, []int64{4}, b.outboxOf(id))
	got = b.take(store.UrgencyClaimed)
	require.Len(t, got, 1)
	require.NoError(t, b.Store.DoneOutbox(ctx, got))
	require.Empty(t, b.outboxOf(id), "a row without its event is told once, too")
}

// Several dispatchers are done with rows of one task at a time, each with what its
// own stands for: none waits for the others.
func TestWhoIsDoneWaitsForNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	start := b.take(store.UrgencyCreated)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	claim := b.take(store.UrgencyClaimed)
	other, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer other.Rollback(ctx)
	_, err = other.Exec(ctx, `DELETE FROM outbox WHERE id = $1`, start[0].ID)
	require.NoError(t, err)
	require.NoError(t, b.Store.DoneOutbox(ctx, claim))
	require.NoError(t, other.Commit(ctx))
	require.Empty(t, b.outboxOf(id))
}

// take leases what is due of an urgency.
func (b *bench) take(u store.Urgency) []store.Delivery {
	b.t.Helper()
	got, err := b.Store.TakeOutbox(b.t.Context(), 10, u)
	require.NoError(b.t, err)
	for _, d := range got {
		require.Equal(b.t, u, d.Urgency)
	}
	return got
}

// outboxOf are the numbers of the task's events that are to be told.
func (b *bench) outboxOf(task int64) []int64 {
	b.t.Helper()
	rows, _ := b.Store.Pool().Query(b.t.Context(), `SELECT seq FROM outbox WHERE task_id = $1 ORDER BY seq`, task)
	seqs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(b.t, err)
	return seqs
}

// What a dispatcher had in its hands when it died is delivered by another one,
// and has its consequences, within the 30 s after which a dead worker's work
// must have gone on: the lease leaves ten of them for that.
func TestWhatADeadDispatcherTookIsDueSoon(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	got := b.take(store.UrgencyCreated)
	require.Len(t, got, 1)
	b.exec(`UPDATE outbox SET leased_until = leased_until - interval '20 seconds'`)
	again := b.take(store.UrgencyCreated)
	require.Len(t, again, 1)
	require.Equal(t, got[0].ID, again[0].ID)
}

// After an outage everything has lagged for long, also what was told a moment ago
// and has no row any more. A ring would cost as much as the event that it repeats.
func TestNothingIsRungWhileTheOutboxIsBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	told := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	b.exec(`DELETE FROM outbox`)
	others := b.create(100)
	b.exec(`UPDATE outbox SET priority = 0, next_attempt_at = now() - interval '31 seconds'`)
	b.exec(`UPDATE tasks SET updated_at = now() - interval '10 minutes'`)
	rung, err := b.Store.Reconcile(ctx, 200)
	require.NoError(t, err)
	require.Empty(t, rung)

	// Nothing is left alone for ever.
	b.exec(`UPDATE task_lag SET since = now() - interval '16 minutes' WHERE task_id = $1`, told)
	rung, err = b.Store.Reconcile(ctx, 200)
	require.NoError(t, err)
	require.Equal(t, []int64{told}, rung)
	b.exec(`DELETE FROM outbox WHERE task_id = $1`, told)
	b.exec(`UPDATE task_lag SET since = now() - interval '10 minutes' WHERE task_id = $1`, told)

	// What is refused for long holds up nobody else's healing, whatever it stands for.
	b.exec(`INSERT INTO task_events (task_id, seq, kind) SELECT t, seq, 'claim' FROM unnest($1::bigint[]) t, generate_series(2, 3) seq`, others)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
		SELECT 'task_event', t, seq, 0, now() - interval '31 seconds' FROM unnest($1::bigint[]) t, generate_series(2, 3) seq`, others)
	b.exec(`UPDATE outbox SET next_attempt_at = now() + interval '1 minute', attempts = 9 WHERE seq = 3`)
	rung, err = b.Store.Reconcile(ctx, 200)
	require.NoError(t, err)
	require.Equal(t, []int64{told}, rung)
}

// While Temporal is away a lease that ran out minutes ago ends all the same, and its
// node goes to its place in the queue, not behind all others.
func TestALeaseEndsWhileNobodyIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, ben := t.Context(), b.Contributors[0], b.Contributors[1]
	ids := b.create(4)
	left := b.claim(ada, pipeline.KindSubtask)
	late := b.claim(ada, pipeline.KindSubtask)
	b.lapse(left.TaskID, 6*time.Minute)
	b.lapse(late.TaskID, 4*time.Minute)
	_, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Equal(t, ids[0], b.claim(ben, pipeline.KindSubtask).TaskID)
	require.Equal(t, ids[2], b.claim(ben, pipeline.KindSubtask).TaskID, "its run may still do it")
	require.EqualValues(t, 1, b.Store.LeasesExpired())
	_, err = b.Store.Submit(ctx, ada, left.ID, raw(`{"answer":"42","sure":true}`))
	require.Equal(t, fault.Conflict, fault.KindOf(err), "it was taken from who left it")
	told := b.take(store.UrgencyHanded)
	require.Len(t, told, 1, "the end of the lease stands for the claim, which was to be told")
	require.Equal(t, pipeline.EventExpire, told[0].Event.Kind)
	require.Equal(t, left.TaskID, told[0].TaskID)

	b.exec(`DELETE FROM outbox`) // nothing waits to be told: the run is rung
	rung, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Empty(t, rung, "not yet")
	b.lapse(late.TaskID, 6*time.Minute)
	rung, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Equal(t, []int64{late.TaskID}, rung)
}

// A node that was closed before its time was up is not late, though its run has not
// heard of that yet.
func TestWhatWasClosedInTimeIsNotOverdue(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(*bench, int64) error{
		"its run asks":        func(b *bench, id int64) error { _, err := b.Store.CheckDeadlines(b.t.Context(), id); return err },
		"the reconciler does": func(b *bench, _ int64) error { _, err := b.Store.Reconcile(b.t.Context(), 100); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ada := b.Contributors[0]
			id := b.create(1)[0]
			b.submit(ada, b.claim(ada, pipeline.KindSubtask))
			b.settle(id)
			require.NoError(t, b.Store.Quarantine(t.Context(), b.member(b.Admin), id, "solve", ""))
			// As the release of before leaves it: its run has not heard of that yet.
			b.exec(`UPDATE tasks SET applied_seq = seq - 1 WHERE id = $1`, id)
			b.exec(`UPDATE task_nodes SET status = 'available', last_seq = last_seq - 1, sla_at = now() - interval '10 minutes'
				WHERE task_id = $1 AND key = 'check'`, id)
			require.NoError(t, look(b, id))
			require.Zero(t, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind = 'escalate'`, id))
			require.Equal(t, task.NodePending, b.statusOf(id, "check"))
			b.checked()
		})
	}
}

// A task that somebody has locked, or that is broken, keeps nothing from being healed.
func TestAnOverdueTaskThatCannotBeLockedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	b.create(4)
	locked, broken, other := b.claim(ada, pipeline.KindSubtask), b.claim(ada, pipeline.KindSubtask), b.claim(ada, pipeline.KindSubtask)
	lost := b.claim(ada, pipeline.KindSubtask)
	for i, c := range []*store.Claim{locked, broken, other} {
		b.lapse(c.TaskID, 9*time.Minute-time.Duration(i)*time.Minute)
	}
	b.exec(`DELETE FROM outbox WHERE task_id = $1`, lost.TaskID)
	b.exec(`UPDATE task_lag SET since = now() - interval '2 minutes' WHERE task_id = $1`, lost.TaskID)
	b.exec(`UPDATE tasks SET version_id = -1 WHERE id = $1`, broken.TaskID)
	b.held(lockTask, locked.TaskID)
	rung, err := b.Store.Reconcile(ctx, 100)
	require.ErrorContains(t, err, fmt.Sprintf("task %d", broken.TaskID))
	require.Equal(t, []int64{lost.TaskID}, rung)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_events WHERE kind = 'expire'`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND status = 'available'`, other.TaskID))
}

// One process compares the kept counts with every task. The others go on meanwhile.
func TestAComparisonOfCountsHoldsUpNoOtherProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	b.exec(`UPDATE count_checks SET at = now() - interval '2 hours'`)
	tx, err := b.Store.Pool().Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	_, err = tx.Exec(t.Context(), `UPDATE count_checks SET at = now()`)
	require.NoError(t, err)
	require.Positive(t, b.count(`SELECT count(*) FROM count_changes`))
	require.NoError(t, b.Store.Tidy(t.Context()))
	require.Zero(t, b.count(`SELECT count(*) FROM count_changes`))
}

func TestReconcileRingsWhatLags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	rung, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Empty(t, rung)
	b.exec(`DELETE FROM outbox`)
	b.exec(`UPDATE tasks SET updated_at = now() - interval '2 minutes' WHERE id = $1`, ids[0])
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '10 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	rung, err = b.Store.Reconcile(ctx, 100, ids[0], ids[2])
	require.NoError(t, err)
	require.Equal(t, []int64{ids[1]}, rung, "not who was excepted")
	rung, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[0]}, rung, "who has a row already needs none")
	still, err := b.Store.StillLagging(ctx, ids)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[0]}, still)
	_, err = b.Store.Submit(ctx, b.Contributors[1], b.claim(b.Contributors[1], pipeline.KindSubtask).ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	got := b.take(store.UrgencyHanded)
	require.Len(t, got, 4, "rings stand behind no claims")
	require.Equal(t, pipeline.EventEscalate, got[0].Event.Kind, "the second round ended what the first had rung in vain")
	require.Equal(t, pipeline.EventSubmit, got[1].Event.Kind, "but behind what was handed in")
	for _, d := range got[2:] {
		require.Equal(t, store.TopicSync, d.Topic)
	}
}

// Who was rung because a lease or a time limit is over has not moved before that is ended,
// else they would be rung in each round, and ever more of them.
func TestWhatIsOverdueLagsUntilItIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.settle(ids[0])
	b.lapse(ids[0], 10*time.Minute)
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '10 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	b.exec(`DELETE FROM outbox`)
	rung, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.ElementsMatch(t, ids[:2], rung)
	still, err := b.Store.StillLagging(ctx, ids)
	require.NoError(t, err)
	require.ElementsMatch(t, ids[:2], still)
	for _, id := range ids[:2] {
		_, err := b.Store.CheckDeadlines(ctx, id)
		require.NoError(t, err)
	}
	still, err = b.Store.StillLagging(ctx, ids)
	require.NoError(t, err)
	require.Empty(t, still)
}

// Whoever gives way hears how long people wait for what follows from what they
// handed in; what lags for another reason slows nobody, and neither does a claim
// that is not told yet.
func TestWhoeverGivesWayKnowsWhetherPeopleWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	behind := func(want time.Duration, why string) {
		t.Helper()
		got, err := b.Store.StepsBehind(ctx)
		require.NoError(t, err)
		require.InDelta(t, want, got, float64(2*time.Second), why)
	}
	b.create(2)
	behind(0, "nobody waits for the run of a new task")
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	since := func(ago string) {
		b.exec(`UPDATE tasks SET updated_at = now() - $2::interval WHERE id = $1`, c.TaskID, ago)
	}
	since("5 seconds")
	behind(0, "nobody waits for what follows from a claim")
	require.NoError(t, b.Store.DoneOutbox(ctx, b.take(store.UrgencyClaimed)))
	behind(0, "told or not")
	b.submit(b.Contributors[0], c)
	since("5 seconds")
	behind(5*time.Second, "somebody waits for the next node")
	require.NoError(t, b.Store.DoneOutbox(ctx, b.take(store.UrgencyHanded)))
	behind(5*time.Second, "told or not")
	since("1 minute")
	behind(0, "it lags for another reason")
}
