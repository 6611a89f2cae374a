package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKilledSupervisorLeavesNoProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.up(t)
	require.Equal(t, 1, pasteCurl(t, h, p))
	startWorkflow(t, h.env(t), "open")
	require.NotEmpty(t, h.processes(t))

	require.NoError(t, p.cmd.Process.Kill())
	p.exit()
	// At once: the last run's Postgres may still be shutting down.
	again := h.up(t)
	require.Equal(t, 2, pasteCurl(t, h, again))
	require.True(t, workflowRuns(t, h.env(t), "open"))

	require.NoError(t, again.cmd.Process.Kill())
	again.exit()
	h.goneSoon(t)
}

func TestAStackGoesOnAfterAnyPartWasKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for tasks, part := range []string{"postgres", "temporal", "s3", "serve", "worker"} {
		p := h.up(t)
		require.Equal(t, tasks+1, pasteCurl(t, h, p))
		env := h.env(t)
		startWorkflow(t, env, part)
		putObject(t, env, part, part)

		h.kill(t, part)
		require.Equal(t, 1, p.exit(), "the end of %s ends the stack", part)
		require.Contains(t, p.out.String(), part+" died (signal: killed)")
		require.Contains(t, p.out.String(), "log: "+filepath.Join(h.state, "logs", part+".log"))
		require.Contains(t, p.out.String(), "make dev goes on where it was")
		h.goneSoon(t)
		requireNoPidFiles(t, h)
	}
	p := h.up(t)
	env := h.env(t)
	for _, part := range []string{"postgres", "temporal", "s3", "serve", "worker"} {
		require.True(t, workflowRuns(t, env, part))
		require.Equal(t, part, getObject(t, env, part))
	}
	p.interrupt()
	require.Equal(t, 0, p.exit())
}

func TestAFailingProductStopsEverythingAndSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script := "#!/bin/sh\necho the worker has no licence >&2\nexit 3\n"
	broken := filepath.Join(h.root, "bin", "worker-only")
	require.NoError(t, os.WriteFile(broken, []byte(script), 0o755))
	app := filepath.Join(h.root, "bin", "taskloom")
	text := readFile(t, app)
	wrapped := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = worker ] && exec %s\n%s", broken, text)
	require.NoError(t, os.WriteFile(app, []byte(wrapped), 0o755))

	p := h.dev(t, nil, "up")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "worker died (exit status 3)")
	require.Contains(t, p.out.String(), "the worker has no licence")
	h.goneSoon(t)
}

func TestAnInterruptWhileStartingStopsEverything(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.dev(t, nil, "up")
	eventually(t, "Temporal runs", func() error {
		_, err := os.Stat(filepath.Join(h.state, "temporal.pid"))
		return err
	})
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	h.goneSoon(t)
	requireNoPidFiles(t, h)
}
