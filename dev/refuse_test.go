package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every refusal says what to do and changes nothing.

func TestUpRefusesAnUnwritableDirectory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	private := filepath.Join(h.root, "private")
	require.NoError(t, os.Mkdir(private, 0o500))
	if os.Getuid() == 0 {
		h.as = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	h.state = filepath.Join(private, "state")
	p := h.start(t, publicBinary(t), nil, "up")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "cannot use the state directory "+h.state)
	require.Contains(t, p.out.String(), "permission denied")
	require.Contains(t, p.out.String(), "DEV_DIR=/path/to/dir make dev")
}

func TestUpRefusesADirectoryOfAnotherVersion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.NoError(t, os.Mkdir(h.state, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(h.state, "version"), []byte("taskloom-dev 0\n"), 0o644))
	p := h.dev(t, nil, "up")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), `it says "taskloom-dev 0", this one writes "taskloom-dev 1"`)
	require.Contains(t, p.out.String(), "FRESH=1 make dev")
}

func TestFreshTouchesNothingThatIsNotOurs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	theirs := filepath.Join(h.state, "postgres")
	require.NoError(t, os.MkdirAll(theirs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(theirs, "thesis.txt"), nil, 0o644))
	for _, env := range [][]string{nil, {"FRESH=1"}} {
		p := h.dev(t, env, "up")
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.out.String(), `holds "postgres" but no "version" file`)
		require.FileExists(t, filepath.Join(theirs, "thesis.txt"))
	}
}

func TestUpRefusesAClusterThatItHasNoBinariesFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	version := filepath.Join(h.state, "postgres", "PG_VERSION")
	require.NoError(t, os.MkdirAll(filepath.Dir(version), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.state, "version"), []byte("taskloom-dev 1\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(h.state, "settings.json"), []byte("{}"), 0o600))

	for text, message := range map[string]string{
		"9\n":    "was made by PostgreSQL 9, and here is only PostgreSQL ",
		"junk\n": `says "junk", which is no version of PostgreSQL`,
	} {
		require.NoError(t, os.WriteFile(version, []byte(text), 0o600))
		p := h.dev(t, nil, "up")
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.out.String(), message)
		require.Contains(t, p.out.String(), "FRESH=1 make dev")
		require.Equal(t, text, readFile(t, version))
		h.goneSoon(t)
	}
}

func TestUpRefusesToRunOutsideTheRepository(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.NoError(t, os.Remove(filepath.Join(h.root, "bin", "taskloom")))
	p := h.dev(t, nil, "up")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "bin/taskloom is not there\n  make dev builds it")
}
