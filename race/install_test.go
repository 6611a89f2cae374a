package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// bareMachine is a PATH with what every Debian has, and whatever is put there. Its
// apt-get writes down how it was called, and installs programs that do nothing.
type bareMachine struct{ bin, cache, calls string }

func newBareMachine(t *testing.T) *bareMachine {
	t.Helper()
	m := &bareMachine{bin: t.TempDir(), cache: t.TempDir(), calls: filepath.Join(t.TempDir(), "apt.calls")}
	for _, name := range []string{"bash", "cat", "chmod", "cp", "dirname", "env", "mkdir", "mktemp", "rm", "sha256sum", "tail"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(m.bin, name)))
	}
	m.program(t, "id", `echo "${FAKE_ID:-0}"`)
	m.program(t, "apt-get", `echo "$@" >>"$APT_CALLS"
[ "$1" = update ] || [ -z "${APT_FAILS:-}" ] || { echo "no such package"; exit 100; }
for p in "$@"; do
	case $p in
	postgresql-client) p=psql ;;
	nodejs) p=node ;;
	-* | install | update | python3-venv) continue ;;
	esac
	printf '#!/usr/bin/env bash\necho 20\n' >"$FAKE_BIN/$p"
	chmod +x "$FAKE_BIN/$p"
done`)
	m.program(t, "apt-cache", `echo "nodejs:"; echo "  Candidate: ${FAKE_NODE:-(none)}"`)
	return m
}

func (m *bareMachine) program(t *testing.T, name, script string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.bin, name), []byte("#!/usr/bin/env bash\n"+script+"\n"), 0o700))
}

// install runs the script there, and returns what it said and how apt-get was called.
func (m *bareMachine) install(t *testing.T, race string, settings ...string) (said, calls string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./install.sh", race)
	cmd.Env = append([]string{"PATH=" + m.bin, "FAKE_BIN=" + m.bin, "APT_CALLS=" + m.calls, "RACE_CACHE=" + m.cache}, settings...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	raw, _ := os.ReadFile(m.calls) // none when it was not called
	return out.String(), string(raw), err
}

const ingestPackages = "unzip rclone postgresql-client"

func TestWhatARaceNeedsIsInstalled(t *testing.T) {
	t.Parallel()
	m := newBareMachine(t)
	said, calls, err := m.install(t, "ingest")
	require.NoError(t, err, said)
	require.Equal(t, "update\ninstall -y --no-install-recommends "+ingestPackages+"\n", calls)
	_, again, err := m.install(t, "ingest")
	require.NoError(t, err)
	require.Equal(t, calls, again, "what is there stays")

	some := newBareMachine(t)
	some.program(t, "unzip", "")
	some.program(t, "psql", "")
	_, calls, err = some.install(t, "ingest")
	require.NoError(t, err)
	require.Contains(t, calls, "--no-install-recommends rclone\n")

	_, calls, err = newBareMachine(t).install(t, "polls")
	require.NoError(t, err)
	require.Empty(t, calls, "a race that needs nothing")

	python := newBareMachine(t) // with one that has no venv, as Debian's own
	python.program(t, "python3", `case "$*" in *ensurepip*) exit 1 ;; -m*) mkdir -p "$3/bin"; printf '#!/usr/bin/env bash\n' >"$3/bin/pip"; chmod +x "$3/bin/pip" ;; esac`)
	said, calls, err = python.install(t, "labelstudio")
	require.NoError(t, err, said)
	require.Contains(t, calls, "--no-install-recommends python3-venv\n")
}

// Where nothing may be installed, or nothing can, the words say what somebody must do.
func TestWhatMayNotBeInstalledIsAskedFor(t *testing.T) {
	t.Parallel()
	m := newBareMachine(t)
	said, calls, err := m.install(t, "ingest", "FAKE_ID=1000")
	require.Error(t, err)
	require.Empty(t, calls)
	require.Contains(t, said, "These races need "+ingestPackages)
	require.Contains(t, said, "apt-get install "+ingestPackages)

	said, _, err = m.install(t, "ingest", "APT_FAILS=yes")
	require.Error(t, err)
	require.Contains(t, said, "no such package")
	require.Contains(t, said, "Install "+ingestPackages+" by hand.")

	require.NoError(t, os.Remove(filepath.Join(m.bin, "apt-get")))
	said, _, err = m.install(t, "ingest")
	require.Error(t, err)
	require.Contains(t, said, "These races need "+ingestPackages)
}

// make build takes whatever Node.js it finds, so that one too old stays away.
func TestNodeIsInstalledWhereItIsNewEnough(t *testing.T) {
	t.Parallel()
	young := newBareMachine(t)
	said, calls, err := young.install(t, "claims", "FAKE_NODE=20.19.2+dfsg-1")
	require.NoError(t, err, said)
	require.Contains(t, calls, "install -y --no-install-recommends nodejs npm\n")
	for _, old := range []string{"FAKE_NODE=18.20.4+dfsg-1~deb12u1", "FAKE_NODE=(none)", "FAKE_ID=1000"} {
		said, calls, err := newBareMachine(t).install(t, "claims", old)
		require.Error(t, err)
		require.Contains(t, said, "Node.js is missing: the queues on Node need 20 or newer with npm")
		require.NotContains(t, calls, "install")
	}
	there := newBareMachine(t)
	there.program(t, "node", "echo 18")
	there.program(t, "npm", "")
	said, _, err = there.install(t, "claims")
	require.Error(t, err)
	require.Contains(t, said, "the queues on Node need 20 or newer")
}
