package main

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every check in Temporal and in the object store stands on the page of promises,
// in the row of the test that breaks it. That such a test breaks each check of its
// part is its own to see; those in the database have
// TestTheDoctorNamesEveryBrokenPromise.
func TestWhatIsCheckedOutsideTheDatabaseIsPromised(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/promises.md")
	require.NoError(t, err)
	d := &doctor{} // with neither: its checks are skipped, each by its name
	for test, look := range map[string]func(context.Context, *app, deepOptions) ([]deepFinding, error){
		"TestDeepRuns": d.deepRuns, "TestDeepFiles": d.deepFiles,
	} {
		found, err := look(t.Context(), nil, deepOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, f := range found {
			require.Equal(t, skipped, f.Verdict, f.Name)
			require.Regexp(t, `(?m)^\| `+f.Promise+" \\|.*`"+f.Name+"`.*\\[`"+test+"`\\]", string(page))
		}
	}
}
