package alerttest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// Scale makes a condition one that a test can reach: the first text of an
// expression becomes the second.
type Scale struct{ From, To string }

// Fires demands that an alert is silent while the product tells before, and
// fires when it tells after, as Prometheus would see it: half an hour of the
// one, an hour of the other.
func Fires(t testing.TB, alert string, before, after Scrape, scales ...Scale) {
	t.Helper()
	var kept []Rule
	for _, r := range Rules(t) {
		if r.Alert == alert {
			for _, s := range scales {
				require.Contains(t, r.Expr, s.From, "the condition of %s has changed", alert)
				r.Expr = strings.ReplaceAll(r.Expr, s.From, s.To)
			}
		}
		if r.Alert == alert || r.Record != "" {
			kept = append(kept, r)
		}
	}
	reads := map[string]bool{}
	for _, r := range kept {
		for _, name := range MetricsIn(r.Expr) {
			reads[name] = true
		}
	}
	type series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	var input []series
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if metric, _, _ := strings.Cut(name, "{"); reads[metric] {
			input = append(input, series{name, history(name, before, 30) + " " + history(name, after, 60)})
		}
	}
	firing := fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, alert)
	dir := t.TempDir()
	save(t, filepath.Join(dir, "rules.yml"), map[string]any{"groups": []any{map[string]any{"name": "one", "rules": kept}}})
	save(t, filepath.Join(dir, "test.yml"), map[string]any{
		"rule_files": []string{"rules.yml"}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{
			"interval": "1m", "input_series": input,
			"promql_expr_test": []any{
				map[string]any{"expr": "count(max_over_time(" + firing + "[29m]))", "eval_time": "29m"},
				map[string]any{
					"expr": "min(count(max_over_time(" + firing + "[59m]))) > bool 0", "eval_time": "89m",
					"exp_samples": []any{map[string]any{"labels": "{}", "value": 1}},
				},
			},
		}},
	})
	out, err := Promtool(t, "test", "rules", filepath.Join(dir, "test.yml"))
	require.NoError(t, err, "%s: %s\n%v", alert, out, input)
}

// history writes what a series is for so many minutes, in promtool's notation. What
// the product does not tell is not there: of a counter that is born with a burst
// Prometheus sees no rise.
func history(series string, s Scrape, minutes int) string {
	switch value, ok := s[series]; {
	case ok:
		return fmt.Sprintf("%s+0x%d", value, minutes-1) // the first one, and so many more
	case retried.MatchString(series):
		return fmt.Sprintf("0+0x%d", minutes-1)
	}
	return fmt.Sprintf("_x%d", minutes)
}

// retried are counters that the Temporal SDK tells with the first of what they count,
// and that rise again with each try of the same: Prometheus sees that rise, which two
// scrapes do not have.
var retried = regexp.MustCompile(`^temporal_workflow_task_execution_failed_total\{`)

func save(t testing.TB, path string, doc any) {
	t.Helper()
	raw, err := yaml.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
}
