package workflows_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/taskloom/taskloom/workflows"
)

const replayDir = "testdata/replay"

// Runs live for weeks and outlive the code that started them. Every recorded
// run must still be what the code of today would have done; where it is not,
// the change needs workflow.GetVersion. Old recordings are never deleted while
// runs of their time may be open: a new scenario adds a file.
func TestRecordedRunsReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(replayDir, "*.json*"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "record them: go test ./workflows -run TestRecordHistories -record")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			history, err := client.HistoryFromJSON(open(t, file), client.HistoryJSONOptions{})
			require.NoError(t, err)
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(workflows.TaskWorkflow)
			replayer.RegisterWorkflow(workflows.UploadWorkflow)
			replayer.RegisterWorkflow(workflows.SweepUploads)
			require.NoError(t, replayer.ReplayWorkflowHistory(nil, history))
		})
	}
}

func open(t *testing.T, file string) io.Reader {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	if !strings.HasSuffix(file, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	return z
}
