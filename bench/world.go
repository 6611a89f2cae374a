package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/store"
)

// world is a database with an organization, people, a published pipeline and
// an API key, and the API that serves it.
type world struct {
	url        string
	store      *store.Store
	orgID      int64
	projectID  int64
	pipelineID int64
	versionID  int64
	admin      int64
	key        string
	people     []person
	base       string // of the API
}

// person is somebody who may do everything in the project.
type person struct {
	store.Member
	token string // the session cookie's value
}

// newWorld makes a world with so many people.
func (b *bench) newWorld(ctx context.Context, people int) (*world, error) {
	url, err := b.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	w := &world{url: url}
	if w.store, err = store.Open(ctx, url, store.Options{MaxConns: poolSize}); err != nil {
		return nil, err
	}
	b.later(w.store.Close)
	if err := w.populate(ctx, people); err != nil {
		return nil, fmt.Errorf("populate: %w", err)
	}
	if w.base, err = b.serve(ctx, w.store); err != nil {
		return nil, fmt.Errorf("serve the API: %w", err)
	}
	return w, nil
}

func (w *world) populate(ctx context.Context, people int) error {
	def, err := json.Marshal(mathcheck.Definition())
	if err != nil {
		return err
	}
	for _, step := range []struct {
		into *int64
		sql  string
		args func() []any
	}{
		{&w.orgID, `INSERT INTO organizations (slug, name) VALUES ('bench', 'Bench') RETURNING id`, func() []any { return nil }},
		{&w.projectID, `INSERT INTO projects (org_id, name) VALUES ($1, 'Main') RETURNING id`, func() []any { return []any{w.orgID} }},
		{
			&w.pipelineID, `INSERT INTO pipelines (org_id, project_id, name, status, draft) VALUES ($1, $2, 'Math check', 'ACTIVE', $3) RETURNING id`,
			func() []any { return []any{w.orgID, w.projectID, def} },
		},
		{
			&w.versionID, `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) VALUES ($1, $2, 1, $3) RETURNING id`,
			func() []any { return []any{w.orgID, w.pipelineID, def} },
		},
	} {
		if err := w.store.Pool().QueryRow(ctx, step.sql, step.args()...).Scan(step.into); err != nil {
			return err
		}
	}
	if err := w.exec(ctx, `UPDATE pipelines SET version_id = $1 WHERE id = $2`, w.versionID, w.pipelineID); err != nil {
		return err
	}
	for i := range people {
		if err := w.addPerson(ctx, i); err != nil {
			return err
		}
	}
	w.admin = w.people[0].UserID
	if w.key, err = apikey.Generate(rand.Reader); err != nil {
		return err
	}
	hash := apikey.Hash(w.key)
	_, err = w.store.CreateKey(ctx, w.orgID, w.admin, "bench", hash, apikey.Last4(w.key), nil, w.admin)
	return err
}

// addPerson adds a project admin, who may work as contributor and reviewer,
// with a session.
func (w *world) addPerson(ctx context.Context, number int) error {
	p := person{Member: store.Member{
		OrgID: w.orgID, ProjectID: w.projectID, PipelineID: w.pipelineID, Role: store.RoleProjectAdmin,
	}, token: rand.Text()}
	err := w.store.Pool().QueryRow(ctx, `INSERT INTO users (email, name, password_hash) VALUES ($1, $1, 'none') RETURNING id`,
		fmt.Sprintf("person%d@bench.test", number)).Scan(&p.UserID)
	if err != nil {
		return err
	}
	role := store.OrgRoleMember
	if number == 0 { // who makes the key
		role = store.OrgRoleAdmin
	}
	if err := w.exec(ctx, `INSERT INTO org_members (org_id, user_id, role) VALUES ($1, $2, $3)`, w.orgID, p.UserID, role); err != nil {
		return err
	}
	if err := w.exec(ctx, `INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, $4)`,
		w.orgID, w.projectID, p.UserID, p.Role); err != nil {
		return err
	}
	w.people = append(w.people, p)
	return w.store.CreateSession(ctx, store.User{ID: p.UserID, PasswordHash: "none"}, sha256.Sum256([]byte(p.token)), "bench", 24*time.Hour)
}

// exec runs a statement that prepares or checks, never one that is measured.
func (w *world) exec(ctx context.Context, sql string, args ...any) error {
	_, err := w.store.Pool().Exec(ctx, sql, args...)
	return err
}

// clear removes all tasks, and the counts that are kept of them.
func (w *world) clear(ctx context.Context) error {
	return w.exec(ctx, `TRUNCATE tasks, task_nodes, task_events, submissions, drafts, outbox, task_lag, count_changes, pipeline_counts`)
}

// count returns a number that a query finds.
func (w *world) count(ctx context.Context, sql string, args ...any) (n int64, err error) {
	err = w.store.Pool().QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}
