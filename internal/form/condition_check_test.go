package form_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
)

// A row of a likert may be compared with whatever it may be answered with.
func TestARowIsComparedWithNA(t *testing.T) {
	t.Parallel()
	for allowed, says := range map[bool]string{true: "", false: "this can never equal a rating"} {
		survey := form.Field{
			Name: "survey", Type: form.Likert, Input: form.Contributor,
			Rows: []form.Option{{Value: "clear"}}, Scale: &form.Scale{Min: 1, Max: 5, AllowNA: allowed},
		}
		known := func(name string) (form.Field, bool) { return survey, name == "survey" }
		for op, value := range map[string]string{form.OpEq: `"na"`, form.OpNe: `"na"`, form.OpIn: `[1, "na"]`} {
			problems := (&form.Condition{Field: "survey.clear", Op: op, Value: json.RawMessage(value)}).Problems(known, form.NewBudget())
			if says == "" {
				require.Empty(t, problems, op)
				continue
			}
			require.Len(t, problems, 1, op)
			require.Contains(t, problems[0].Message, says, op)
		}
		require.NotEmpty(t, (&form.Condition{Field: "survey.clear", Op: form.OpEq, Value: json.RawMessage(`"no"`)}).Problems(known, form.NewBudget()))
	}
}
