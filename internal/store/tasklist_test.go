package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// began is when the tasks of busy were created, one a minute.
var began = time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)

// busy makes tasks of every kind of state.
func busy(t *testing.T, b *bench, n int) []int64 {
	t.Helper()
	ctx, admin := t.Context(), b.member(b.Admin)
	ids := b.create(n)
	for i, id := range ids {
		b.exec(`UPDATE tasks SET created_at = $2 WHERE id = $1`, id, began.Add(time.Duration(i)*time.Minute))
		switch i % 9 {
		case 1, 2: // submitted, under review
			c, err := b.Store.ClaimTask(ctx, b.member(b.Contributors[i%2]), pipeline.KindSubtask, id, "solve")
			require.NoError(t, err)
			b.submit(c.UserID, c)
			b.settle(id)
		case 3:
			_, err := b.Store.ClaimTask(ctx, b.member(b.Contributors[i%2]), pipeline.KindSubtask, id, "solve")
			require.NoError(t, err)
		case 4:
			require.NoError(t, b.Store.Escalate(ctx, admin, id, "solve", ""))
		case 5:
			require.NoError(t, b.Store.Quarantine(ctx, admin, id, "solve", ""))
		case 6:
			require.NoError(t, b.Store.Hold(ctx, admin, id, ""))
		case 7:
			if i%2 == 0 { // it is on hold no more when it has ended
				require.NoError(t, b.Store.Hold(ctx, admin, id, ""))
			}
			require.NoError(t, b.Store.FailTask(ctx, admin, id, ""))
		case 8:
			require.NoError(t, b.Store.SetPriority(ctx, admin, id, -3-i/9%3))
		}
		b.settle(id)
	}
	return ids
}

// giveBack returns some of what is under review among busy's, for a while or no more.
func giveBack(t *testing.T, b *bench, ids []int64) {
	t.Helper()
	for i, id := range ids {
		if i < 9 || i%2 == 1 || i%9 != 1 && i%9 != 2 {
			continue
		}
		c, err := b.Store.ClaimTask(t.Context(), b.member(b.Reviewers[0]), pipeline.KindReview, id, "check")
		require.NoError(t, err)
		_, err = b.Store.Review(t.Context(), c.UserID, c.ID, store.Verdict{Verdict: store.VerdictReject})
		require.NoError(t, err)
		b.settle(id)
		if i%4 == 0 {
			b.exec(`UPDATE task_nodes SET reserved_until = now() - interval '1 hour' WHERE task_id = $1 AND reserved_for IS NOT NULL`, id)
		}
	}
}

// matches says whether a task meets a filter, by what its own page shows.
func matches(d store.TaskDetail, q store.TaskSearch) bool {
	open := []task.NodeStatus{task.NodeDeferred, task.NodeAvailable, task.NodeClaimed, task.NodeSubmitted, task.NodeEscalated, task.NodeQuarantined}
	node := q.Node == "" && q.NodeStatus == "" && q.Person == 0 || slices.ContainsFunc(d.Nodes, func(n store.NodeDetail) bool {
		return (q.Node == "" || n.Node == q.Node) && (q.NodeStatus == n.Status || q.NodeStatus == "" && slices.Contains(open, n.Status)) &&
			(q.Person == 0 || n.ClaimedBy != nil && *n.ClaimedBy == q.Person)
	})
	return node && (q.Status == "" || d.Status == q.Status) && (q.ID == 0 || d.ID == q.ID) &&
		(q.Priority == nil || d.Priority == *q.Priority) && (q.Held == nil || d.Held == *q.Held) &&
		(q.CreatedAfter.IsZero() || !d.CreatedAt.Before(q.CreatedAfter)) && (q.CreatedBefore.IsZero() || d.CreatedAt.Before(q.CreatedBefore))
}

func drawSearch(t *rapid.T, b *bench, ids []int64) store.TaskSearch {
	q := store.TaskSearch{TaskQuery: store.TaskQuery{Limit: rapid.IntRange(1, 7).Draw(t, "limit")}}
	maybe := func(name string, set func()) {
		if rapid.IntRange(0, 3).Draw(t, name) == 0 {
			set()
		}
	}
	at := func(name string) time.Time {
		return began.Add(time.Duration(rapid.IntRange(-2, len(ids)+2).Draw(t, name)) * time.Minute)
	}
	maybe("by status", func() { q.Status = rapid.SampledFrom(task.Statuses()).Draw(t, "status") })
	maybe("by node", func() { q.Node = rapid.SampledFrom([]string{"solve", "check", "nope"}).Draw(t, "node") })
	maybe("by node status", func() { q.NodeStatus = rapid.SampledFrom(task.NodeStatuses()).Draw(t, "node_status") })
	maybe("by person", func() { q.Person = rapid.SampledFrom(append([]int64{b.Admin}, b.Contributors...)).Draw(t, "person") })
	maybe("by priority", func() { q.Priority = new(rapid.IntRange(-6, 1).Draw(t, "priority")) })
	maybe("by held", func() { q.Held = new(rapid.Bool().Draw(t, "held")) })
	maybe("after", func() { q.CreatedAfter = at("created_after") })
	maybe("before", func() { q.CreatedBefore = at("created_before") })
	maybe("by id", func() { q.ID = rapid.SampledFrom(ids).Draw(t, "id") })
	return q
}

// pages reads a search to its end, in small steps.
func pages(t require.TestingT, b *bench, q store.TaskSearch, steps []int) []int64 {
	got := []int64{}
	for range 1000 {
		page, err := store.SearchTasksIn(b.Store, b.t.Context(), b.OrgID, b.PipelineID, q, steps)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Tasks), q.Limit)
		for _, found := range page.Tasks {
			got = append(got, found.ID)
		}
		if page.Next == 0 {
			return got
		}
		require.True(t, q.Before == 0 || page.Next < q.Before, "it goes on")
		q.Before = page.Next
	}
	require.Fail(t, "the list has no end")
	return nil
}

func TestASearchFindsWhatMatchesWhateverTheFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := busy(t, b, 54)
	giveBack(t, b, ids)
	var kept, lapsed int
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE reserved_until > now()),
		count(*) FILTER (WHERE reserved_until <= now()) FROM task_nodes WHERE reserved_for IS NOT NULL AND status = 'available'`).Scan(&kept, &lapsed))
	require.Positive(t, kept)
	require.Positive(t, lapsed)
	for _, paused := range []bool{false, true} {
		if paused {
			b.exec(`UPDATE pipelines SET status = 'PAUSED' WHERE id = $1`, b.PipelineID)
		}
		var all []store.TaskDetail
		for _, id := range slices.Backward(ids) {
			d, err := b.Store.TaskDetail(t.Context(), b.OrgID, b.PipelineID, id)
			require.NoError(t, err)
			all = append(all, d)
		}
		t.Run(fmt.Sprintf("paused %v", paused), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := drawSearch(t, b, ids)
				want := []int64{}
				for _, d := range all {
					if matches(d, q) {
						want = append(want, d.ID)
					}
				}
				require.Equal(t, want, pages(t, b, q, []int{2, 5}), "%+v", q)
			})
		})
	}
}

func TestASearchShowsWhereTasksAre(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := busy(t, b, 9)
	page, err := b.Store.SearchTasks(t.Context(), b.OrgID, b.PipelineID, store.TaskSearch{TaskQuery: store.TaskQuery{Limit: 20}})
	require.NoError(t, err)
	require.Len(t, page.Tasks, 9)
	at := map[int64]store.FoundTask{}
	for _, found := range page.Tasks {
		at[found.ID] = found
		require.Equal(t, 1, found.VersionNumber)
	}
	review := at[ids[1]].Open
	require.Len(t, review, 2)
	require.Equal(t, []task.NodeStatus{task.NodeAvailable, task.NodeSubmitted}, []task.NodeStatus{review[0].Status, review[1].Status})
	held := at[ids[3]].Open[0]
	require.Equal(t, b.Contributors[1], *held.With())
	require.NotNil(t, held.LeaseExpiresAt)
	require.WithinDuration(t, time.Now(), held.Since, time.Minute)
	require.Empty(t, at[ids[7]].Open, "failed")
	require.True(t, at[ids[6]].Held)
	require.Equal(t, -3, at[ids[8]].Priority)

	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	_, err = b.Store.SearchTasks(t.Context(), other.OrgID, b.PipelineID, store.TaskSearch{TaskQuery: store.TaskQuery{Limit: 20}})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

func TestPagesStayStableWhileTasksComeAndMove(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(30)
	held := false
	q := store.TaskSearch{TaskQuery: store.TaskQuery{Limit: 4}, Held: &held}
	var got []int64
	for {
		page, err := b.Store.SearchTasks(t.Context(), b.OrgID, b.PipelineID, q)
		require.NoError(t, err)
		for _, found := range page.Tasks {
			got = append(got, found.ID)
		}
		b.create(2)
		b.claim(b.Contributors[0], pipeline.KindSubtask)
		if page.Next == 0 {
			break
		}
		q.Before = page.Next
	}
	slices.Reverse(ids)
	require.Equal(t, ids, got, "what was there is shown once each, what came later not at all")
}
