package dbtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Password is everybody's password in a World.
const Password = "correct horse battery staple"

// World is an organization with people, a project, a published pipeline and an
// API key. Everybody's email is their role, a number and the slug:
// contributor1@acme.test.
type World struct {
	Store      *store.Store
	OrgID      int64
	Slug       string
	ProjectID  int64
	PipelineID int64
	VersionID  int64
	// Admin is the org admin, who made the key; ProjectAdmin has that role in
	// the project only.
	Admin        int64
	ProjectAdmin int64
	Contributors []int64
	Reviewers    []int64
	// Outsider is a member of the organization with no role in the project.
	Outsider int64
	KeyID    int64
	KeyValue string
}

type options struct {
	slug                    string
	definition              pipeline.Definition
	status                  string
	contributors, reviewers int
}

// Option changes what Org makes.
type Option func(*options)

// WithSlug names the organization; "acme" otherwise.
func WithSlug(slug string) Option { return func(o *options) { o.slug = slug } }

// WithDefinition sets the pipeline; Definition() otherwise.
func WithDefinition(d pipeline.Definition) Option { return func(o *options) { o.definition = d } }

// WithStatus sets the pipeline's status; ACTIVE otherwise. Even a DRAFT has a
// version here, so that tasks can be put into it.
func WithStatus(status string) Option { return func(o *options) { o.status = status } }

// WithContributors sets how many contributors there are; 2 otherwise.
func WithContributors(n int) Option { return func(o *options) { o.contributors = n } }

// WithReviewers sets how many reviewers there are; 2 otherwise.
func WithReviewers(n int) Option { return func(o *options) { o.reviewers = n } }

// NewWorld makes an organization in a database of its own.
func NewWorld(t testing.TB, opts ...Option) *World {
	t.Helper()
	return Org(t, Store(t), opts...)
}

// Org makes an organization in the store's database. Several may stand side by
// side under different slugs.
func Org(t testing.TB, st *store.Store, opts ...Option) *World {
	t.Helper()
	o := options{slug: "acme", definition: Definition(), status: store.StatusActive, contributors: 2, reviewers: 2}
	for _, opt := range opts {
		opt(&o)
	}
	w := &World{Store: st, Slug: o.slug}
	w.OrgID = w.insert(t, `INSERT INTO organizations (slug, name) VALUES ($1, $1) RETURNING id`, o.slug)
	w.ProjectID = w.insert(t, `INSERT INTO projects (org_id, name) VALUES ($1, 'Main') RETURNING id`, w.OrgID)
	w.people(t, o)
	w.PipelineID, w.VersionID = w.AddPipeline(t, o.definition, o.status)
	w.key(t)
	return w
}

func (w *World) people(t testing.TB, o options) {
	t.Helper()
	w.Admin = w.AddUser(t, "admin1", store.OrgRoleAdmin, "")
	w.ProjectAdmin = w.AddUser(t, "manager1", store.OrgRoleMember, store.RoleProjectAdmin)
	w.Outsider = w.AddUser(t, "outsider1", store.OrgRoleMember, "")
	for i := range o.contributors {
		name := fmt.Sprintf("contributor%d", i+1)
		w.Contributors = append(w.Contributors, w.AddUser(t, name, store.OrgRoleMember, store.RoleContributor))
	}
	for i := range o.reviewers {
		name := fmt.Sprintf("reviewer%d", i+1)
		w.Reviewers = append(w.Reviewers, w.AddUser(t, name, store.OrgRoleMember, store.RoleReviewer))
	}
}

// Email returns the address of the person that AddUser made under the name.
func (w *World) Email(name string) string { return name + "@" + w.Slug + ".test" }

// AddUser adds a person to the organization and, with a role, to the project.
func (w *World) AddUser(t testing.TB, name, orgRole string, role store.Role) int64 {
	t.Helper()
	id := w.insert(t, `INSERT INTO users (email, name, password_hash) VALUES ($1, $2, $3) RETURNING id`,
		w.Email(name), name, passwordHash())
	w.exec(t, `INSERT INTO org_members (org_id, user_id, role) VALUES ($1, $2, $3)`, w.OrgID, id, orgRole)
	if role != "" {
		w.exec(t, `INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, $4)`,
			w.OrgID, w.ProjectID, id, role)
	}
	return id
}

// User returns a person as a login has found them.
func (w *World) User(t testing.TB, id int64) store.User {
	t.Helper()
	u := store.User{ID: id}
	err := w.Store.Pool().QueryRow(t.Context(), `SELECT email, name, password_hash FROM users WHERE id = $1`, id).
		Scan(&u.Email, &u.Name, &u.PasswordHash)
	require.NoError(t, err)
	return u
}

// AddProject adds a project without members.
func (w *World) AddProject(t testing.TB, name string) int64 {
	t.Helper()
	return w.insert(t, `INSERT INTO projects (org_id, name) VALUES ($1, $2) RETURNING id`, w.OrgID, name)
}

// AddPipeline adds a pipeline with its first version to the project.
func (w *World) AddPipeline(t testing.TB, d pipeline.Definition, status string) (pipelineID, versionID int64) {
	t.Helper()
	return w.AddPipelineTo(t, w.ProjectID, d, status)
}

// AddPipelineTo is AddPipeline for another project of the organization.
func (w *World) AddPipelineTo(
	t testing.TB, projectID int64, d pipeline.Definition, status string,
) (pipelineID, versionID int64) {
	t.Helper()
	require.Empty(t, pipeline.Validate(d, pipeline.Options{LLM: true}), "the test's definition")
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	pipelineID = w.insert(t, `INSERT INTO pipelines (org_id, project_id, name, status, draft)
		VALUES ($1, $2, $3, $4, $5) RETURNING id`, w.OrgID, projectID, d.Name, status, raw)
	versionID = w.insert(t, `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition)
		VALUES ($1, $2, 1, $3) RETURNING id`, w.OrgID, pipelineID, raw)
	w.exec(t, `UPDATE pipelines SET version_id = $1 WHERE id = $2`, versionID, pipelineID)
	return pipelineID, versionID
}

// RemoveUser ends the person's membership, as if they had left; what else a
// removal does is the store's matter.
func (w *World) RemoveUser(t testing.TB, userID int64) {
	t.Helper()
	w.exec(t, `UPDATE org_members SET removed_at = now() WHERE org_id = $1 AND user_id = $2`, w.OrgID, userID)
}

func (w *World) key(t testing.TB) {
	t.Helper()
	value, err := apikey.Generate(rand.Reader)
	require.NoError(t, err)
	hash := apikey.Hash(value)
	w.KeyValue = value
	w.KeyID = w.insert(t, `INSERT INTO api_keys (org_id, name, hash, last4, created_by)
		VALUES ($1, 'test', $2, $3, $4) RETURNING id`, w.OrgID, hash[:], apikey.Last4(value), w.Admin)
}

func (w *World) insert(t testing.TB, sql string, args ...any) (id int64) {
	t.Helper()
	require.NoError(t, w.Store.Pool().QueryRow(t.Context(), sql, args...).Scan(&id))
	return id
}

func (w *World) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := w.Store.Pool().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// passwordHash is made once and cheaply: it is checked in tests only.
var passwordHash = sync.OnceValue(func() string {
	hash, err := argon2id.CreateHash(Password, &argon2id.Params{
		Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32,
	})
	if err != nil {
		panic(err) // only without randomness
	}
	return hash
})
