package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestADiskIsFilledAndFreed(t *testing.T) {
	t.Parallel()
	if missing := Missing(); missing != "" {
		t.Skip(missing)
	}
	d := New(t, 1<<20)
	path := filepath.Join(d.Dir, "file")
	write := func() error { return os.WriteFile(path, make([]byte, 100_000), 0o600) }
	require.NoError(t, write())
	require.Less(t, d.Used(), 0.5)

	require.NoError(t, d.Fill())
	require.NoError(t, d.Fill())
	require.InDelta(t, 1, d.Used(), 0.001)
	require.ErrorIs(t, os.WriteFile(path+"2", make([]byte, 100_000), 0o600), syscall.ENOSPC)
	require.NoError(t, os.Remove(path)) // somebody gives something back
	require.Eventually(t, func() bool { return d.Used() > 0.999 }, 5*time.Second, refill)

	d.Free()
	d.Free()
	require.NoError(t, write())
	require.NoError(t, d.Fill())
	d.Free()
	require.Less(t, d.Used(), 0.5)
}

func TestADiskGoesWithItsTest(t *testing.T) {
	t.Parallel()
	if missing := Missing(); missing != "" {
		t.Skip(missing)
	}
	var dir string
	t.Run("", func(t *testing.T) {
		d := New(t, 1<<20)
		dir = d.Dir
		require.NoError(t, d.Fill())
	})
	require.NoDirExists(t, dir)
}
