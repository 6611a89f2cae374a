package chaos

import (
	"context"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// version is a build of the product.
type version struct {
	// Name is the commit, or what Git calls it.
	Name string
	// Path is the program.
	Path string
}

// buildWithin bounds the build of an old version, which compiles everything
// anew the first time.
const buildWithin = 10 * time.Minute

// presentVersion is what `make build` made.
func presentVersion(t *testing.T) version {
	t.Helper()
	return version{"the present version", stacktest.Binary(t, "taskloom")}
}

// What makes a version an old one, by the changes since, as Git's --diff-filter.
const (
	anyChange = "ACDMRT"
	newFile   = "A" // a comment in a migration makes no other schema
)

// oldVersion builds the product as it was at CHAOS_OLD; unless that is set, at the
// last tag before this commit, or before the last such change of what a row is about
// (paths of Git) where no tag differs in that. One that does not differ, but in
// comments, is an error: a row with it would prove nothing. It is built without the web app, which is no
// part of what is looked at. A build is kept beside what runs leave.
func oldVersion(t *testing.T, change string, about ...string) version {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("an old version is built with Git, which is not here")
	}
	ref := os.Getenv("CHAOS_OLD")
	if ref == "" {
		var err error
		if ref, err = git(t, "describe", "--tags", "--abbrev=0", "HEAD^"); err != nil || !differs(t, ref, change, about) {
			changes, err := git(t, slices.Concat([]string{"log", "--format=%h", "--diff-filter=" + change, "--"}, about)...)
			require.NoError(t, err)
			for last := range strings.FieldsSeq(changes) {
				if ref = last + "^"; differs(t, ref, change, about) {
					break
				}
			}
		}
	}
	commit, err := git(t, "rev-parse", "--verify", "--quiet", "--short=12", ref+"^{commit}")
	if err != nil {
		t.Skipf("there is no old version: Git does not know %s here; CHAOS_OLD=ref names another", ref)
	}
	require.True(t, differs(t, commit, change, about), "%s has the same %s as this version: the row would prove nothing", ref, strings.Join(about, " "))
	v := version{ref + " (" + commit + ")", filepath.Join(stacktest.Root(t), ".cache", "chaos", "taskloom-"+commit)}
	if _, err := os.Stat(v.Path); err == nil {
		return v
	}
	t.Logf("building %s: a few minutes", v.Name)
	require.NoError(t, os.MkdirAll(filepath.Dir(v.Path), 0o755))
	source := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), buildWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, "bash", "-c", `set -euo pipefail
		git -C "$1" archive "$2" | tar -x -C "$3"
		cd "$3"
		CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$2" -o "$4.new" ./cmd/taskloom
		mv "$4.new" "$4"`, "bash", stacktest.Root(t), commit, source, v.Path).CombinedOutput()
	require.NoError(t, err, "build %s: %s", v.Name, out)
	return v
}

// differs tells whether there was such a change of these files since a commit.
func differs(t *testing.T, ref, change string, about []string) bool {
	t.Helper()
	changed, err := git(t, slices.Concat([]string{"diff", "--name-only", "--diff-filter=" + change, ref, "--"}, about)...)
	require.NoError(t, err)
	return slices.ContainsFunc(strings.Fields(changed), func(file string) bool {
		if filepath.Ext(file) != ".go" {
			return true
		}
		then, err := git(t, "show", ref+":"+file)
		if err != nil { // it is new
			return true
		}
		now, err := os.ReadFile(filepath.Join(stacktest.Root(t), file))
		return err != nil || codeOf(t, then) != codeOf(t, string(now))
	})
}

// codeOf is a file of Go without its comments, and in one form.
func codeOf(t *testing.T, source string) string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution) // leaves comments out
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, (&printer.Config{Mode: printer.RawFormat}).Fprint(&out, token.NewFileSet(), parsed)) // without its lines
	return out.String()
}

// TestWhatMakesAnOldVersion shows that words about a program make no other program.
func TestWhatMakesAnOldVersion(t *testing.T) {
	t.Parallel()
	const source = "package p\n\n// f is one.\nfunc f() int { return 1 } // one\n"
	require.Equal(t, codeOf(t, source), codeOf(t, "// Package p is another.\npackage p\n\nfunc f() int {\n\t// two\n\n\treturn 1\n}\n"))
	require.NotEqual(t, codeOf(t, source), codeOf(t, "package p\n\nfunc f() int { return 2 }\n"))
}

func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", stacktest.Root(t)}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// run replaces the program of a process, in order: it ends, and the other one
// starts. It returns once both APIs are ready.
func (v version) run(ctx context.Context, r *Run, p *stacktest.Process) error {
	r.older = true // or the program that this one replaces is
	p.Stop()
	p.Use(v.Path)
	p.StartAgain()
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.Pid()))
	if err != nil || path != v.Path {
		return fmt.Errorf("%s runs as %q: %w", v.Name, path, err)
	}
	return r.Ready(ctx)
}

// replaces puts the program in the place of every process, one after the other:
// workers first, as docs/operations.md has it.
func (v version) replaces(ctx context.Context, r *Run) error {
	for _, p := range slices.Concat(r.Workers, r.Serves) {
		if err := v.run(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}
