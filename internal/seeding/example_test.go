package seeding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// Each type that callers give, in a form of its own and of all together.
func TestExampleFieldsCreateATask(t *testing.T) {
	t.Parallel()
	types := []string{
		`{"name": "f1", "type": "short_text"`, `{"name": "f2", "type": "long_text"`, `{"name": "f3", "type": "code"`,
		`{"name": "f4", "type": "select", "options": ["x", "y"]`, `{"name": "f5", "type": "multi_select", "options": ["x", "y"]`,
		`{"name": "f6", "type": "boolean"`, `{"name": "f7", "type": "number", "rules": {"min": 0.5}`, `{"name": "f8", "type": "integer"`,
		`{"name": "f9", "type": "rating"`, `{"name": "g1", "type": "likert", "rows": ["x"]`, `{"name": "g2", "type": "pairwise"`,
		`{"name": "g3", "type": "ranking", "items": ["x", "y"]`, `{"name": "g4", "type": "date"`, `{"name": "g5", "type": "datetime"`,
		`{"name": "g6", "type": "url"`, `{"name": "g7", "type": "json"`, `{"name": "g8", "type": "list"`, `{"name": "g9", "type": "chat"`,
		`{"name": "h1", "type": "table", "columns": [{"name": "c", "type": "integer"}]`, `{"name": "h2", "type": "image"`,
		`{"name": "h3", "type": "audio"`, `{"name": "h4", "type": "video"`, `{"name": "h5", "type": "pdf"`,
		`{"name": "h6", "type": "file_upload"`, `{"name": "h7", "type": "file_upload", "multiple": true, "accept": ["image/*"]`,
		`{"name": "h8", "type": "file_upload", "multiple": true, "rules": {"min_items": 2}`, `{"name": "h9", "type": "file_upload", "accept": ["text/markdown"]`,
	}
	all := ""
	for _, definition := range types {
		definition += `, "input": "seeded", "required": true}`
		all += definition + ","
		p := withFields(t, "", definition)
		errs, _ := seeding.PreCheck(p, []seeding.Item{{Fields: seeding.ExampleFields(p)}}, nil)
		require.Empty(t, errs, definition)
	}
	p := withFields(t, "", all[:len(all)-1])
	example := seeding.ExampleFields(p)
	require.Len(t, example, len(types))
	errs, _ := seeding.PreCheck(p, []seeding.Item{{Fields: example}}, nil)
	require.Empty(t, errs)
}

func TestExampleFieldsNameWhatHasNone(t *testing.T) {
	t.Parallel()
	const pattern = `"type": "short_text", "input": "seeded", "rules": {"pattern": "a", "min_chars": 5}`
	p := withFields(t, "", `{"name": "must", "required": true, `+pattern+`}, {"name": "may", `+pattern+`}`)
	require.Equal(t, form.Values{"must": []byte("null")}, seeding.ExampleFields(p))
}
