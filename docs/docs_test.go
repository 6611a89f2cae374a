// Package docs_test runs what the documentation shows: the commands of its
// pages, the quickstart in four languages and the clients generated from the
// served description, all against the running product.
package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

func TestTheDocumentationRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole stack and generates clients")
	}
	root := stacktest.Root(t)
	demo, err := os.ReadFile(filepath.Join(root, "dev", "demo.yaml"))
	require.NoError(t, err)
	s := stacktest.Start(t, stacktest.Options{Document: demo})

	// The pages come first and alone: they show the ids of a fresh stack.
	checkout := checkout(t, root, s)
	t.Run("README.md", func(t *testing.T) {
		followPage(t, checkout, filepath.Join(root, "README.md"), "The first call")
	})
	t.Run("quickstart/README.md", func(t *testing.T) {
		followPage(t, checkout, filepath.Join(root, "docs", "quickstart", "README.md"), "")
	})
	for _, w := range walks(t, root) {
		place := newPlace(t, s, w.name)
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.follow(t, place)
			place.check(t)
		})
	}
}

// checkout is what a reader has who runs `make dev` in the repository: its
// files, and .dev/env.
func checkout(t *testing.T, root string, s *stacktest.Stack) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bin", "docs"} {
		require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".dev"), 0o700))
	var env bytes.Buffer
	for _, name := range []string{"DATABASE_URL", "PUBLIC_URL", "SECRET_KEY"} {
		fmt.Fprintf(&env, "%s='%s'\n", name, s.Value(name))
	}
	fmt.Fprintf(&env, "TASKLOOM_API_KEY=%s\n", s.Applied.Key("demo"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".dev", "env"), env.Bytes(), 0o600))
	return dir
}

// place is an organization of its own for one walk, behind a line that fails
// now and then.
type place struct {
	stack            *stacktest.Stack
	workflow, upload int64
	env              []string
	line             *line
}

func newPlace(t *testing.T, s *stacktest.Stack, name string) *place {
	t.Helper()
	doc, err := os.ReadFile("quickstart/workflows.yaml")
	require.NoError(t, err)
	slug := strings.Trim(regexp.MustCompile(`[^a-z]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	applied := s.Apply(bytes.ReplaceAll(doc, []byte("quickstart"), []byte(slug)))
	p := &place{
		stack: s, line: newLine(t, s.URL),
		workflow: applied.Pipeline("Sentiment of a text"), upload: applied.Pipeline("Describe a picture"),
	}
	p.env = append(os.Environ(),
		"BASE_URL="+p.line.url+"/api/v1", "API_KEY="+applied.Key(slug),
		fmt.Sprintf("WORKFLOW_ID=%d", p.workflow), fmt.Sprintf("FILE_WORKFLOW_ID=%d", p.upload),
		// Of `make test`, and nothing that a reader has.
		"CGO_ENABLED=0", "GOFLAGS=",
	)
	return p
}

// check looks at what a walk left behind: each of its tasks once, however often
// it had to call.
func (p *place) check(t *testing.T) {
	t.Helper()
	p.line.check(t)
	for id, want := range map[int64]int{p.workflow: 3, p.upload: 3} {
		var n int
		row := p.stack.Store().Pool().QueryRow(t.Context(), `SELECT count(*) FROM tasks WHERE pipeline_id = $1`, id)
		require.NoError(t, row.Scan(&n))
		require.Equal(t, want, n, "tasks of workflow %d", id)
	}
}
