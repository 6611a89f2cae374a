package form_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/form"
)

func TestStrippingHiddenAnswersDoesNotChangeWhatIsVisible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, form.Contributor)
		f, values := form.New(fields), drawValues(t, fields)
		shown := f.Visible(values)
		require.Len(t, shown, len(fields))
		for range 3 {
			maps.DeleteFunc(values, func(name string, _ json.RawMessage) bool { return !shown[name] })
			require.Equal(t, shown, f.Visible(values))
		}
	})
}

func TestASubmissionThatPassesPassesAgainUnchanged(t *testing.T) {
	t.Parallel()
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, form.Contributor)
		f, values := form.New(fields), drawValues(t, fields)
		kept, problems := f.CheckSubmission(values, nil)
		if len(problems) > 0 {
			require.Nil(t, kept)
			return
		}
		passed++
		again, problems := f.CheckSubmission(kept, nil)
		require.Empty(t, problems)
		require.Equal(t, kept, again)
		shown := f.Visible(values)
		require.Equal(t, shown, f.Visible(kept), "what is kept shows what was answered")
		for name := range kept {
			require.True(t, shown[name])
		}
		require.Empty(t, f.CheckDraft(kept))
	})
	require.Positive(t, passed, "no drawn submission passed")
}

func TestExamplesOfTheSchemaPassCheckSeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, form.Seeded)
		f := form.New(fields)
		examples := form.Values{}
		for _, entry := range f.Schema() {
			require.NotEqual(t, "null", string(entry.Example), "no example for %s", entry.Name)
			require.True(t, json.Valid(entry.JSONSchema))
			examples[entry.Name] = entry.Example
		}
		require.Empty(t, f.CheckSeed(examples, form.NewBudget()))
	})
}

func TestSeedingAndSubmittingJudgeAValueAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		field := drawField(t, "f", form.Contributor, nil)
		values := drawValues(t, []form.Field{field})
		_, submitted := form.New([]form.Field{field}).CheckSubmission(values, nil)
		field.Input = form.Seeded
		require.Equal(t, submitted, form.New([]form.Field{field}).CheckSeed(values, form.NewBudget()))
	})
}

func TestDrawnDefinitionsAreSoundButForTheirConditions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, form.Contributor)
		for i := range fields {
			fields[i].VisibleWhen = nil
		}
		require.Empty(t, form.New(fields).Problems(nil, form.NewBudget()))
	})
}

func TestProblemsAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, form.Seeded)
		f, values := form.New(fields), drawValues(t, fields)
		values["unknown_a"], values["unknown_b"] = encode(1), encode(2)
		first := f.CheckSeed(values, form.NewBudget())
		require.Equal(t, first, f.CheckSeed(values, form.NewBudget()))
	})
}
