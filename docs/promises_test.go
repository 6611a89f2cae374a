package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// namedTest is a link to a test function: [`TestX`](../place/x_test.go).
var namedTest = regexp.MustCompile("\\[`(Test\\w+)`\\]\\(([^)]+)\\)")

// Every test that promises.md names is in the file that it links to, every
// promise in a table of its first two sections names one, and says so when only
// rows of the fault matrix break it, and every check of the database stands there.
// (The doctor's other checks are for a test in cmd/taskloom.)
func TestWhatIsPromisedIsTested(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("promises.md")
	require.NoError(t, err)
	page := string(raw)
	tests := namedTest.FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, tests)
	for _, m := range tests {
		source, err := os.ReadFile(filepath.FromSlash(m[2]))
		if err != nil {
			t.Errorf("promises.md names %s: %v", m[1], err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func ` + m[1] + `\(`).Match(source) {
			t.Errorf("promises.md names %s, but %s has no such test", m[1], m[2])
		}
	}
	before, _, ok := strings.Cut(page, "## About the data")
	require.True(t, ok)
	promises := 0
	for line := range strings.Lines(before) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise ") {
			continue
		}
		promises++
		broken, always := namedTest.FindAllStringSubmatch(line, -1), false
		require.NotEmpty(t, broken, "nothing breaks this on purpose: %s", line)
		for _, m := range broken {
			always = always || !strings.HasPrefix(m[1], "TestRow")
		}
		require.NotEqual(t, always, strings.Contains(line, "`make chaos ROW="), "which tests run without being asked for? %s", line)
	}
	require.GreaterOrEqual(t, promises, 10)
	for _, inv := range store.InvariantList() {
		require.Contains(t, page, "`"+inv.Name+"`")
	}
}

// checkName is the name of a check of the doctor, in a table of promises about the
// data.
var checkName = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")

// chaos.md compares the doctor of an old run with today's: as many checks as
// promises.md names.
func TestTheDoctorsChecksAreCounted(t *testing.T) {
	t.Parallel()
	promises, err := os.ReadFile("promises.md")
	require.NoError(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(string(promises)) {
		if columns := strings.Split(line, " | "); strings.HasPrefix(line, "| I") {
			for _, m := range checkName.FindAllStringSubmatch(columns[2], -1) {
				names[m[1]] = true
			}
		}
	}
	for _, inv := range store.InvariantList() {
		require.Contains(t, names, inv.Name)
	}
	chaos, err := os.ReadFile("chaos.md")
	require.NoError(t, err)
	require.Contains(t, string(chaos), fmt.Sprintf("it has [%d now](promises.md#about-the-data)", len(names)))
}
