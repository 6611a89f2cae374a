// Package alerts_test holds the alerts and the dashboard to what the product
// tells: each alert is brought about, nothing reads a metric that does not
// exist, and every alert says what to do.
package alerts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/taskloom/taskloom/internal/alerttest"
)

const (
	rulesFile = "taskloom.rules.yml"
	testsFile = "taskloom.test.yml"
	runbookAt = "https://github.com/taskloom/taskloom/blob/main/docs/alerts.md#"
)

func alerts(t *testing.T) (all []alerttest.Rule) {
	t.Helper()
	for _, r := range alerttest.Rules(t) {
		if r.Alert != "" {
			all = append(all, r)
		}
	}
	return all
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, into), path)
}

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	t.Parallel()
	sections := runbook(t)
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		require.False(t, seen[a.Alert], "two alerts %s", a.Alert)
		seen[a.Alert] = true
		require.Contains(t, []string{"critical", "warning"}, a.Labels["severity"], a.Alert)
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.NotEmpty(t, a.Annotations["description"], a.Alert)
		require.Equal(t, runbookAt+strings.ToLower(a.Alert), a.Annotations["runbook_url"], a.Alert)
		for _, part := range []string{"**For people:**", "**First look:**", "**What heals it:**"} {
			require.Contains(t, sections[a.Alert], part, "docs/alerts.md, section %s", a.Alert)
		}
	}
	for name := range sections {
		require.True(t, seen[name], "docs/alerts.md has a section on %s, which is no alert", name)
	}
}

// fixture is one test of promtool's.
type fixture struct {
	Name  string `yaml:"name"`
	Tests []struct {
		Expr    string `yaml:"expr"`
		Samples []any  `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// TestEveryAlertHasItsTest looks for a test of its name that sees it silent and
// firing; that they pass is promtool's to say.
func TestEveryAlertHasItsTest(t *testing.T) {
	t.Parallel()
	var doc struct {
		Tests []fixture `yaml:"tests"`
	}
	read(t, testsFile, &doc)
	tests := map[string]fixture{}
	for _, f := range doc.Tests {
		tests[f.Name] = f
	}
	for _, a := range alerts(t) {
		silent, firing := 0, 0
		for _, c := range tests[a.Alert].Tests {
			require.Equal(t, fmt.Sprintf(`count by (alertname) (ALERTS{alertname=%q,alertstate="firing"})`, a.Alert), c.Expr)
			if len(c.Samples) == 0 {
				silent++
			} else {
				firing++
			}
		}
		require.GreaterOrEqual(t, silent, 2, "%s has no test that it is silent below its condition, and after it", a.Alert)
		require.Equal(t, 1, firing, "%s has no test that it fires", a.Alert)
	}
	require.Len(t, tests, len(alerts(t)), "a test of an alert that does not exist")
	out, err := alerttest.Promtool(t, "test", "rules", testsFile)
	require.NoError(t, err, out)
}

// TestTheTestsSeeARuleThatIsWrong plants a rule that never fires and one that
// always does in place of each alert.
func TestTheTestsSeeARuleThatIsWrong(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	tests, err := os.ReadFile(testsFile)
	require.NoError(t, err)
	for _, a := range alerts(t) {
		for name, expr := range map[string]string{"silent": "vector(0) > 1", "firing": "vector(1)"} {
			t.Run(a.Alert+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				bad := strings.Replace(string(raw), "expr: "+a.Expr+"\n", "expr: "+expr+"\n", 1)
				require.NotEqual(t, string(raw), bad)
				require.NoError(t, os.WriteFile(filepath.Join(dir, rulesFile), []byte(bad), 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(dir, testsFile), tests, 0o600))
				out, err := alerttest.Promtool(t, "test", "rules", "--run", "^"+a.Alert+"$", filepath.Join(dir, testsFile))
				require.Error(t, err, out)
			})
		}
	}
}

// atTheDoor is where a rule counts who is turned away there.
var atTheDoor = regexp.MustCompile(` or (label_replace\()?(rate|increase)\(taskloom_http_overload_refused_total\{at="door"\}\[\w+\]\)(, "status", "503", "", ""\))?`)

// TestTheTestsSeeWhoIsNotCounted leaves those who are turned away at the door out of
// one place after the other, and counts those who stood in line a second time.
func TestTheTestsSeeWhoIsNotCounted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	tests, err := os.ReadFile(testsFile)
	require.NoError(t, err)
	mutants := map[string]string{"everybody": strings.ReplaceAll(string(raw), `{at="door"}`, "")}
	for _, at := range atTheDoor.FindAllIndex(raw, -1) {
		mutants[fmt.Sprintf("without bytes %d to %d", at[0], at[1])] = string(raw[:at[0]]) + string(raw[at[1]:])
	}
	require.Len(t, mutants, 1+strings.Count(string(raw), `overload_refused_total{at="door"}`))
	require.Len(t, mutants, 8, "four windows, and three places of ServerErrors")
	for name, bad := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, rulesFile), []byte(bad), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, testsFile), tests, 0o600))
			out, err := alerttest.Promtool(t, "test", "rules", filepath.Join(dir, testsFile))
			require.Error(t, err, out)
		})
	}
}
