package docs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// walk is a program that goes the whole way through the API.
type walk struct {
	name    string
	dir     string // of its files, in docs/
	needs   string // the program without which there is no trying
	install string // what is done once for a version; "" when there is nothing to do
	run     string
	prints  []string // regular expressions
}

// quickstartPrints is what every quickstart prints.
var quickstartPrints = []string{
	`health: ok`,
	`workflow \d+: Sentiment of a text, ACTIVE`,
	`field text: long_text, required`,
	`field source: select, required`,
	`task \d+: pending, 0 of 1 nodes finished`,
	`created 2 of 3 tasks`,
	`item 1: no_such_field: unknown field "no_such_field".*`,
	`repeated: the same answer, Idempotent-Replayed: true`,
	`poll 1: 200 pending`,
	`poll \d: 304 unchanged`,
	`found 3 of 3 tasks on 2 pages`,
	`upload [0-9a-f-]{36}: send until .*`,
	`confirmed: processing`,
	`completed: 3 of 3 rows`,
	`upload completed: 3 tasks, 0 errors`,
	`task_ids: \d+ \d+ \d+`,
}

// clientPrints is what every walk with a generated client prints.
var clientPrints = []string{
	`workflow \d+: Sentiment of a text, ACTIVE`,
	`task \d+: pending, 0 of 1 nodes finished`,
	`created 2 of 3 tasks`,
	`item 1: no_such_field: unknown field "no_such_field".*`,
	`found 3 of 3 tasks on 2 pages`,
	`confirmed: processing`,
	`upload completed: 3 tasks, 0 errors`,
	`task_ids: \d+ \d+ \d+`,
}

func walks(t *testing.T, root string) []walk {
	t.Helper()
	all := []walk{
		{name: "quickstart.sh", needs: "curl", run: "./quickstart.sh"},
		{name: "quickstart.py", needs: "python3", run: "python3 quickstart.py"},
		{name: "quickstart.go", needs: "go", run: "go run quickstart.go"},
		{name: "quickstart.ts", needs: "npm", install: "npm ci", run: "npx tsx quickstart.ts"},
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "quickstart", "README.md"))
	require.NoError(t, err)
	for i := range all {
		all[i].dir, all[i].prints = "quickstart", quickstartPrints
		shown := strings.TrimPrefix(all[i].install+" && "+all[i].run, " && ")
		require.Contains(t, string(page), "`"+shown+"`", "the page shows how to run it")
	}
	// Types are checked on the way; to run it, a reader need not.
	all[3].run = "npx tsc && " + all[3].run

	// The page on clients has two blocks a language: to install, and to generate
	// and run.
	for _, c := range []walk{
		{name: "Python", dir: "clients/python", needs: "python3"},
		{name: "TypeScript", dir: "clients/typescript", needs: "npm"},
		{name: "Go", dir: "clients/go", needs: "go"},
	} {
		shown := blocks(t, filepath.Join(root, "docs", "clients.md"), c.name)
		require.Len(t, shown, 2, c.name)
		cd := fmt.Sprintf("cd docs/%s\n", c.dir)
		require.Contains(t, shown[0].text, cd)
		c.name, c.prints = "client in "+c.name, clientPrints
		c.install, c.run = strings.Replace(shown[0].text, cd, "", 1), shown[1].text
		all = append(all, c)
	}
	return all
}

func (w walk) follow(t *testing.T, p *place) {
	t.Helper()
	if _, err := exec.LookPath(w.needs); err != nil {
		require.Empty(t, os.Getenv("CI"), "continuous integration runs all of it: install %s", w.needs)
		t.Skipf("there is no %s", w.needs)
	}
	docs := t.TempDir()
	for _, name := range []string{"quickstart", "clients"} {
		copyTree(t, name, filepath.Join(docs, name))
	}
	dir := filepath.Join(docs, w.dir)
	if w.install != "" {
		w.installed(t, dir)
	}
	out, err := w.start(t, dir, p.env)
	require.NoError(t, err, "%s\n%s", w.run, out)
	for _, line := range w.prints {
		require.Regexp(t, `(?m)^`+line+`$`, out)
	}
	if w.dir == "quickstart" {
		w.meetsAPage(t, dir, p.env)
	}
}

// start runs the program and returns what it prints.
func (w walk) start(t *testing.T, dir string, env []string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", w.run)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// meetsAPage lets the program meet a proxy that refuses it by a page for people: it
// says so, and does not fall over what is no JSON.
func (w walk) meetsAPage(t *testing.T, dir string, env []string) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { page(rw, http.StatusForbidden) }))
	defer proxy.Close()
	out, err := w.start(t, dir, append(env, "BASE_URL="+proxy.URL))
	require.Error(t, err, out)
	require.Regexp(t, `(?m)^GET /health: 403 `, out)
}

// installed puts what the walk installs into dir. It is kept from run to run
// under .cache, by everything that it depends on.
func (w walk) installed(t *testing.T, dir string) {
	t.Helper()
	h := sha256.New()
	version, err := exec.CommandContext(t.Context(), w.needs, "--version").CombinedOutput()
	_, _ = fmt.Fprintf(h, "%s\n%s %v\n", w.install, version, err)
	for _, name := range []string{"requirements.txt", "package.json", "package-lock.json", "go.mod", "go.sum"} {
		raw, _ := os.ReadFile(filepath.Join(dir, name)) // not every language has them all
		_, _ = fmt.Fprintf(h, "%s %d\n%s", name, len(raw), raw)
	}
	kept := filepath.Join(stacktest.Root(t), ".cache", "docs", filepath.Base(w.dir)+"-"+hex.EncodeToString(h.Sum(nil))[:16])
	require.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	lock, err := os.Create(kept + ".lock")
	require.NoError(t, err)
	defer lock.Close() // and with it goes the lock
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))

	done := filepath.Join(kept, ".installed")
	if _, err := os.Stat(done); err != nil {
		require.NoError(t, os.RemoveAll(kept))
		copyTree(t, dir, kept)
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", w.install)
		cmd.Dir = kept
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", w.install, out)
		require.NoError(t, os.WriteFile(done, nil, 0o600))
	}
	for _, name := range []string{".venv", "node_modules"} {
		if _, err := os.Stat(filepath.Join(kept, name)); err == nil {
			require.NoError(t, os.Symlink(filepath.Join(kept, name), filepath.Join(dir, name)))
		}
	}
}

// copyTree copies files, but not what is installed or generated there (see the
// .gitignore beside it).
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case e.IsDir() && (name == ".venv" || name == "node_modules" || strings.HasPrefix(name, "taskloom")):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rest), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), raw, info.Mode())
	}))
}
