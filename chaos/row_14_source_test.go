package chaos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// TestRow14NothingAsksTheProcesssClock is what a moved clock cannot show of
// programs in Go, which read it past libc: the packages that decide about
// leases, expiry, limits in time and what is due never look at the process's
// clock. They leave it to the database, and workflows to Temporal.
func TestRow14NothingAsksTheProcesssClock(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"internal/store", "internal/pipeline", "internal/task", "internal/form", "workflows"} {
		files, err := filepath.Glob(filepath.Join(stacktest.Root(t), dir, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				require.Empty(t, looksAtTheClock(t, name, nil), name)
			}
		}
	}
	require.Len(t, looksAtTheClock(t, "x.go", "package x\nimport \"time\"\nfunc f(t time.Time) bool { return time.Now().After(t) || time.Since(t) > 0 }"), 2,
		"the check is blind")
}

// looksAtTheClock returns where a file calls time.Now, time.Since or time.Until.
func looksAtTheClock(t *testing.T, name string, source any) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := call.X.(*ast.Ident)
		if ok && pkg.Name == "time" && (call.Sel.Name == "Now" || call.Sel.Name == "Since" || call.Sel.Name == "Until") {
			found = append(found, set.Position(n.Pos()).String())
		}
		return true
	})
	return found
}
