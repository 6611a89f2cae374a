package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the oldest major version that the product supports.
const oldest = 14

// Binaries is a directory with initdb and postgres in it.
type Binaries struct {
	Dir   string
	Major int
}

func (b Binaries) String() string { return fmt.Sprintf("%d (%s)", b.Major, b.Dir) }

// find lists the Postgres binaries of this machine, newest first, each once.
func find(ctx context.Context, tools string) []Binaries {
	var dirs []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
		"/usr/pgsql-*/bin",          // Red Hat
		npmBinaries(tools),
	} {
		if matches, err := filepath.Glob(pattern); err == nil {
			dirs = append(dirs, matches...)
		}
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}

	var found []Binaries
	seen := map[string]bool{}
	for _, dir := range dirs {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[resolved] {
			continue
		}
		seen[resolved] = true
		if major, ok := probe(ctx, resolved); ok {
			found = append(found, Binaries{Dir: resolved, Major: major})
		}
	}
	slices.SortStableFunc(found, func(a, b Binaries) int { return b.Major - a.Major })
	return found
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// probe asks the binaries in dir for their version.
func probe(ctx context.Context, dir string) (major int, ok bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0, false
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, false
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return 0, false
	}
	major, err = strconv.Atoi(string(match[1]))
	return major, err == nil
}

// pick returns the newest binaries, or those of one major version if wanted is
// not zero: a cluster can be used by the version that made it only.
func pick(found []Binaries, wanted int) (Binaries, bool) {
	for _, b := range found {
		if b.Major == wanted || wanted == 0 && b.Major >= oldest {
			return b, true
		}
	}
	return Binaries{}, false
}
