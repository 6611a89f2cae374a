package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

func (b *bench) bulk(ids []int64, act store.BulkAction) store.BulkResult {
	b.t.Helper()
	out, err := b.Store.Bulk(b.t.Context(), b.member(b.ProjectAdmin), ids, act)
	require.NoError(b.t, err)
	return out
}

func failedIDs(r store.BulkResult) []int64 {
	ids := []int64{}
	for _, f := range r.Failed {
		ids = append(ids, f.TaskID)
	}
	return ids
}

func TestPrioritiesDecideWhatIsServedNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(4)
	require.Equal(t, ids[2:3], b.bulk(ids[2:3], store.BulkAction{Kind: store.BulkSetPriority, Priority: -10}).Done)
	b.bulk(ids[:1], store.BulkAction{Kind: store.BulkSetPriority, Priority: 5})
	var got []int64
	for range ids {
		c := b.claim(b.Contributors[0], pipeline.KindSubtask)
		got = append(got, c.TaskID)
		b.submit(c.UserID, c)
		b.settle(c.TaskID)
	}
	want := []int64{ids[2], ids[1], ids[3], ids[0]}
	require.Equal(t, want, got)
	got = nil
	for range ids {
		got = append(got, b.claim(b.Reviewers[0], pipeline.KindReview).TaskID)
	}
	require.Equal(t, want, got, "reviews opened after the priority was set, and keep it")
	require.Equal(t, 2, b.count(`SELECT count(*) FROM audit_log WHERE action = 'task.priority' AND actor = $1`, b.ProjectAdmin))
	b.bulk(ids, store.BulkAction{Kind: store.BulkSetPriority})
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
	_, err := b.Store.Bulk(t.Context(), b.member(b.ProjectAdmin), ids, store.BulkAction{Kind: "forget"})
	require.True(t, fault.Is(err, fault.InvalidRequest), "%v", err)
}

func (b *bench) count(sql string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.Store.Pool().QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func TestBulkTellsWhatItCouldNotDo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	second, version := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	b.exec(`INSERT INTO tasks (id, org_id, pipeline_id, version_id, n_total, n_in_progress, input) VALUES (777, $1, $2, $3, 1, 1, '{}')`, b.OrgID, second, version)
	b.exec(`INSERT INTO task_events (task_id, seq, kind) VALUES (777, 1, 'create')`)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES (777, 'solve', $1, $2, 'subtask', 'available')`, b.OrgID, second)
	b.exec(`INSERT INTO count_changes VALUES ($1, $2, 'open', 1), ($1, 0, 'subtask:queued', 1)`, second, version)
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	theirs := (&bench{World: other, t: t}).create(1)[0]
	before := b.count(`SELECT count(*) FROM task_events WHERE task_id IN (777, $1)`, theirs)

	all := []int64{ids[0], 777, theirs, 987654321, ids[1], ids[0]}
	for _, kind := range []string{store.BulkHold, store.BulkSetPriority, store.BulkUnhold} {
		out := b.bulk(all, store.BulkAction{Kind: kind, Priority: 3})
		require.Equal(t, []int64{ids[0], ids[1]}, out.Done, kind)
		require.Equal(t, []int64{777, theirs, 987654321}, failedIDs(out), kind)
		require.Contains(t, out.Failed[0].Message, "not found")
	}
	require.Equal(t, ids, failedIDs(b.bulk(ids, store.BulkAction{Kind: store.BulkRelease})), "nobody holds them")
	require.Equal(t, ids, failedIDs(b.bulk(ids, store.BulkAction{Kind: store.BulkRequeue})), "nothing is escalated")
	require.NoError(t, b.Store.Escalate(ctx, b.member(b.Admin), ids[1], "solve", ""))
	require.Equal(t, ids[1:2], b.bulk(ids[:2], store.BulkAction{Kind: store.BulkRequeue}).Done)
	b.settle(ids[1])
	require.Equal(t, task.Pending, b.status(ids[1]).Status)
	require.Equal(t, ids, b.bulk(ids, store.BulkAction{Kind: store.BulkFail, Reason: "withdrawn"}).Done)
	out := b.bulk(ids, store.BulkAction{Kind: store.BulkSetPriority, Priority: 1})
	require.Equal(t, ids, failedIDs(out), "what is over stays as it is")
	require.Equal(t, before, b.count(`SELECT count(*) FROM task_events WHERE task_id IN (777, $1)`, theirs))
	require.Equal(t, 0, b.count(`SELECT count(*) FROM tasks WHERE id IN (777, $1) AND (priority <> 0 OR held)`, theirs))
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

// Where the database is away, each further task would wait for it in vain.
func TestBulkEndsWhereSomethingBreaks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	st, err := store.Open(ctx, b.Store.Pool().Config().ConnString()+"&lock_timeout=50ms", store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(ctx)) })
	_, err = tx.Exec(ctx, lockTask, ids[1])
	require.NoError(t, err)
	admin, act := b.member(b.ProjectAdmin), store.BulkAction{Kind: store.BulkSetPriority, Priority: 5}

	out, err := st.Bulk(ctx, admin, []int64{ids[0], 987654321, ids[1], ids[0], ids[2], ids[1]}, act)
	require.NoError(t, err)
	require.Equal(t, ids[:1], out.Done)
	require.Equal(t, []int64{987654321}, failedIDs(out), "what is refused ends nothing")
	require.Equal(t, ids[1:], out.Left, "each once")
	require.Zero(t, b.count(`SELECT count(*) FROM tasks WHERE id = ANY ($1) AND priority <> 0`, ids[1:]))
	_, err = st.Bulk(ctx, admin, out.Left, act)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)

	require.NoError(t, tx.Rollback(ctx))
	out, err = st.Bulk(ctx, admin, out.Left, act)
	require.NoError(t, err)
	require.Equal(t, store.BulkResult{Done: ids[1:], Failed: []store.BulkFailure{}, Left: []int64{}}, out)
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestAnAdminEndsAClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, ben := b.Contributors[0], b.Contributors[1]
	c := b.claim(ada, pipeline.KindSubtask)
	_, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"4"}`), 0)
	require.NoError(t, err)
	admin := b.member(b.ProjectAdmin)
	conflicts(t, b.Store.ReleaseNode(ctx, admin, id, "solve", ben, "meant for another"), "somebody else holds node")
	require.NoError(t, b.Store.ReleaseNode(ctx, admin, id, "solve", ada, "away today"))
	err = b.Store.ReleaseNode(ctx, admin, id, "solve", 0, "")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	err = b.Store.ReleaseNode(ctx, admin, id, "nope", 0, "")
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)

	d, err := b.Store.TaskDetail(ctx, b.OrgID, b.PipelineID, id)
	require.NoError(t, err)
	require.Equal(t, pipeline.EventRelease, d.Events[0].Kind)
	require.Equal(t, b.ProjectAdmin, *d.Events[0].Actor)
	require.Equal(t, "away today", d.Events[0].Reason)
	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	n, _ := b.settle(id).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)
	require.Equal(t, 1, n.Iteration)
	require.Equal(t, id, b.claim(ben, pipeline.KindSubtask).TaskID)
	require.Equal(t, []int64{id}, b.bulk([]int64{id}, store.BulkAction{Kind: store.BulkRelease}).Done)
	c = b.claim(ada, pipeline.KindSubtask)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(w.Draft.Values["answer"]), "the draft stayed")
	b.settle(id)
	b.checked()
}

// What is released in bulk is what the list showed: who came to hold a task since was not
// meant.
func TestBulkEndsOnlyClaimsThatWereSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(2)
	ada, ben := b.Contributors[0], b.Contributors[1]
	require.Equal(t, ids[0], b.claim(ada, pipeline.KindSubtask).TaskID)
	require.Equal(t, ids[1], b.claim(ada, pipeline.KindSubtask).TaskID)
	seen, err := b.Store.Clock(ctx)
	require.NoError(t, err)
	require.NoError(t, b.Store.ReleaseNode(ctx, b.member(b.ProjectAdmin), ids[0], "solve", ada, ""))
	c := b.claimTask(ben, ids[0])

	out := b.bulk(ids, store.BulkAction{Kind: store.BulkRelease, AsOf: &seen})
	require.Equal(t, ids[1:], out.Done)
	require.Equal(t, ids[:1], failedIDs(out))
	require.Contains(t, out.Failed[0].Message, "was claimed since you looked")
	b.submit(ben, c)
	out = b.bulk(ids, store.BulkAction{Kind: store.BulkRelease, AsOf: &seen})
	require.Contains(t, out.Failed[0].Message, "nobody holds anything")
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestAReleaseDoesNotUndoASubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada, admin := b.Contributors[0], b.member(b.ProjectAdmin)
	c := b.claim(ada, pipeline.KindSubtask)
	b.settle(id)
	errs := b.behindLock(lockTask, id,
		func() error {
			_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
			return err
		},
		func() error { return b.Store.ReleaseNode(ctx, admin, id, "solve", 0, "") })
	require.NoError(t, errs[0])
	require.True(t, fault.Is(errs[1], fault.Conflict), "%v", errs[1])
	b.settle(id)
	b.checked()
}

// TestBulkBesideClaims lets admins and contributors at the same tasks at once:
// nobody waits for ever, nothing is lost, and the books are right in the end.
func TestBulkBesideClaims(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithContributors(8))
	ctx := t.Context()
	ids := b.create(40)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	note := func(err error) {
		if err == nil || fault.Is(err, fault.Conflict) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	for _, user := range b.Contributors {
		m := b.member(user)
		wg.Go(func() {
			for range 12 {
				c, err := b.Store.ClaimNext(ctx, m, pipeline.KindSubtask)
				note(err)
				if c != nil && c.TaskID%3 == 0 {
					_, err = b.Store.Submit(ctx, user, c.ID, raw(`{"answer":"42","sure":true}`))
					note(err)
				}
			}
		})
	}
	admin := b.member(b.Admin)
	for i, kind := range []string{store.BulkSetPriority, store.BulkHold, store.BulkRelease, store.BulkUnhold, store.BulkRequeue} {
		wg.Go(func() {
			for round := range 4 {
				mixed := slices.Clone(ids)
				slices.Reverse(mixed[(i*round)%len(mixed):])
				_, err := b.Store.Bulk(ctx, admin, mixed, store.BulkAction{Kind: kind, Priority: round - i})
				note(err)
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			note(b.Store.FoldCounts(ctx))
		}
	})
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, id := range ids {
		b.settle(id)
	}
	b.bulk(ids, store.BulkAction{Kind: store.BulkUnhold})
	for _, id := range ids {
		b.settle(id)
	}
	require.Equal(t, 0, b.count(`SELECT count(*) FROM task_nodes n JOIN tasks t ON t.id = n.task_id WHERE n.priority <> t.priority`))
	b.checked()
	require.NoError(t, b.Store.FoldCounts(ctx))
	require.Equal(t, 0, b.count(`SELECT count(*) FROM count_changes`))
	b.checked()
}
