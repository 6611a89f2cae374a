package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// The callers of the matrix, in the order of its columns. The claim, the task
// and all else that paths name belong to the world's project; the contributor
// holds the claim. The removed member and the member of another project have
// sessions that are good elsewhere.
var callers = []string{
	"org admin", "project admin", "contributor", "reviewer",
	"removed member", "member of another project", "another organization", "anonymous",
}

// row is what each caller gets: A for an answer that is no refusal, or the
// status of the refusal.
type row struct {
	want [8]int
	body any
}

const A = 0

var (
	everybody = [8]int{A, A, A, A, A, A, A, A}
	people    = [8]int{A, A, A, A, A, A, A, 401}
	holder    = [8]int{404, 404, A, 404, 404, 404, 404, 401}
	members   = [8]int{A, A, A, A, 404, 404, 404, 401}
	admins    = [8]int{A, A, 403, 403, 404, 404, 404, 401}
	orgAdmins = [8]int{A, 403, 403, 403, 404, 403, 404, 401}
)

// matrix has a row for every operation of the console API.
func matrix(t *testing.T) map[string]row {
	t.Helper()
	definition := map[string]any{"name": "New", "nodes": []any{}, "edges": []any{}}
	return map[string]row{
		"login":        {everybody, map[string]any{"email": "contributor1@acme.test", "password": dbtest.Password}},
		"logout":       {everybody, nil},
		"getMe":        {people, nil},
		"listProjects": {people, nil},
		"listClaims":   {people, nil},

		"claimWork":    {[8]int{A, A, A, 403, 404, 404, 404, 401}, map[string]any{"role": "contributor"}},
		"getClaim":     {holder, nil},
		"saveDraft":    {holder, map[string]any{"values": map[string]any{"answer": "1"}, "revision": 0}},
		"extendClaim":  {holder, nil},
		"submitClaim":  {holder, values("answer", "1")},
		"reviewClaim":  {holder, map[string]any{"verdict": "approve"}},
		"releaseClaim": {holder, nil},

		"createPipeline":    {admins, map[string]any{"definition": definition}},
		"getPipeline":       {admins, nil},
		"saveDefinition":    {admins, map[string]any{"definition": definition, "revision": 1}},
		"validatePipeline":  {admins, nil},
		"publishPipeline":   {admins, map[string]any{"note": "x"}},
		"pausePipeline":     {admins, nil},
		"resumePipeline":    {admins, nil},
		"completePipeline":  {admins, nil},
		"reopenPipeline":    {admins, nil},
		"archivePipeline":   {admins, nil},
		"unarchivePipeline": {admins, nil},
		"getCounts":         {members, nil},

		"listPipelineTasks": {admins, nil},
		"listWaiting":       {admins, nil},
		"getTaskDetail":     {admins, nil},
		"escalateNode":      {admins, map[string]any{"reason": "x"}},
		"quarantineNode":    {admins, map[string]any{"reason": "x"}},
		"resolveNode":       {admins, map[string]any{"outcome": "requeue"}},
		"holdTask":          {admins, map[string]any{"reason": "x"}},
		"unholdTask":        {admins, nil},
		"failTask":          {admins, nil},

		"listKeys":     {orgAdmins, nil},
		"createKey":    {orgAdmins, map[string]any{"name": "made by " + t.Name(), "expires": "30d"}},
		"setKeyExpiry": {orgAdmins, map[string]any{"expires": "90d"}},
		"revokeKey":    {orgAdmins, nil},
	}
}

func TestMatrix_EveryOperationForEveryCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.WithDefinition(dbtest.Simple()))
	b.created(t, 60)
	crowd := b.crowd(t)
	table := matrix(t)
	for path, item := range b.document(t, "/api/console/openapi.json").Paths {
		for method, op := range item {
			r, ok := table[op.OperationID]
			require.True(t, ok, "operation %s has no row in the matrix", op.OperationID)
			delete(table, op.OperationID)
			require.Equal(t, r.want[7] == http.StatusUnauthorized, len(op.Security) > 0, "%s: the document says whether a session is needed", op.OperationID)
			b.walk(t, crowd, strings.ToUpper(method), path, op.OperationID, r)
		}
	}
	require.Empty(t, table, "rows without an operation")
}

// walk calls one operation as everybody: first those who are refused, who must
// leave no trace, then the others.
func (b *bench) walk(t *testing.T, crowd []person, method, path, id string, r row) {
	t.Helper()
	b.exec(t, `UPDATE pipelines SET status = 'ACTIVE' WHERE id = $1`, b.PipelineID)
	path = b.fill(t, path)
	before := b.fingerprint(t)
	for i, want := range r.want {
		if want == A {
			continue
		}
		a := crowd[i].do(t, method, path, r.body)
		require.Equal(t, want, a.Status, "%s as %s: %s", id, callers[i], a.Raw)
		codes := map[int]string{401: "unauthorized", 403: "forbidden", 404: "not_found"}
		require.Equal(t, codes[want], a.code())
		require.NotContains(t, a.Body, "problems")
	}
	require.Equal(t, before, b.fingerprint(t), "%s: a refused caller changed something", id)
	endsSession := id == "login" || id == "logout"
	for i, want := range r.want {
		if want != A || endsSession && crowd[i].cookie != nil {
			continue
		}
		a := crowd[i].do(t, method, path, r.body)
		for _, refusal := range []int{401, 403, 404, 405, 415, 500} {
			require.NotEqual(t, refusal, a.Status, "%s as %s: %s\n%s", id, callers[i], a.Raw, b.logs.text())
		}
	}
}

// fill puts ids of the world into a path; the claim is a fresh one of the
// contributor.
func (b *bench) fill(t *testing.T, path string) string {
	t.Helper()
	m, err := b.Store.MemberOfPipeline(t.Context(), b.Contributors[0], b.PipelineID)
	require.NoError(t, err)
	claim, err := b.Store.ClaimNext(t.Context(), m, pipeline.KindSubtask)
	require.NoError(t, err)
	require.NotNil(t, claim)
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	return strings.NewReplacer(
		"{org_id}", id(b.OrgID), "{project_id}", id(b.ProjectID), "{pipeline_id}", id(b.PipelineID),
		"{task_id}", id(claim.TaskID), "{claim_id}", claim.ID, "{key}", "solve", "{key_id}", id(b.KeyID),
	).Replace(path)
}

// fingerprint changes whenever anything that operations write changes.
func (b *bench) fingerprint(t *testing.T) (sum string) {
	t.Helper()
	var parts []string
	for _, table := range []string{"pipelines", "pipeline_versions", "tasks", "task_nodes", "task_events", "submissions", "drafts", "outbox", "api_keys", "audit_log"} {
		parts = append(parts, fmt.Sprintf(`(SELECT coalesce(md5(string_agg(x::text, '|' ORDER BY x::text)), '') FROM %s x)`, table))
	}
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT `+strings.Join(parts, " || ")).Scan(&sum))
	return sum
}

// crowd logs in everybody of the matrix.
func (b *bench) crowd(t *testing.T) []person {
	t.Helper()
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	elsewhere := b.AddProject(t, "Elsewhere")
	neighbour := b.AddUser(t, "neighbour1", store.OrgRoleMember, "")
	b.exec(t, `INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'project_admin')`, b.OrgID, elsewhere, neighbour)
	removed := b.AddUser(t, "removed1", store.OrgRoleMember, store.RoleProjectAdmin)
	b.exec(t, `INSERT INTO org_members (org_id, user_id, role) VALUES ($1, $2, 'member')`, other.OrgID, removed)
	gone := b.login(t, "removed1")
	require.NoError(t, b.Store.RemoveUser(t.Context(), b.Slug, b.Email("removed1")))
	return []person{
		b.login(t, "admin1"), b.login(t, "manager1"), b.login(t, "contributor1"), b.login(t, "reviewer1"),
		gone, b.login(t, "neighbour1"), b.loginAs(t, other.Email("admin1")),
		{b: b},
	}
}

func TestMatrix_IdsInBodiesAndSecondPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := serve(t, dbtest.Org(t, b.Store, dbtest.WithSlug("other")), nil)
	theirs := other.created(t, 1)[0]
	second, _ := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	near := b.v1(t, http.MethodPost, fmt.Sprintf("/workflows/%d/tasks", second), questions(1)).Body["task_ids"].([]any)[0]
	admin := b.login(t, "admin1")
	for _, task := range []any{theirs, near, 987654321} {
		admin.refused(t, 404, "not_found", http.MethodPost, b.pipeline("/claim"), map[string]any{"role": "contributor", "task_id": task, "node": "solve"})
	}
	for _, verb := range []string{"revoke", "expiry"} {
		path := fmt.Sprintf("/orgs/%d/keys/%d/%s", b.OrgID, other.KeyID, verb)
		admin.refused(t, 404, "not_found", http.MethodPost, path, map[string]any{"expires": "30d"})
	}
	own := b.created(t, 1)[0]
	before := b.fingerprint(t)
	for _, claim := range []string{"nonsense", "00000000-0000-0000-0000-000000000000", fmt.Sprintf("%012x", int64(own.(float64)))} {
		admin.refused(t, 404, "not_found", http.MethodGet, "/claims/"+claim, nil)
		admin.refused(t, 404, "not_found", http.MethodPost, "/claims/"+claim+"/submit", values("answer", "x"))
	}
	admin.refused(t, 404, "not_found", http.MethodPost, fmt.Sprintf("/tasks/%v/nodes/nope/escalate", own), nil)
	require.Equal(t, before, b.fingerprint(t))
}

func TestMatrix_CursorsOfAnotherList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 3)
	second, _ := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	admin := b.login(t, "admin1")
	page := admin.ok(t, 200, http.MethodGet, b.pipeline("/tasks?limit=1"), nil)
	cursor := page["next_cursor"].(string)
	admin.ok(t, 200, http.MethodGet, b.pipeline("/tasks?limit=1&cursor="+cursor), nil)
	admin.refused(t, 400, "invalid_request", http.MethodGet, b.pipeline("/tasks?status=pending&cursor="+cursor), nil)
	admin.refused(t, 400, "invalid_request", http.MethodGet, fmt.Sprintf("/pipelines/%d/tasks?cursor=%s", second, cursor), nil)
	fails(t, b.v1(t, http.MethodGet, b.workflow("/tasks?cursor=")+cursor, nil), 400, "invalid_request")
}
