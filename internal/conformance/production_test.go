package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The suite passes against the production handler over Postgres and S3, and
// nothing is skipped.
func TestProductionConforms(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	ran := map[string]bool{}
	try := func(h http.Handler, o Options) {
		report := run(t, h, d.target, o)
		var text strings.Builder
		require.NoError(t, report.Text(&text))
		require.Empty(t, report.failed(), text.String())
		for _, r := range report.Results {
			ran[r.ID] = true
		}
	}
	var others []string
	for _, c := range Checks() {
		if !slices.ContainsFunc(spare, func(id string) bool { return strings.HasPrefix(c.ID, id) }) {
			others = append(others, c.ID)
		}
	}
	try(d.handler(ample), Options{Only: others})
	try(d.handler(tight), Options{Only: spare})
	require.Len(t, ran, len(Checks()))
}
