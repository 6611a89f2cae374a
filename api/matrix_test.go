package api_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// The callers of the matrix, in the order of its columns. The claim, the task
// and all else that paths name belong to the world's project; the contributor
// holds the claim of a subtask, the reviewer that of a review. The removed member and the member of another project have
// sessions that are good elsewhere.
var callers = []string{
	"org admin", "project admin", "contributor", "reviewer",
	"removed member", "member of another project", "another organization", "anonymous",
}

// row is what each caller gets: A for success, or the status of the refusal.
// body is for one call; a func makes another one for each.
type row struct {
	want [8]int
	body any
	// ready brings the world to where the operation works, and changes ids of
	// the path.
	ready func(t *testing.T, b *bench, ids map[string]string)
}

func (r row) send() any {
	if another, ok := r.body.(func() any); ok {
		return another()
	}
	return r.body
}

const A = 0

var (
	everybody = [8]int{A, A, A, A, A, A, A, A}
	people    = [8]int{A, A, A, A, A, A, A, 401}
	holder    = [8]int{404, 404, A, 404, 404, 404, 404, 401}
	checker   = [8]int{404, 404, 404, A, 404, 404, 404, 401}
	members   = [8]int{A, A, A, A, 404, 404, 404, 401}
	admins    = [8]int{A, A, 403, 403, 404, 404, 404, 401}
	orgAdmins = [8]int{A, 403, 403, 403, 404, 403, 404, 401}
)

// matrix has a row for every operation of the console API.
func matrix(t *testing.T) map[string]row {
	t.Helper()
	definition := func() map[string]any {
		return map[string]any{"name": rand.Text(), "nodes": []any{}, "edges": []any{}}
	}
	return map[string]row{
		"login":        {want: everybody, body: map[string]any{"email": "contributor1@acme.test", "password": dbtest.Password}},
		"logout":       {want: everybody},
		"getMe":        {want: people},
		"listProjects": {want: people},
		"listClaims":   {want: people},

		"claimWork":    {want: [8]int{A, A, A, 403, 404, 404, 404, 401}, body: map[string]any{"role": "contributor"}},
		"getClaim":     {want: holder, ready: claimed},
		"saveDraft":    {want: holder, body: map[string]any{"values": map[string]any{"answer": "1"}, "revision": 0}, ready: claimed},
		"extendClaim":  {want: holder, ready: claimed},
		"submitClaim":  {want: holder, body: values("answer", "1"), ready: claimed},
		"reviewClaim":  {want: checker, body: map[string]any{"verdict": "approve"}, ready: inReview},
		"releaseClaim": {want: holder, ready: claimed},

		"undoSubmission": {want: holder, ready: handedIn},
		"listQueues":     {want: people},
		"explainQueue":   {want: [8]int{A, A, A, 403, 404, 404, 404, 401}},
		"resetSkips":     {want: members},
		"listHistory":    {want: people},
		"getSubmission":  {want: holder, ready: handedIn},
		"getProgress":    {want: people},

		"createFile":   {want: holder, body: map[string]any{"field": "scan", "name": "a.png", "size": 1}, ready: claimedUpload},
		"completeFile": {want: holder, ready: putUpload},

		"createPipeline":    {want: admins, body: func() any { return map[string]any{"definition": definition()} }},
		"getPipeline":       {want: admins},
		"saveDefinition":    {want: admins, body: func() any { return map[string]any{"definition": definition(), "revision": 1} }, ready: pipelineThatIs("ACTIVE")},
		"validatePipeline":  {want: admins},
		"publishPipeline":   {want: admins, body: map[string]any{"note": "x"}, ready: pipelineThatIs("DRAFT")},
		"pausePipeline":     {want: admins, ready: pipelineThatIs("ACTIVE")},
		"resumePipeline":    {want: admins, ready: pipelineThatIs("PAUSED")},
		"completePipeline":  {want: admins, ready: pipelineThatIs("ACTIVE")},
		"reopenPipeline":    {want: admins, ready: pipelineThatIs("COMPLETED")},
		"archivePipeline":   {want: admins, ready: pipelineThatIs("PAUSED")},
		"unarchivePipeline": {want: admins, ready: pipelineThatIs("ARCHIVED")},
		"getCounts":         {want: members},

		"listPipelines":     {want: members},
		"duplicatePipeline": {want: admins},
		"exportPipeline":    {want: admins},
		"importPipeline":    {want: admins, body: func() any { return map[string]any{"document": "{name: " + rand.Text() + ", nodes: [], edges: []}"} }},
		"parseDefinition":   {want: admins, body: map[string]any{"document": "{name: x, nodes: [], edges: []}"}},
		"checkDefinition":   {want: admins, body: func() any { return map[string]any{"definition": definition()} }},
		"listVersions":      {want: admins},
		"getVersion":        {want: admins, ready: published},
		"getSeedExample":    {want: admins, ready: published},
		"restoreVersion":    {want: admins, body: map[string]any{"revision": 1}, ready: published},

		"listReviewQueue":   {want: [8]int{A, A, 403, A, 404, 404, 404, 401}},
		"bulkTasks":         {want: admins, body: func() any { return map[string]any{"action": "set_priority", "priority": 1, "task_ids": []int{1}} }},
		"releaseNode":       {want: admins, ready: claimed},
		"listPipelineTasks": {want: admins},
		"listWaiting":       {want: admins},
		"getTaskDetail":     {want: admins, ready: claimed},
		"escalateNode":      {want: admins, body: map[string]any{"reason": "x"}, ready: claimed},
		"quarantineNode":    {want: admins, body: map[string]any{"reason": "x"}, ready: claimed},
		"resolveNode":       {want: admins, body: map[string]any{"outcome": "requeue"}, ready: escalated},
		"holdTask":          {want: admins, body: map[string]any{"reason": "x"}, ready: claimed},
		"unholdTask":        {want: admins, ready: held},
		"failTask":          {want: admins, ready: claimed},

		"listUploads":     {want: admins},
		"getUploadDetail": {want: admins, ready: newUpload},
		"cancelUpload":    {want: admins, ready: newUpload},

		"listKeys": {want: orgAdmins},
		"createKey": {want: orgAdmins, body: func() any {
			return map[string]any{"name": rand.Text(), "expires": "30d"}
		}},
		"setKeyExpiry": {want: orgAdmins, body: map[string]any{"expires": "90d"}, ready: newKey},
		"revokeKey":    {want: orgAdmins, ready: newKey},
	}
}

// claimed lets the contributor claim the next task.
func claimed(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, ids)
}

// inReview lets the contributor submit a task and the reviewer claim the review.
func inReview(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, ids)
	_, err := b.Store.Submit(t.Context(), b.Contributors[0], claim.ID, form.Values{"answer": json.RawMessage(`"1"`)})
	require.NoError(t, err)
	b.settle(t, claim.TaskID)
	b.claimAs(t, b.Reviewers[0], pipeline.KindReview, ids)
}

// published makes a pipeline whose version 1 is live.
func published(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	pipelineThatIs("ACTIVE")(t, b, ids)
	ids["{number}"] = "1"
}

func escalated(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, ids)
	require.NoError(t, b.Store.Escalate(t.Context(), b.member(t, b.ProjectAdmin), claim.TaskID, claim.Node, ""))
	b.settle(t, claim.TaskID)
}

func held(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.claimAs(t, b.Contributors[0], pipeline.KindSubtask, ids)
	require.NoError(t, b.Store.Hold(t.Context(), b.member(t, b.ProjectAdmin), claim.TaskID, ""))
}

func newKey(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	hash := sha256.Sum256([]byte(rand.Text()))
	key, err := b.Store.CreateKey(t.Context(), b.OrgID, b.Admin, rand.Text(), hash, "abcd", nil, b.Admin)
	require.NoError(t, err)
	ids["{key_id}"] = strconv.FormatInt(key.ID, 10)
}

func newUpload(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	_, _, err := b.Store.CreateUpload(t.Context(), store.NewUpload{
		ID: id, OrgID: b.OrgID, PipelineID: b.PipelineID, Actor: b.Admin, ObjectKey: id.String(), Lives: time.Hour,
	})
	require.NoError(t, err)
	ids["{upload_id}"] = id.String()
}

// pipelineThatIs makes a pipeline of the status, for calls that change it.
func pipelineThatIs(status string) func(*testing.T, *bench, map[string]string) {
	return func(t *testing.T, b *bench, ids map[string]string) {
		t.Helper()
		d := dbtest.Simple()
		d.Name = fmt.Sprintf("Pipeline %d", b.count(t, `SELECT count(*) FROM pipelines`))
		id, _ := b.AddPipeline(t, d, status)
		ids["{pipeline_id}"] = strconv.FormatInt(id, 10)
	}
}

// claimAs claims the next node for a person and puts it into the path.
func (b *bench) claimAs(t *testing.T, userID int64, kind pipeline.Kind, ids map[string]string) *store.Claim {
	t.Helper()
	claim, err := b.Store.ClaimNext(t.Context(), b.member(t, userID), kind)
	require.NoError(t, err)
	require.NotNil(t, claim)
	ids["{task_id}"], ids["{claim_id}"], ids["{key}"] = strconv.FormatInt(claim.TaskID, 10), claim.ID, claim.Node
	return claim
}

func (b *bench) member(t *testing.T, userID int64) store.Member {
	t.Helper()
	m, err := b.Store.MemberOfPipeline(t.Context(), userID, b.PipelineID)
	require.NoError(t, err)
	return m
}

func TestMatrix_EveryOperationForEveryCaller(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.Links = objects(t) })
	b.created(t, 80)
	crowd := b.crowd(t)
	table := matrix(t)
	addPeopleRows(table)
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
	at := b.fill(t, path, r)
	before := b.fingerprint(t)
	for i, want := range r.want {
		if want == A {
			continue
		}
		a := crowd[i].do(t, method, at, r.send())
		require.Equal(t, want, a.Status, "%s as %s: %s", id, callers[i], a.Raw)
		codes := map[int]string{401: "unauthorized", 403: "forbidden", 404: "not_found"}
		require.Equal(t, codes[want], a.code())
		require.NotContains(t, a.Body, "problems")
	}
	require.Equal(t, before, b.fingerprint(t), "%s: a refused caller changed something", id)
	endsSession := id == "login" || id == "logout" || id == "acceptInvite"
	for i, want := range r.want {
		if want != A || endsSession && crowd[i].cookie != nil {
			continue
		}
		a := crowd[i].do(t, method, b.fill(t, path, r), r.send())
		require.GreaterOrEqual(t, a.Status, 200)
		require.Less(t, a.Status, 300, "%s as %s: %s\n%s", id, callers[i], a.Raw, b.logs.text())
	}
}

// fill puts ids of the world into a path. Each call gets things of its own, so
// that an earlier one does not decide about it.
func (b *bench) fill(t *testing.T, path string, r row) string {
	t.Helper()
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	ids := map[string]string{
		"{org_id}": id(b.OrgID), "{project_id}": id(b.ProjectID), "{pipeline_id}": id(b.PipelineID),
	}
	if r.ready != nil {
		r.ready(t, b, ids)
	}
	for name, value := range ids {
		path = strings.ReplaceAll(path, name, value)
	}
	require.NotContains(t, path, "{", "the row makes nothing ready for it")
	return path
}

// fingerprint changes whenever anything that operations write changes.
func (b *bench) fingerprint(t *testing.T) (sum string) {
	t.Helper()
	var parts []string
	for _, table := range []string{"pipelines", "pipeline_versions", "tasks", "task_nodes", "task_events", "submissions", "drafts", "skips", "outbox", "api_keys", "audit_log", "uploads", "users", "projects", "org_members", "project_members", "invites", "invite_projects", "user_settings", "task_files", "count_changes"} {
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
