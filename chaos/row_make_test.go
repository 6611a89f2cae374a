package chaos

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMakeRunsTheRowsThatAreAskedFor reads what make would run: the rows that ROW
// names, and a refusal of what is none, for a pattern that matches no test looks
// like a row that passed.
func TestMakeRunsTheRowsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	const refused = "exit 2"
	for row, says := range map[string]string{
		"":      `-run '^TestChaos$'`,
		"9":     `-run '^TestRow(09)'`,
		"1,22":  `-run '^TestRow(01|22)'`,
		"all":   `-run '^TestRow()'`,
		"23":    refused,
		"9,row": refused,
		"08":    refused,
	} {
		t.Run("ROW="+row, func(t *testing.T) {
			t.Parallel()
			dry := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--dry-run", "chaos", "APIDOCS=", "WEB=", "ROW="+row)
			dry.Dir = ".."
			dry.Env = append(dry.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
			out, err := dry.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), says)
			require.Equal(t, says == refused, strings.Contains(string(out), refused))
			shell := exec.CommandContext(t.Context(), "bash", "-n")
			shell.Stdin = strings.NewReader(string(out))
			wrong, err := shell.CombinedOutput()
			require.NoError(t, err, "%s", wrong)
		})
	}
}
