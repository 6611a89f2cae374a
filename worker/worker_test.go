package worker_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

func TestATaskFlowsFromCreationToItsEnd(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(1)[0]
	f.until("a run", func() bool { return f.describe(id) != nil })
	d := f.describe(id)
	attributes := d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	var org, pipe int64
	var state, summary string
	read := converter.GetDefaultDataConverter()
	require.NoError(t, read.FromPayload(attributes["OrgId"], &org))
	require.NoError(t, read.FromPayload(attributes["PipelineId"], &pipe))
	require.NoError(t, read.FromPayload(attributes["TaskState"], &state))
	require.NoError(t, read.FromPayload(d.GetExecutionConfig().GetUserMetadata().GetSummary(), &summary))
	require.Equal(t, f.OrgID, org)
	require.Equal(t, f.PipelineID, pipe)
	require.Equal(t, workflows.TaskActive, state)
	require.Equal(t, workflows.TaskSummary(id, f.PipelineID, "Math check"), summary)

	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	rejected := f.claim(f.Reviewers[0], pipeline.KindReview)
	f.review(rejected, store.VerdictReject)
	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	again := f.claim(f.Reviewers[0], pipeline.KindReview)

	var view workflows.TaskView
	f.until("the run's own view", func() bool {
		v, err := f.c.QueryWorkflow(t.Context(), workflows.TaskID(id), "", workflows.StateQuery)
		return err == nil && v.Get(&view) == nil && view.Deadline != nil
	})
	require.Equal(t, task.InProgress, view.Status)
	require.Equal(t, "claim lease of check", view.Deadline.What)
	require.WithinDuration(t, again.LeaseExpiresAt, view.Deadline.At, time.Millisecond)

	f.review(again, store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.until("the end of the run", func() bool {
		return f.describe(id).GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
	f.drained()
}

func TestEveryRowDeliveredTwiceHasOneEffect(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.WithContributors(4))
	f.runs.mu.Lock()
	f.runs.twice = true
	f.runs.mu.Unlock()
	ids := f.create(12)
	for i := range ids {
		f.submit(f.claim(f.Contributors[i%4], pipeline.KindSubtask))
	}
	for i := range ids {
		c := f.claim(f.Reviewers[i%2], pipeline.KindReview)
		f.review(c, store.VerdictApprove)
	}
	for _, id := range ids {
		f.becomes(id, task.Finished)
	}
	f.drained()
	f.runs.mu.Lock()
	defer f.runs.mu.Unlock()
	for id, seqs := range f.runs.seen {
		require.True(t, slices.IsSorted(seqs), "the events of %s went out as %v", id, seqs)
	}
}

func TestATerminatedRunHeals(t *testing.T) {
	t.Parallel()
	f := open(t)
	ids := f.create(2)
	kill := func(id int64) {
		f.until("a run", func() bool { return f.describe(id) != nil })
		require.NoError(t, f.c.TerminateWorkflow(t.Context(), workflows.TaskID(id), "", "test"))
	}
	t.Run("by the next event", func(*testing.T) {
		c := f.claim(f.Contributors[0], pipeline.KindSubtask)
		kill(c.TaskID)
		f.submit(c)
		f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
		f.becomes(c.TaskID, task.Finished)
		ids = slices.DeleteFunc(ids, func(id int64) bool { return id == c.TaskID })
	})
	t.Run("by the reconciler", func(t *testing.T) {
		id := ids[0]
		c := f.claim(f.Contributors[0], pipeline.KindSubtask)
		require.Equal(t, id, c.TaskID)
		kill(id)
		f.submit(c)
		// The event is told to the next run, which is lost as well, and so is
		// all that was on the way; a minute passes.
		f.until("the delivery", func() bool {
			s, err := f.Store.OutboxStats(t.Context())
			require.NoError(t, err)
			return s.Rows == 0
		})
		kill(id)
		f.exec(`UPDATE tasks SET updated_at = now() - interval '2 minutes' WHERE id = $1`, id)
		f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
		f.exec(`DELETE FROM outbox WHERE task_id = $1`, id)
		f.exec(`UPDATE tasks SET updated_at = now() - interval '2 minutes' WHERE id = $1`, id)
		f.becomes(id, task.Finished)
	})
	f.drained()
}

func TestAnAbandonedClaimComesBack(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(1)[0]
	f.exec(`UPDATE task_nodes SET lease_seconds = 2`)
	f.claim(f.Contributors[0], pipeline.KindSubtask)
	f.until("the expiry", func() bool {
		l, err := f.Store.LoadTask(t.Context(), id)
		require.NoError(t, err)
		return l.State.Nodes[0].Status == task.NodeAvailable && l.State.Seq == 3
	})
	f.exec(`UPDATE task_nodes SET lease_seconds = 1800`)
	f.submit(f.claim(f.Contributors[1], pipeline.KindSubtask))
	f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.drained()
}

func TestAnOperatorsCancellationFailsTheTask(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(1)[0]
	f.until("a run", func() bool { return f.describe(id) != nil })
	require.NoError(t, f.c.CancelWorkflow(t.Context(), workflows.TaskID(id), ""))
	f.becomes(id, task.Failed)
	f.until("the end of the run", func() bool {
		return f.describe(id).GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_CANCELED
	})
	f.drained()
}

func TestAdminsWordsReachTheRun(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(1)[0]
	admin := f.member(f.Admin)
	require.NoError(t, f.Store.Escalate(t.Context(), admin, id, "solve", "Ada was rude"))
	f.becomes(id, task.Escalated)
	f.atRest()
	waiting, err := f.Store.Waiting(t.Context(), f.OrgID, f.PipelineID, "", 10)
	require.NoError(t, err)
	require.Equal(t, "Ada was rude", waiting[0].Reason, "the admins read it all the same")
	f.until("the operators' label", func() bool {
		var state string
		p := f.describe(id).GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["TaskState"]
		return converter.GetDefaultDataConverter().FromPayload(p, &state) == nil && state == workflows.TaskEscalated
	})
	require.NoError(t, f.Store.Resolve(t.Context(), admin, id, "solve", pipeline.ResolveRequeue, ""))
	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.drained()

	for _, e := range f.history(workflows.TaskID(id)) {
		require.NotContains(t, e.String(), "rude", "what people write stays out of histories")
		require.NotContains(t, e.String(), "6 times 7")
	}
}

func TestSixtyFourClaimers(t *testing.T) {
	t.Parallel()
	const tasks = 150
	f := open(t, dbtest.WithContributors(64), dbtest.WithDefinition(dbtest.Simple()))
	ids := f.create(tasks)
	ctx := context.WithoutCancel(t.Context())
	var mu sync.Mutex
	taken := map[int64]int{}
	var crowd sync.WaitGroup
	for _, user := range f.Contributors {
		m := f.member(user)
		crowd.Go(func() {
			for {
				c, err := f.Store.ClaimNext(ctx, m, pipeline.KindSubtask)
				if err != nil || c == nil {
					return
				}
				mu.Lock()
				taken[c.TaskID]++
				mu.Unlock()
				if _, err := f.Store.Submit(ctx, m.UserID, c.ID, values(`{"answer":"42"}`)); err != nil {
					t.Errorf("submit: %v", err)
					return
				}
			}
		})
	}
	crowd.Wait()
	require.Len(t, taken, tasks)
	for id, n := range taken {
		require.Equal(t, 1, n, "task %d", id)
	}
	for _, id := range ids {
		f.becomes(id, task.Finished)
	}
	f.drained()
}

func TestAWorkerThatRestartsGoesOn(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(1)[0]
	f.until("a heartbeat", func() bool { return f.alive() == 1 })
	f.stop()
	require.Zero(t, f.alive(), "a graceful stop takes the heartbeat away")
	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	f.start()
	f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.drained()
}

func (f *floor) alive() int {
	f.t.Helper()
	n, err := f.Store.WorkersAlive(f.t.Context(), f.queue, 6*time.Second)
	require.NoError(f.t, err)
	return n
}

func TestAWorkerWaitsForATemporalThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	st := w.Store
	_, err := st.Pool().Exec(t.Context(), `INSERT INTO count_changes VALUES ($1, $2, 'open', 0)`, w.PipelineID, w.VersionID)
	require.NoError(t, err)
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, worker.Deps{Store: st, Client: c, Logger: quiet(), TaskQueue: "nowhere", WorkerID: "waiting", ReconcileEvery: 50 * time.Millisecond})
	}()
	var ok bool
	require.Eventually(t, func() bool {
		return st.Pool().QueryRow(t.Context(), `SELECT temporal_ok FROM worker_heartbeats WHERE worker_id = 'waiting'`).Scan(&ok) == nil
	}, patience, 20*time.Millisecond, "a heartbeat")
	require.False(t, ok, "it is alive and says that it cannot work")
	require.Eventually(t, func() bool {
		var n int
		return st.Pool().QueryRow(t.Context(), `SELECT count(*) FROM count_changes`).Scan(&n) == nil && n == 0
	}, patience, 20*time.Millisecond, "what heals without Temporal does")
	select {
	case err := <-done:
		require.Fail(t, "the worker gave up", "%v", err)
	default:
	}
	cancel()
	require.NoError(t, <-done)
}
