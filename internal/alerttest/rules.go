// Package alerttest holds the alerts of the product against what its processes tell:
// a test brings about what an alert is for, and promtool says whether it fires.
package alerttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// Rule is an alert, or a recorded series.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// Rules are those of the product.
func Rules(t testing.TB) (all []Rule) {
	t.Helper()
	var doc struct {
		Groups []struct {
			Rules []Rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	raw, err := os.ReadFile(filepath.Join(stacktest.Root(t), "deploy", "alerts", "taskloom.rules.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &doc))
	for _, g := range doc.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// Promtool runs the pinned one, which `make tools` builds.
func Promtool(t testing.TB, args ...string) (output string, err error) {
	t.Helper()
	root := stacktest.Root(t)
	versions, err := os.ReadFile(filepath.Join(root, "tools", "versions.mk"))
	require.NoError(t, err)
	pin := regexp.MustCompile(`(?m)^PROMTOOL\s*:=\s*\S+/promtool@(\S+)$`).FindSubmatch(versions)
	require.NotNil(t, pin, "tools/versions.mk does not pin promtool")
	path := filepath.Join(root, ".cache", "tools", "promtool-"+string(pin[1]), "promtool")
	require.FileExists(t, path, "run `make tools` first; `make test` builds it")
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...).CombinedOutput()
	return string(out), err
}

// metricName finds the names of metrics in an expression: all of ours and of
// the Temporal SDK have a prefix, and so have those of Go and of node_exporter that
// we show.
var metricName = regexp.MustCompile(`\b(?:taskloom[_:]|temporal_|go_|process_|node_)[a-zA-Z0-9_:]+`)

var quoted = regexp.MustCompile(`"[^"]*"`)

// MetricsIn is the metrics that an expression reads. It leaves out what is in quotes, such as routes.
func MetricsIn(expr string) []string {
	return metricName.FindAllString(quoted.ReplaceAllString(expr, `""`), -1)
}
