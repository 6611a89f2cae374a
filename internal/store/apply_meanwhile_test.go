package store_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/store"
)

// What a document adds may be added by somebody else while it is applied: it is there
// then, and the document goes on with it.
func TestADocumentGoesOnWithWhatIsAddedMeanwhile(t *testing.T) {
	t.Parallel()
	for what, add := range map[string]string{
		"a person":  `INSERT INTO users (email, name, password_hash) VALUES ('new@acme.test', 'Invited', 'hash')`,
		"a project": `INSERT INTO projects (org_id, name) SELECT id, 'Fresh' FROM organizations WHERE slug = 'acme'`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			doc, err := apply.Read([]byte(`{organizations: [{slug: acme, users: [{email: new@acme.test, password: by the command line}],
				projects: [{name: Fresh, members: [{email: new@acme.test, role: contributor}]}]}]}`))
			require.NoError(t, err)
			other, err := b.Store.Pool().Begin(ctx)
			require.NoError(t, err)
			defer func() { _ = other.Rollback(ctx) }()
			_, err = other.Exec(ctx, add)
			require.NoError(t, err)

			applied := make(chan error, 1)
			go func() {
				_, err := b.Store.Apply(ctx, doc, store.ApplyOptions{Rand: rand.Reader})
				applied <- err
			}()
			b.waiting(1)
			require.NoError(t, other.Commit(ctx))
			require.NoError(t, <-applied)
			var role store.Role
			require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT m.role FROM project_members m JOIN users u ON u.id = m.user_id
				JOIN projects p ON p.id = m.project_id WHERE u.email = 'new@acme.test' AND p.name = 'Fresh'`).Scan(&role))
			require.Equal(t, store.RoleContributor, role)
		})
	}
}
