package store_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/store"
)

func applyDoc(t *testing.T, st *store.Store, doc string) (apply.Result, error) {
	t.Helper()
	d, err := apply.Read([]byte(doc))
	require.NoError(t, err)
	return st.Apply(t.Context(), d, store.ApplyOptions{Rand: rand.Reader})
}

func fullDocument(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../apply/testdata/full.yaml")
	require.NoError(t, err)
	return string(data)
}

// everything is the contents of every table, to compare before and after.
func everything(t *testing.T, st *store.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	rows, err := st.Pool().Query(t.Context(), `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	for _, name := range names {
		var all *string
		require.NoError(t, st.Pool().QueryRow(t.Context(),
			fmt.Sprintf(`SELECT string_agg(r::text, E'\n' ORDER BY r::text) FROM %s r`, name)).Scan(&all))
		if all != nil {
			out[name] = *all
		}
	}
	return out
}

func TestApply(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := dbtest.Store(t)
	first, err := applyDoc(t, st, fullDocument(t))
	require.NoError(t, err)

	require.Len(t, first.Organizations, 1)
	org := first.Organizations[0]
	require.Equal(t, "acme", org.Slug)
	require.Equal(t, "Math", org.Projects[0].Name)
	require.Equal(t, []string{"ACTIVE", "DRAFT"}, []string{org.Pipelines[0].Status, org.Pipelines[1].Status})
	require.Equal(t, 2, org.Datasets[0].Rows)
	require.Len(t, org.APIKeys, 2)

	t.Run("its people can log in and work", func(t *testing.T) {
		u, err := st.UserByEmail(ctx, "ada@acme.test")
		require.NoError(t, err)
		ok, _, err := password.Check(ctx, "a long enough one", u.PasswordHash)
		require.NoError(t, err)
		require.True(t, ok)
		m, err := st.MemberOfPipeline(ctx, u.ID, org.Pipelines[0].ID)
		require.NoError(t, err)
		require.True(t, m.OrgAdmin)
		bob, err := st.UserByEmail(ctx, "bob@acme.test")
		require.NoError(t, err)
		m, err = st.MemberOfPipeline(ctx, bob.ID, org.Pipelines[0].ID)
		require.NoError(t, err)
		require.Equal(t, store.RoleContributor, m.Role)
	})
	t.Run("its keys open the API and end when they should", func(t *testing.T) {
		key, err := st.AuthenticateKey(ctx, apikey.Hash(org.APIKeys[0].Value))
		require.NoError(t, err)
		require.Equal(t, org.ID, key.OrgID)
		require.Equal(t, "ada@acme.test", key.CreatedByEmail)
		require.WithinDuration(t, key.CreatedAt.Add(90*24*time.Hour), *key.ExpiresAt, time.Second)
		key, err = st.AuthenticateKey(ctx, apikey.Hash(org.APIKeys[1].Value))
		require.NoError(t, err)
		require.Nil(t, key.ExpiresAt)
	})
	t.Run("its pipeline is published", func(t *testing.T) {
		p, err := st.Pipeline(ctx, org.ID, org.Pipelines[0].ID)
		require.NoError(t, err)
		v, err := st.Version(ctx, *p.VersionID)
		require.NoError(t, err)
		require.Len(t, v.Form("solve").Fields(), 6)
	})
	t.Run("its output holds ids and new key values", func(t *testing.T) {
		raw, err := json.Marshal(first)
		require.NoError(t, err)
		var out map[string][]map[string]any
		require.NoError(t, json.Unmarshal(raw, &out))
		o := out["organizations"][0]
		require.Contains(t, o, "projects")
		require.Contains(t, o["pipelines"].([]any)[0], "id")
		require.Regexp(t, `^pk_live_[0-9a-f]{40}$`, o["api_keys"].([]any)[0].(map[string]any)["value"])
	})
	t.Run("again it changes nothing and shows no key value", func(t *testing.T) {
		before := everything(t, st)
		again, err := applyDoc(t, st, fullDocument(t))
		require.NoError(t, err)
		require.Equal(t, before, everything(t, st))
		for i := range first.Organizations[0].APIKeys {
			first.Organizations[0].APIKeys[i].Value = ""
		}
		require.Equal(t, first, again)
	})
}

func TestApplyUpdates(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := dbtest.Store(t)
	doc := fullDocument(t)
	first, err := applyDoc(t, st, doc)
	require.NoError(t, err)
	org := first.Organizations[0]
	ada, err := st.UserByEmail(ctx, "ada@acme.test")
	require.NoError(t, err)
	hash := [32]byte{1}
	require.NoError(t, st.CreateSession(ctx, ada, hash, "", time.Hour))

	change := func(pairs ...string) apply.Result {
		t.Helper()
		changed := strings.NewReplacer(pairs...).Replace(doc)
		require.NotEqual(t, doc, changed)
		doc = changed
		result, err := applyDoc(t, st, doc)
		require.NoError(t, err)
		require.Equal(t, org.ID, result.Organizations[0].ID)
		return result
	}

	t.Run("names, roles and memberships", func(t *testing.T) {
		change("name: Acme", "name: Acme Ltd", "name: Bob,", "name: Robert,",
			"{email: bob@acme.test, role: contributor}", "{email: bob@acme.test, role: reviewer}")
		me, err := st.Me(ctx, mustUser(t, st, "bob@acme.test").ID)
		require.NoError(t, err)
		require.Equal(t, "Acme Ltd", me.Orgs[0].Name)
		require.Equal(t, "Robert", me.User.Name)
		require.Equal(t, store.RoleReviewer, me.Orgs[0].Projects[0].Role)
		var said []string
		require.NoError(t, st.Pool().QueryRow(ctx, `SELECT array_agg(DISTINCT action || ' ' || coalesce(detail->>'role', detail->>'name')) FROM audit_log
			WHERE action IN ('organization.rename', 'member.set', 'project.member')`).Scan(&said))
		require.Equal(t, []string{
			"member.set member", "member.set org_admin", "organization.rename Acme Ltd", "project.member contributor", "project.member reviewer",
		}, said, "rows say what came out, also of a person whose role the document leaves open")
	})
	t.Run("a password, which ends sessions", func(t *testing.T) {
		_, err := st.SessionUser(ctx, hash)
		require.NoError(t, err)
		change("a long enough one", "quite another one")
		_, err = st.SessionUser(ctx, hash)
		require.Equal(t, fault.Unauthorized, fault.KindOf(err))
		ok, _, err := password.Check(ctx, "quite another one", mustUser(t, st, "ada@acme.test").PasswordHash)
		require.NoError(t, err)
		require.True(t, ok)
	})
	t.Run("a changed definition of an ACTIVE pipeline becomes a version", func(t *testing.T) {
		change("max_chars: 40", "max_chars: 41")
		p, err := st.Pipeline(ctx, org.ID, org.Pipelines[0].ID)
		require.NoError(t, err)
		require.Equal(t, 2, p.VersionNumber)
		require.EqualValues(t, 2, p.Revision)
		p, err = st.Pipeline(ctx, org.ID, org.Pipelines[1].ID)
		require.NoError(t, err)
		require.Nil(t, p.VersionID, "the DRAFT stays one")
	})
	t.Run("a status, by legal moves", func(t *testing.T) {
		for _, step := range [][2]string{{"ACTIVE", "PAUSED"}, {"PAUSED", "COMPLETED"}, {"COMPLETED", "ARCHIVED"}, {"ARCHIVED", "ACTIVE"}} {
			result := change("- status: "+step[0], "- status: "+step[1])
			require.Equal(t, step[1], result.Organizations[0].Pipelines[0].Status)
		}
	})
	t.Run("a published pipeline is no draft again", func(t *testing.T) {
		before := everything(t, st)
		_, err := applyDoc(t, st, strings.Replace(doc, "- status: ACTIVE", "- status: DRAFT", 1))
		require.Equal(t, []string{"organizations[0].projects[0].pipelines[0].status"}, pathsOf(t, err))
		require.Equal(t, before, everything(t, st))
	})
	t.Run("open tasks keep a pipeline from being completed", func(t *testing.T) {
		p, err := st.Pipeline(ctx, org.ID, org.Pipelines[0].ID)
		require.NoError(t, err)
		_, err = st.Pool().Exec(ctx, `INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input)
			VALUES ($1, $2, $3, 1, 1, '{}')`, org.ID, p.ID, p.VersionID)
		require.NoError(t, err)
		before := everything(t, st)
		_, err = applyDoc(t, st, strings.Replace(doc, "- status: ACTIVE", "- status: COMPLETED", 1))
		require.Equal(t, []string{"organizations[0].projects[0].pipelines[0].status"}, pathsOf(t, err))
		require.Equal(t, before, everything(t, st))
	})
	t.Run("the rows of a dataset", func(t *testing.T) {
		change(`{question: "2 + 2?", level: 1}`, `{level: 2, answer: 5}`)
		var columns []string
		var rows string
		require.NoError(t, st.Pool().QueryRow(ctx, `SELECT columns FROM datasets`).Scan(&columns))
		require.Equal(t, []string{"level", "answer", "question", "source"}, columns)
		require.NoError(t, st.Pool().QueryRow(ctx, `SELECT json_agg(data ORDER BY position)::text FROM dataset_rows`).Scan(&rows))
		require.JSONEq(t, `[{"level":2,"answer":5},{"question":"3 + 3?","source":{"page":4}}]`, rows)
	})
	t.Run("what the document does not mention stays", func(t *testing.T) {
		_, err := applyDoc(t, st, `{"organizations":[{"slug":"acme"}]}`)
		require.NoError(t, err)
		me, err := st.Me(ctx, mustUser(t, st, "bob@acme.test").ID)
		require.NoError(t, err)
		require.Equal(t, "Acme Ltd", me.Orgs[0].Name)
		require.Len(t, me.Orgs[0].Projects, 1)
	})
	t.Run("a removed member who is named again is back", func(t *testing.T) {
		require.NoError(t, st.RemoveUser(ctx, "acme", "bob@acme.test"))
		_, err := applyDoc(t, st, `{"organizations":[{"slug":"acme","users":[{"email":"bob@acme.test"}]}]}`)
		require.NoError(t, err)
		me, err := st.Me(ctx, mustUser(t, st, "bob@acme.test").ID)
		require.NoError(t, err)
		require.Empty(t, me.Orgs[0].Projects, "with no more roles than the document gives")
	})
	t.Run("the audit log explains all of it", func(t *testing.T) {
		require.Empty(t, accused(t, st))
	})
	t.Run("a revoked key stays revoked", func(t *testing.T) {
		key, err := st.KeyByName(ctx, org.ID, "crm")
		require.NoError(t, err)
		_, err = st.RevokeKey(ctx, org.ID, key.ID, 0)
		require.NoError(t, err)
		result, err := applyDoc(t, st, doc)
		require.NoError(t, err)
		require.Empty(t, result.Organizations[0].APIKeys[0].Value)
		_, err = st.AuthenticateKey(ctx, apikey.Hash(org.APIKeys[0].Value))
		require.Equal(t, fault.InvalidAPIKey, fault.KindOf(err))
	})
}

func TestApplyOfABadDocumentChangesNothing(t *testing.T) {
	t.Parallel()
	st := dbtest.Store(t)
	_, err := applyDoc(t, st, fullDocument(t))
	require.NoError(t, err)
	before := everything(t, st)

	_, err = applyDoc(t, st, `
organizations:
  - slug: fresh
    name: Fresh
    users: [{email: new@fresh.test, password: long enough to pass}, {email: other@fresh.test}]
    projects:
      - name: P
        members: [{email: ada@acme.test, role: reviewer}]
        pipelines: [{status: ACTIVE, definition: {name: D, nodes: [{key: start, kind: start, size: 1}], edges: []}}]
    api_keys: [{name: k, created_by: ghost@fresh.test}]
  - slug: acme
    projects:
      - {name: Math, pipelines: [{status: DRAFT, definition: {name: Grade-school math check, nodes: [], edges: []}}]}
`)
	paths := pathsOf(t, err)
	for _, want := range []string{
		"organizations[0].users[1].password",
		"organizations[0].projects[0].members[0].email",
		"organizations[0].projects[0].pipelines[0].definition.nodes[0].size",
		"organizations[0].projects[0].pipelines[0].definition.nodes",
		"organizations[0].api_keys[0].created_by",
		"organizations[1].projects[0].pipelines[0].status",
	} {
		require.Contains(t, paths, want)
	}
	require.Equal(t, before, everything(t, st))
}

func TestApplyRefusesLLMFieldsWithoutProvider(t *testing.T) {
	t.Parallel()
	st := dbtest.Store(t)
	doc := strings.Replace(fullDocument(t), `- {name: guide,`,
		`- {name: hint, type: long_text, input: llm, llm: {model: default, prompt: "Hint: {{question}}", context: [question]}}
                    - {name: guide,`, 1)
	_, err := applyDoc(t, st, doc)
	paths := pathsOf(t, err)
	require.Len(t, paths, 1)
	require.Contains(t, paths[0], "organizations[0].projects[0].pipelines[0].definition.nodes[1].fields[5]")
}

func TestApplyInParallel(t *testing.T) {
	t.Parallel()
	st := dbtest.Store(t)
	doc := fullDocument(t)
	var g errgroup.Group
	values := make(chan string, 16)
	for range 4 {
		g.Go(func() error {
			d, err := apply.Read([]byte(doc))
			if err != nil {
				return err
			}
			r, err := st.Apply(t.Context(), d, store.ApplyOptions{Rand: rand.Reader})
			if err != nil {
				return err
			}
			for _, k := range r.Organizations[0].APIKeys {
				if k.Value != "" {
					values <- k.Value
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Len(t, values, 2, "each key is made once")
}

func mustUser(t *testing.T, st *store.Store, email string) store.User {
	t.Helper()
	u, err := st.UserByEmail(t.Context(), email)
	require.NoError(t, err)
	return u
}

func pathsOf(t *testing.T, err error) []string {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f, "%v", err)
	require.Equal(t, fault.Validation, f.Kind)
	var paths []string
	for _, p := range f.Problems {
		require.NotEmpty(t, p.Message)
		paths = append(paths, p.Path)
	}
	require.NotEmpty(t, paths)
	return paths
}
