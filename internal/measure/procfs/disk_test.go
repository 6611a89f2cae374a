package procfs

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseDisk(t *testing.T) {
	t.Parallel()
	const stats = "   7       0 loop0 1 0 2 3 0 0 0 0 0 4 3 0 0 0 0 0 0\n" +
		" 254       0 vda 10 1 80 7 20 5 160 9 3 100 17 30 0 8 1 40 2\n" +
		"   8       1 sda1 10 1 80 7 20 5 160 9 3 100 17\n"
	for device, want := range map[string]Disk{"254:0": {100, 3}, "8:1": {30, 3}, "7:0": {1, 0}} {
		got, err := parseDisk(stats, device)
		require.NoError(t, err)
		require.Equal(t, want, got, device)
	}
	_, err := parseDisk(stats, "0:22")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = parseDisk("8 1 sda1 10 1 80 7 many 5 160 9 3 100 17\n", "8:1")
	require.ErrorContains(t, err, "no number")
}

func TestDeviceOf(t *testing.T) {
	t.Parallel()
	const mounts = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" +
		"23 22 0:5 / /dev rw - devtmpfs devtmpfs rw\n" +
		"24 22 8:1 / /data rw - ext4 /dev/sda1 rw\n" +
		"25 24 8:2 / /data rw - ext4 /dev/sda2 rw\n" +
		"broken\n"
	for path, want := range map[string]string{"/home/x": "254:0", "/": "254:0", "/data": "8:2", "/data/pg": "8:2", "/database": "254:0", "/dev/shm": "0:5"} {
		require.Equal(t, want, deviceOf(mounts, path), path)
	}
	require.Empty(t, deviceOf("", "/"))
}
