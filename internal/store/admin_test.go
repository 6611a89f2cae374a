package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

func TestDeadlinesExpireLeasesAndEscalate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(2)
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	require.Equal(t, ids[0], c.TaskID)
	res, err := b.Store.CheckDeadlines(ctx, ids[0])
	require.NoError(t, err)
	require.Len(t, res.Deadlines, 1, "the lease still runs")
	require.WithinDuration(t, c.LeaseExpiresAt, res.Deadlines[0].LeaseEnds, 0)

	b.lapse(ids[0], time.Second)
	res, err = b.Store.CheckDeadlines(ctx, ids[0])
	require.NoError(t, err)
	require.Empty(t, res.Deadlines)
	n, _ := b.settle(ids[0]).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)

	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	_, err = b.Store.CheckDeadlines(ctx, ids[1])
	require.NoError(t, err)
	require.Equal(t, task.Escalated, b.status(ids[1]).Status)
	b.settle(ids[1])
	require.NoError(t, b.Store.Resolve(ctx, b.member(b.Admin), ids[1], "solve", pipeline.ResolveRequeue, ""))
	n, _ = b.settle(ids[1]).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)
	require.Equal(t, 2, n.Iteration)
	b.checked()
}

// Who claims what was put back may be there before the run of the task.
func TestWhatIsPutBackHasItsTimeLimitAtOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	d.Nodes[1].SLA = pipeline.Duration(time.Hour)
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, admin := t.Context(), b.member(b.Admin)
	id := b.create(1)[0]
	require.NoError(t, b.Store.Escalate(ctx, admin, id, "solve", "too hard"))
	b.settle(id)
	require.NoError(t, b.Store.Resolve(ctx, admin, id, "solve", pipeline.ResolveRequeue, ""))
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	require.NotNil(t, c)
	b.settle(id)
	require.NoError(t, b.Store.ReleaseClaim(ctx, b.Contributors[0], c.ID, store.Release{}))
	b.settle(id)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'solve'
		AND sla_at BETWEEN now() + interval '59 minutes' AND now() + interval '1 hour'`, id))
	b.checked()
}

func TestAdminCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	admin := b.member(b.Admin)
	ids := b.create(4)
	ada := b.Contributors[0]

	c := b.claim(ada, pipeline.KindSubtask)
	require.NoError(t, b.Store.Quarantine(ctx, admin, c.TaskID, "solve", "broken question"))
	_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, task.Quarantined, b.status(c.TaskID).Status)
	err = b.Store.Resolve(ctx, admin, c.TaskID, "solve", pipeline.ResolveAccept, "")
	require.True(t, fault.Is(err, fault.Conflict), "nothing was submitted: %v", err)
	require.NoError(t, b.Store.Resolve(ctx, admin, c.TaskID, "solve", pipeline.ResolveSkip, ""))
	b.settle(c.TaskID)
	require.Equal(t, task.Finished, b.status(c.TaskID).Status, "its review has nothing to check")

	require.NoError(t, b.Store.Hold(ctx, admin, ids[1], ""))
	require.Equal(t, task.Paused, b.status(ids[1]).Status)
	require.Equal(t, ids[2], b.claim(ada, pipeline.KindSubtask).TaskID, "a held task is passed over")
	require.NoError(t, b.Store.Unhold(ctx, admin, ids[1], ""))
	require.Equal(t, ids[1], b.claim(ada, pipeline.KindSubtask).TaskID)

	require.NoError(t, b.Store.FailTask(ctx, admin, ids[3], "withdrawn"))
	require.Equal(t, task.Failed, b.status(ids[3]).Status)
	require.Equal(t, task.Summary{}, b.status(ids[3]).Summary)
	err = b.Store.Hold(ctx, admin, ids[3], "")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Nil(t, b.claim(b.Contributors[1], pipeline.KindSubtask))
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestReviewerEscalates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	b.settle(id)
	rc := b.claim(b.Reviewers[0], pipeline.KindReview)
	_, err := b.Store.Review(ctx, b.Reviewers[0], rc.ID, store.Verdict{Verdict: store.VerdictEscalate})
	require.NoError(t, err)
	require.Equal(t, task.Escalated, b.status(id).Status)
	b.settle(id)
	waiting, err := b.Store.Waiting(ctx, b.OrgID, b.PipelineID, "", 10)
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, pipeline.ReasonReviewer, waiting[0].Reason)
	require.NoError(t, b.Store.Resolve(ctx, b.member(b.Admin), id, "check", pipeline.ResolveAccept, ""))
	b.settle(id)
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

func TestAnOperatorsCancellationAppliesWhatWaited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	require.NoError(t, b.Store.FailByOperator(ctx, id))
	require.NoError(t, b.Store.FailByOperator(ctx, id), "once is enough")
	require.Equal(t, task.Failed, b.status(id).Status)
	b.checked()
}

// What is put back before its turn has come waits for it: nobody is given it before the
// run of the task has looked.
func TestWhatIsPutBackWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	for name, requeue := range map[string]func(b *bench, id int64) error{
		"one node": func(b *bench, id int64) error {
			return b.Store.Resolve(b.t.Context(), b.member(b.Admin), id, "check", pipeline.ResolveRequeue, "")
		},
		"the task": func(b *bench, id int64) error { return b.Store.Requeue(b.t.Context(), b.member(b.Admin), id, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			id, ada, rita := b.create(1)[0], b.Contributors[0], b.Reviewers[0]
			require.NoError(t, b.Store.Quarantine(ctx, b.member(b.Admin), id, "check", ""))
			require.NoError(t, requeue(b, id))
			require.Nil(t, b.claim(rita, pipeline.KindReview), "there is nothing to review yet")
			n, _ := b.settle(id).Node("check")
			require.Equal(t, task.NodePending, n.Status)
			b.submit(ada, b.claim(ada, pipeline.KindSubtask))
			b.settle(id)
			c := b.claim(rita, pipeline.KindReview)
			require.NotNil(t, c)
			require.NoError(t, b.Store.Escalate(ctx, b.member(b.Admin), id, "check", ""))
			require.NoError(t, requeue(b, id))
			require.NotNil(t, b.claim(rita, pipeline.KindReview), "and where its turn has come it is open at once")
			b.settle(id)
			b.checked()
		})
	}
}

// A review of what an admin sets aside waits at once, and not when its run comes by: a
// verdict until then would count for nothing.
func TestWhatIsSetAsideIsNotReviewed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita, admin := t.Context(), b.Contributors[0], b.Reviewers[0], b.member(b.Admin)
	ids := b.create(2)
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	require.NoError(t, b.Store.Quarantine(ctx, admin, ids[0], "solve", ""))
	require.Nil(t, b.claim(rita, pipeline.KindReview), "its review never opened")

	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(ids[1])
	rc := b.claim(rita, pipeline.KindReview)
	require.Equal(t, ids[1], rc.TaskID)
	require.NoError(t, b.Store.Escalate(ctx, admin, ids[1], "solve", ""))
	_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	for _, id := range ids {
		b.settle(id)
		require.NoError(t, b.Store.Resolve(ctx, admin, id, "solve", pipeline.ResolveAccept, ""))
		b.settle(id)
		b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
		require.Equal(t, task.Finished, b.status(id).Status)
	}
	b.checked()
}

// Accepting a review says that it passes, which it would not while what it checks is open.
func TestAReviewOfWhatIsNotDoneIsNotAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, admin := t.Context(), b.Contributors[0], b.member(b.Admin)
	id := b.create(1)[0]
	require.NoError(t, b.Store.Quarantine(ctx, admin, id, "check", ""))
	conflicts(t, b.Store.Resolve(ctx, admin, id, "check", pipeline.ResolveAccept, ""), `checks node "solve", which is available`)
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	require.NoError(t, b.Store.Resolve(ctx, admin, id, "check", pipeline.ResolveAccept, ""))
	b.settle(id)
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

// What an admin sets aside may have been finished already, by a verdict that waits to be
// applied: it stands.
func TestWhatAVerdictFinishedIsNotSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.NoError(t, err)
	for _, node := range []string{"solve", "check"} {
		require.Equal(t, fault.Conflict, fault.KindOf(b.Store.Quarantine(ctx, b.member(b.Admin), id, node, "")), node)
		require.Equal(t, fault.Conflict, fault.KindOf(b.Store.Escalate(ctx, b.member(b.Admin), id, node, "")), node)
	}
	b.settle(id)
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

// Where an event is of a newer release, nobody here can tell what follows from it.
func TestATaskWithAnEventOfANewerReleaseIsNotSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	b.exec(`WITH t AS (UPDATE tasks SET seq = seq + 1 WHERE id = $1 RETURNING seq) INSERT INTO task_events (task_id, seq, kind) SELECT $1, seq, 'delegate' FROM t`, id)
	conflicts(t, b.Store.Quarantine(t.Context(), b.member(b.Admin), id, "solve", ""), "newer version")
	b.exec(`UPDATE task_nodes SET sla_at = now() WHERE task_id = $1 AND key = 'solve'`, id)
	_, err := b.Store.CheckDeadlines(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND status = 'escalated'`, id), "but its time ends")
}
