package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// A poll that begins after an answer sees what the answer acknowledged, also
// while many others write.
func TestNothingAcknowledgedIsUnseen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status := func(id int64) string {
		got := b.v1(t, http.MethodGet, b.workflow("/tasks/%d", id), nil)
		var task struct {
			Status string `json:"status"`
		}
		if got.Status != http.StatusOK || json.Unmarshal(got.Raw, &task) != nil {
			return fmt.Sprintf("%d %s", got.Status, got.Raw)
		}
		return task.Status
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 5 {
				var made struct {
					TaskIDs []int64 `json:"task_ids"`
				}
				if err := json.Unmarshal(b.create(t, questions(3)).Raw, &made); err != nil || len(made.TaskIDs) != 3 {
					t.Errorf("create: %v", err)
					return
				}
				for _, id := range made.TaskIDs {
					if got := status(id); got != "pending" {
						t.Errorf("task %d was created and is polled as %s", id, got)
					}
				}
				m, err := b.Store.MemberOfPipeline(t.Context(), b.Contributors[0], b.PipelineID)
				if err != nil {
					t.Error(err)
					return
				}
				c, err := b.Store.ClaimTask(t.Context(), m, pipeline.KindSubtask, made.TaskIDs[0], "solve")
				if err != nil {
					t.Error(err)
					return
				}
				if got := status(c.TaskID); got != "in_progress" {
					t.Errorf("task %d was claimed and is polled as %s", c.TaskID, got)
				}
			}
		})
	}
	writers.Wait()
	require.Equal(t, 60, b.count(t, `SELECT count(*) FROM tasks`))
}
