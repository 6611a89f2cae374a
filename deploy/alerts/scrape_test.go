package alerts_test

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// scrape is what the processes told at one time: the value of each series, as
// text, by its name with its labels.
type scrape map[string]string

// sample is a line of Prometheus' text format.
var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)

// add reads what a process tells, as a scrape job would label it, and returns
// the types by name. A process that does not answer tells nothing.
func (s scrape) add(t *testing.T, instance, addr string) (types map[string]string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", http.NoBody)
	require.NoError(t, err)
	c := http.Client{Timeout: 10 * time.Second}
	res, err := c.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	types = map[string]string{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if kind, ok := strings.CutPrefix(lines.Text(), "# TYPE "); ok {
			name, of, _ := strings.Cut(kind, " ")
			types[name] = of
		}
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		labels := fmt.Sprintf(`job="taskloom",instance=%q`, instance)
		if m[2] != "" {
			labels += "," + m[2]
		}
		s[m[1]+"{"+labels+"}"] = m[3]
	}
	return types
}

// value is the largest value of the series that begin so, after their job and
// instance; ok is false when there is none.
func (s scrape) value(name, labels string) (largest float64, ok bool) {
	for series, text := range s {
		if !strings.HasPrefix(series, name+"{") || !strings.Contains(series, labels) {
			continue
		}
		var v float64
		if _, err := fmt.Sscan(text, &v); err == nil && (!ok || v > largest) {
			largest, ok = v, true
		}
	}
	return largest, ok
}

// scale makes a condition one that a test can reach: the first text of an
// expression becomes the second.
type scale struct{ from, to string }

// provoked demands that an alert is silent while the product tells before, and
// fires when it tells after, as Prometheus would see it: half an hour of the
// one, an hour of the other.
func provoked(t *testing.T, alert string, before, after scrape, scales ...scale) {
	t.Helper()
	var kept []rule
	for _, r := range rules(t) {
		if r.Alert == alert {
			for _, s := range scales {
				require.Contains(t, r.Expr, s.from, "the condition of %s has changed", alert)
				r.Expr = strings.ReplaceAll(r.Expr, s.from, s.to)
			}
		}
		if r.Alert == alert || r.Record != "" {
			kept = append(kept, r)
		}
	}
	reads := map[string]bool{}
	for _, r := range kept {
		for _, name := range metricsIn(r.Expr) {
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
			input = append(input, series{name, history(name, before) + "x29 " + history(name, after) + "x59"})
		}
	}
	firing := fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, alert)
	dir := t.TempDir()
	save(t, filepath.Join(dir, rulesFile), map[string]any{"groups": []any{map[string]any{"name": "one", "rules": kept}}})
	save(t, filepath.Join(dir, testsFile), map[string]any{
		"rule_files": []string{rulesFile}, "evaluation_interval": "1m",
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
	out, err := promtool(t, "test", "rules", filepath.Join(dir, testsFile))
	require.NoError(t, err, "%s: %s\n%v", alert, out, input)
}

// history writes the value of a series in promtool's notation. A counter that
// was not there yet is zero; anything else that is not there is not there.
func history(series string, s scrape) string {
	switch value, ok := s[series]; {
	case ok:
		return value + "+0"
	case counter.MatchString(series):
		return "0+0"
	}
	return "_"
}

var counter = regexp.MustCompile(`^[a-zA-Z0-9_:]+_(total|bucket|count|sum)\{`)

func save(t *testing.T, path string, doc any) {
	t.Helper()
	raw, err := yaml.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
}
