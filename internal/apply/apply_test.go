package apply_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func full(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	return data
}

func problems(t *testing.T, doc string) map[string]string {
	t.Helper()
	d, err := apply.Read([]byte(doc))
	require.NoError(t, err)
	found := map[string]string{}
	for _, p := range d.Problems(apply.Existing{}, pipeline.Options{}) {
		found[p.Path] += p.Message + "\n"
	}
	return found
}

func TestReadFullDocument(t *testing.T) {
	t.Parallel()
	d, err := apply.Read(full(t))
	require.NoError(t, err)
	require.Empty(t, d.Problems(apply.Existing{}, pipeline.Options{}))

	org := d.Organizations[0]
	require.Equal(t, "acme", org.Slug)
	require.Equal(t, apply.Secret("a long enough one"), org.Users[0].Password)
	require.Equal(t, apikey.Days90, org.APIKeys[0].Expires)
	grade, copied := org.Projects[0].Pipelines[0].Definition, org.Projects[0].Pipelines[1].Definition
	require.Equal(t, "A copy of it", copied.Name)
	require.Equal(t, grade.Nodes, copied.Nodes)
	require.Equal(t, "30m0s", grade.Nodes[1].LeaseFor().String())
	require.JSONEq(t, `false`, string(grade.Nodes[1].Fields[4].VisibleWhen.Value))
	require.Equal(t, "easy", grade.Nodes[1].Fields[2].Options[0].Value)
	require.Equal(t, "Hard", grade.Nodes[1].Fields[2].Options[1].Label)
	require.Equal(t, []string{"question", "level"}, org.Datasets[0].Rows[0].Columns)
	require.JSONEq(t, `{"question": "3 + 3?", "source": {"page": 4}}`, string(org.Datasets[0].Rows[1].Data))

	t.Run("the same in JSON", func(t *testing.T) {
		t.Parallel()
		var doc any
		require.NoError(t, yaml.Load(full(t), &doc))
		raw, err := json.Marshal(doc)
		require.NoError(t, err)
		again, err := apply.Read(raw)
		require.NoError(t, err)
		// JSON has its keys in another order, so only what has no columns is compared.
		require.Equal(t, d.Organizations[0].Users, again.Organizations[0].Users)
		require.Equal(t, grade, again.Organizations[0].Projects[0].Pipelines[0].Definition)
	})
}

func TestEveryProblemIsToldWithItsPath(t *testing.T) {
	t.Parallel()
	found := problems(t, `
colour: red
organizations:
  - slug: Not A Slug
    users:
      - {email: nobody, name: N, password: short, role: boss}
      - {email: a@x.test, password: long enough to pass, phone: 1}
      - {email: A@X.test, password: long enough to pass}
      - {name: 7, password: long enough to pass}
      - {email: new@x.test}
    projects:
      - name: P
        members:
          - {email: stranger@x.test, role: contributor}
          - {email: a@x.test, role: king}
          - {email: a@x.test}
        pipelines:
          - status: RUNNING
            definition: {name: One, nodes: [], edges: []}
          - status: ACTIVE
            definition:
              name: Two
              nodes:
                - {key: start, kind: start}
                - key: work
                  kind: subtask
                  lease: soon
                  fields:
                    - {name: q, type: select, input: contributor, options: [1], rules: {max_char: 3}}
                - {key: end, kind: end}
              edges: [{from: start, to: work}, {from: work, to: end}]
          - definition: {name: One}
          - {}
      - {name: " P "}
    datasets:
      - {name: D, rows: [{a: 1, a: 2}, 3]}
      - {name: D}
    api_keys:
      - {name: k, created_by: stranger@x.test, expires: 2y}
      - {name: k, created_by: a@x.test}
      - {}
  - slug: twin
    users: [{email: a@x.test, password: but a different one}]
  - slug: twin
  - {}
`)
	for path, word := range map[string]string{
		"colour":                                                                                 "unknown key; known here: organizations",
		"organizations[0].slug":                                                                  "no slug",
		"organizations[0].users[0].email":                                                        "no email address",
		"organizations[0].users[0].password":                                                     "at least 12",
		"organizations[0].users[0].role":                                                         "org_admin, member",
		"organizations[0].users[1].phone":                                                        "unknown key",
		"organizations[0].users[2].email":                                                        "organizations[0].users[1].email",
		"organizations[0].users[3].email":                                                        "missing",
		"organizations[0].users[3].name":                                                         "put it in quotes",
		"organizations[0].users[4].password":                                                     "new user",
		"organizations[0].projects[0].members[0].email":                                          "no user of the organization",
		"organizations[0].projects[0].members[1].role":                                           "reviewer",
		"organizations[0].projects[0].members[2].email":                                          "given already",
		"organizations[0].projects[0].members[2].role":                                           "missing",
		"organizations[0].projects[0].pipelines[0].status":                                       "ARCHIVED",
		"organizations[0].projects[0].pipelines[1].definition.nodes[1].lease":                    "30m",
		"organizations[0].projects[0].pipelines[1].definition.nodes[1].fields[0].options[0]":     "option",
		"organizations[0].projects[0].pipelines[1].definition.nodes[1].fields[0].rules.max_char": "unknown key",
		"organizations[0].projects[0].pipelines[2].definition.name":                              "given already",
		"organizations[0].projects[0].pipelines[3].definition.name":                              "missing",
		"organizations[0].projects[1].name":                                                      "given already",
		"organizations[0].datasets[0].rows[0].a":                                                 "more than once",
		"organizations[0].datasets[0].rows[1]":                                                   "expected an object, got a number",
		"organizations[0].projects[0].pipelines[0].definition.nodes":                             "no start node",
		"organizations[0].datasets[1].name":                                                      "given already",
		"organizations[0].api_keys[0].created_by":                                                "no user",
		"organizations[0].api_keys[0].expires":                                                   "never, 30d, 90d, 1y",
		"organizations[0].api_keys[1].name":                                                      "given already",
		"organizations[0].api_keys[2].name":                                                      "missing",
		"organizations[0].api_keys[2].created_by":                                                "missing",
		"organizations[1].users[0].password":                                                     "differs from organizations[0].users[1].password",
		"organizations[2].slug":                                                                  "given already",
		"organizations[3].slug":                                                                  "missing",
	} {
		require.Contains(t, found[path], word, path)
		delete(found, path)
	}
	require.Empty(t, found)
}

func TestDefinitionProblemsOfPublishedPipelinesOnly(t *testing.T) {
	t.Parallel()
	doc := `{"organizations":[{"slug":"a","projects":[{"name":"P","pipelines":[
		{"status":"%s","definition":{"name":"D","nodes":[{"key":"start","kind":"start"}],"edges":[]}}]}]}]}`
	require.Empty(t, problems(t, fmt.Sprintf(doc, "DRAFT")))
	require.Empty(t, problems(t, fmt.Sprintf(doc, "ARCHIVED")))
	for _, status := range []string{"ACTIVE", "PAUSED", "COMPLETED"} {
		found := problems(t, fmt.Sprintf(doc, status))
		require.NotEmpty(t, found)
		for path := range found {
			require.True(t, strings.HasPrefix(path, "organizations[0].projects[0].pipelines[0].definition."), path)
		}
	}
}

func TestReferencesToWhatIsThereAlready(t *testing.T) {
	t.Parallel()
	d, err := apply.Read([]byte(`
organizations:
  - slug: acme
    users: [{email: known@x.test}]
    projects: [{name: P, members: [{email: Member@x.test, role: reviewer}]}]
    api_keys: [{name: k, created_by: member@x.test}]`))
	require.NoError(t, err)
	require.Len(t, d.Problems(apply.Existing{}, pipeline.Options{}), 3)
	require.Empty(t, d.Problems(apply.Existing{
		Users:   map[string]bool{"known@x.test": true},
		Members: map[string]map[string]bool{"acme": {"member@x.test": true}},
	}, pipeline.Options{}))
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, word string }{
		"broken YAML says where":    {"organizations:\n  - slug: [", "line"},
		"several documents":         {"a: 1\n---\nb: 2", "several"},
		"an alias without anchor":   {"organizations: *x", "anchor"},
		"not text":                  {"\xff\xfe", "UTF-8"},
		"not a number":              {"a: .nan", "NaN"},
		"deep nesting":              {strings.Repeat("[", 100_000), "nested deeper"},
		"deep nesting in JSON":      {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper"},
		"aliases that multiply":     {bomb(), "aliases written out"},
		"a merge of what is a text": {"a: &a x\nb: {<<: *a}", "merge key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apply.Read([]byte(c.doc))
			require.ErrorContains(t, err, c.word)
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 12 {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9), i)
	}
	return b.String()
}

func TestReadKeepsNumbersAsWritten(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`organizations: [{slug: a, datasets: [{name: D, rows: [{a: 12345678901234567890123, b: 1.50, c: -0, d: 0x1F, e: "1"}]}]}]`,
		`{"organizations": [{"slug": "a", "datasets": [{"name": "D", "rows": [
			{"a": 12345678901234567890123, "b": 1.50, "c": -0, "d": 31, "e": "1"}]}]}]}`,
	} {
		d, err := apply.Read([]byte(doc))
		require.NoError(t, err)
		require.Equal(t, //nolint:testifylint // the digits must stay as they are
			`{"a":12345678901234567890123,"b":1.50,"c":-0,"d":31,"e":"1"}`,
			string(d.Organizations[0].Datasets[0].Rows[0].Data))
	}
}

func TestNULIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	found := problems(t, `{"organizations":[{"slug":"a","name":"x\u0000","datasets":[{"name":"D","rows":[{"a\u0000":["\u0000"]}]}]}]}`)
	require.Len(t, found, 3)
	require.Contains(t, found, "organizations[0].name")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	for path, message := range problems(t, `organizations: [{slug: a, users: [{email: a@b.c, password: 424242424242}]}]`) {
		require.Equal(t, "organizations[0].users[0].password", path)
		require.NotContains(t, message, "4242")
	}
	d, err := apply.Read(full(t))
	require.NoError(t, err)
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	for _, printed := range []string{string(raw), fmt.Sprintf("%v", d), fmt.Sprintf("%+v", d), fmt.Sprintf("%#v", d)} {
		require.NotContains(t, printed, "long enough")
	}
}

// FuzzApplyDocument asserts that no document makes the reader panic, and that
// what a document says does not depend on the reading of it.
func FuzzApplyDocument(f *testing.F) {
	f.Add(full(f))
	f.Add([]byte(`{"organizations":[{"slug":"a","users":[{"email":"a@b.c","password":"0123456789ab"}]}]}`))
	f.Add([]byte("a: &a [*a]\nb: {<<: *a}\n? x\n: !!str 1"))
	f.Add([]byte(bomb()))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := apply.Read(data)
		if err != nil {
			return
		}
		again, err := apply.Read(data)
		require.NoError(t, err)
		opts := pipeline.Options{}
		require.Equal(t, first.Problems(apply.Existing{}, opts), again.Problems(apply.Existing{}, opts))
	})
}
