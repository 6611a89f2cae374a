package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// demoted is a document that makes a contributor of the bench's project a reviewer.
func (b *bench) demoted(name string) string {
	b.t.Helper()
	var project string
	require.NoError(b.t, b.Store.Pool().QueryRow(b.t.Context(), `SELECT name FROM projects WHERE id = $1`, b.ProjectID).Scan(&project))
	email := b.Email(name)
	return fmt.Sprintf(`{"organizations": [{"slug": %q, "users": [{"email": %q}],
		"projects": [{"name": %q, "members": [{"email": %q, "role": "reviewer"}]}]}]}`, b.Slug, email, project, email)
}

// What a role forbids ends when a document narrows it, as when an admin does.
func TestApplyEndsWhatANarrowerRoleForbids(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(2)
	ada, ben := b.Contributors[0], b.Contributors[1]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(ids[0])
	b.reject(b.Reviewers[0])
	b.settle(ids[0])
	require.Equal(t, ids[1], b.claimTask(ada, ids[1]).TaskID)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE reserved_for = $1`, ada))

	_, err := applyDoc(t, b.Store, b.demoted(b.nameOf(ada)))
	require.NoError(t, err)
	require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by = $1 OR reserved_for = $1`, ada))
	for range ids {
		require.NotNil(t, b.claim(ben, pipeline.KindSubtask))
	}
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()

	before := everything(t, b.Store)
	_, err = applyDoc(t, b.Store, b.demoted(b.nameOf(ada)))
	require.NoError(t, err)
	require.Equal(t, before, everything(t, b.Store), "the same document changes nothing")
}

// A claim is on its way when a document narrows the role of whoever makes it.
func TestApplyEndsTheClaimThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	m := b.member(b.Contributors[0])
	document := b.demoted(b.nameOf(m.UserID))
	errs := b.behindLock(claimOnItsWay, id,
		func() error { _, err := b.Store.ClaimNext(ctx, m, pipeline.KindSubtask); return err },
		func() error { _, err := applyDoc(t, b.Store, document); return err })
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.Equal(t, 2, b.count(`SELECT count(*) FROM task_events WHERE task_id = $1 AND kind IN ('claim', 'release')`, id))
	require.Zero(t, b.count(`SELECT count(*) FROM task_nodes WHERE claimed_by IS NOT NULL`))
}

func (b *bench) claimTask(user, id int64) *store.Claim {
	b.t.Helper()
	c, err := b.Store.ClaimTask(b.t.Context(), b.member(user), pipeline.KindSubtask, id, "solve")
	require.NoError(b.t, err)
	return c
}

// nameOf is the part of a person's address before the @.
func (b *bench) nameOf(user int64) (name string) {
	b.t.Helper()
	require.NoError(b.t, b.Store.Pool().QueryRow(b.t.Context(), `SELECT split_part(email, '@', 1) FROM users WHERE id = $1`, user).Scan(&name))
	return name
}
