package form

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is too large is refused before it is unfolded, and nothing that fits is.
func TestAPatternIsNotUnfoldedToBeRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"(" + strings.Repeat("a", 490) + "){1000}", "(?:[ab]{10}abcdefghijklmnop){100}", "(?:(?:abc){30}){30}", "(?i)(?:straße){1,500}", "(?:a|b){2,1000}(?:cc){1000}",
	} {
		tree, err := syntax.Parse(source, syntax.Perl)
		require.NoError(t, err)
		require.Greater(t, leastSteps(tree), maxProgram, source)
		_, err = compilePattern(source, NewBudget())
		require.ErrorIs(t, err, errProgram, source)
	}
	for _, source := range []string{
		"", "a", "(?:){1000}", "(?:^){1000}", "(?:a*)*", "[a-z]{1,900}", "(?:ab){999}", "a{0}", "a{3,}", "x?|y+|z*", `\d{4}-\d{2}`, "(?i)k{500}",
		"foobar|foobaz|fooqux", `\bword\b`, "(a)(b)(?P<c>c)", ".{2,7}(?s:.)", "[[:alpha:]]{0,900}",
	} {
		tree, err := syntax.Parse(source, syntax.Perl)
		require.NoError(t, err)
		program, err := syntax.Compile(tree.Simplify())
		require.NoError(t, err)
		require.LessOrEqual(t, leastSteps(tree), len(program.Inst), source)
		_, err = compilePattern(source, NewBudget())
		require.NoError(t, err, source)
	}
}
