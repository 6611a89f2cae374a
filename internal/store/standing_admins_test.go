package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// adminActs are what admins do to the task, the pending upload, the pipeline and the
// project of a bench.
func adminActs(b *bench, id int64) map[string]func(m store.Member) error {
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	up := (&uploads{World: b.World, t: b.t}).create(rows(1)...)
	def := dbtest.Definition()
	def.Description = "Changed"
	changed, simple := document(b.t, def), document(b.t, dbtest.Simple())
	return map[string]func(m store.Member) error{
		"escalate":   func(m store.Member) error { return b.Store.Escalate(ctx, m, id, "solve", "") },
		"quarantine": func(m store.Member) error { return b.Store.Quarantine(ctx, m, id, "solve", "") },
		"resolve":    func(m store.Member) error { return b.Store.Resolve(ctx, m, id, "solve", pipeline.ResolveSkip, "") },
		"requeue":    func(m store.Member) error { return b.Store.Requeue(ctx, m, id, "") },
		"release":    func(m store.Member) error { return b.Store.ReleaseNode(ctx, m, id, "solve", 0, "") },
		"hold":       func(m store.Member) error { return b.Store.Hold(ctx, m, id, "") },
		"unhold":     func(m store.Member) error { return b.Store.Unhold(ctx, m, id, "") },
		"fail":       func(m store.Member) error { return b.Store.FailTask(ctx, m, id, "") },
		"bulk": func(m store.Member) error {
			_, err := b.Store.Bulk(ctx, m, []int64{id}, store.BulkAction{Kind: store.BulkSetPriority, Priority: 5})
			return err
		},
		"cancel": func(m store.Member) error {
			_, err := b.Store.CancelUpload(ctx, b.OrgID, b.PipelineID, up.ID, m.UserID)
			return err
		},
		"publish": func(m store.Member) error {
			_, err := b.Store.Publish(ctx, b.OrgID, b.PipelineID, m.UserID, pipeline.Options{}, store.Publication{})
			return err
		},
		"pause": func(m store.Member) error {
			_, err := b.Store.SetPipelineStatus(ctx, b.OrgID, b.PipelineID, m.UserID, pipeline.VerbPause)
			return err
		},
		"save": func(m store.Member) error {
			_, err := b.Store.SavePipelineDraft(ctx, m, b.PipelineID, store.DraftSave{Definition: changed, Revision: 1})
			return err
		},
		"restore": func(m store.Member) error {
			_, err := b.Store.RestoreVersion(ctx, m, b.PipelineID, 1, 1)
			return err
		},
		"create": func(m store.Member) error {
			_, err := b.Store.CreatePipeline(ctx, m, dbtest.Simple(), simple)
			return err
		},
		"import": func(m store.Member) error { _, err := b.Store.ImportPipeline(ctx, m, dbtest.Simple()); return err },
		"rename": func(m store.Member) error { _, err := b.Store.RenameProject(ctx, m, "Renamed"); return err },
		"duplicate": func(m store.Member) error {
			_, err := b.Store.DuplicatePipeline(ctx, m, b.PipelineID, m, "")
			return err
		},
	}
}

// A request is let in by the role that its sender had when it began, before its body.
func TestWhoIsNoAdminAnyMoreDoesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	ids := b.create(2)
	held, id := ids[0], ids[1]
	demote := func(user int64) error {
		return b.Store.SetProjectRole(ctx, orgAdminIn(b.World), user, store.RoleReviewer)
	}
	admin := func(name string) store.Member {
		return b.member(b.AddUser(t, name, store.OrgRoleMember, store.RoleProjectAdmin))
	}
	for name, act := range adminActs(b, id) {
		late := admin("late-" + name)
		require.NoError(t, demote(late.UserID))
		err := act(late)
		require.Equal(t, fault.Forbidden, fault.KindOf(err), "%s after the demotion: %v", name, err)
		require.NoError(t, b.Store.RemoveProjectMember(ctx, orgAdminIn(b.World), late.UserID))
		err = act(late)
		require.Equal(t, fault.NotFound, fault.KindOf(err), "%s after the removal: %v", name, err)

		// The demotion has written the role, and waits for the task of a claim to end.
		beside := admin("beside-" + name)
		_, err = b.Store.ClaimTask(ctx, beside, pipeline.KindSubtask, held, "solve")
		require.NoError(t, err)
		errs := b.behindLock(lockTask, held,
			func() error { return demote(beside.UserID) },
			func() error { return act(beside) })
		require.NoError(t, errs[0], name)
		require.Equal(t, fault.Forbidden, fault.KindOf(errs[1]), "%s beside it: %v", name, errs[1])
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1`, id), "its creation")
	require.Equal(t, 1, b.count(`SELECT count(*) FROM tasks WHERE id = $1 AND status = 'pending' AND NOT held AND priority = 0`, id))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM uploads WHERE status = 'pending'`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM pipelines WHERE status = 'ACTIVE' AND revision = 1`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM pipelines`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM pipeline_versions`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM projects WHERE name = 'Main'`))
	require.Zero(t, b.count(`SELECT count(*) FROM audit_log WHERE action <> 'project.member'`))
}

// The other way round: what an admin does is on its way when they are removed. The
// removal waits for it.
func TestARemovalWaitsForWhatAnAdminDoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	m := b.member(b.ProjectAdmin)
	errs := b.behindLock(lockTask, id,
		func() error { return b.Store.FailTask(ctx, m, id, "") },
		func() error { return b.Store.RemoveMember(ctx, orgAdmin(b.World), m.UserID) })
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind = 'fail' AND actor = $2`, id, m.UserID))
	b.settle(id)
	b.checked()
}
