package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/config"
)

func TestUploadBounds(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"UPLOAD_MAX_ENTRIES=7", "UPLOAD_MAX_FILE_BYTES="})
	require.NoError(t, err)
	require.Equal(t, config.Uploads{
		MaxArchiveBytes: 5 << 30, MaxEntries: 7, MaxTotalBytes: 20 << 30, MaxFileBytes: 5 << 30, MaxRatio: 200,
	}, c.Uploads)

	_, err = config.Load([]string{
		"UPLOAD_MAX_ARCHIVE_BYTES=5368709121", "UPLOAD_MAX_ENTRIES=many", "UPLOAD_MAX_TOTAL_BYTES=0",
		"UPLOAD_MAX_FILE_BYTES=-1", "UPLOAD_MAX_RATIO=1e3",
	})
	problems := found(t, err)
	require.Len(t, problems, 5)
	for name, message := range problems {
		require.Contains(t, message, "a whole number from 1 to", name)
	}
	require.NotContains(t, problems, "environment")
}
