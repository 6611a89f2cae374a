package chaos

import (
	"context"
	"net/http"
	"strconv"
)

// create makes one task for each question under a key.
func (c *client) create(ctx context.Context, key string, questions []string) ([]int64, error) {
	items := make([]object, len(questions))
	for i, q := range questions {
		items[i] = object{"fields": object{"question": q}}
	}
	var out struct {
		TaskIDs []int64 `json:"task_ids"`
	}
	_, err := c.do(ctx, request{
		Op: Op{Kind: opCreate, Key: key}, method: http.MethodPost, path: c.workflow("/tasks"), idempotency: key,
		// 409: the first try with this key is still running, ask again.
		refusals: []int{http.StatusConflict},
		in:       object{"tasks": items}, out: &out,
		note: func(op *Op) { op.Tasks = out.TaskIDs; c.org.own(out.TaskIDs...) },
	})
	return out.TaskIDs, err
}

func (c *client) workflow(rest string) string {
	return "/api/v1/workflows/" + strconv.FormatInt(c.org.Pipeline, 10) + rest
}

// polled is a task as the External API shows it.
type polled struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
}

// task polls one task.
func (c *client) task(ctx context.Context, id int64) (polled, error) {
	var out polled
	_, err := c.do(ctx, request{
		Op: Op{Kind: opPoll, Task: id}, method: http.MethodGet,
		path: c.workflow("/tasks/" + strconv.FormatInt(id, 10)), out: &out,
	})
	return out, err
}

// newest polls the first page of the list.
func (c *client) newest(ctx context.Context) ([]polled, error) {
	var out struct {
		Tasks []polled `json:"tasks"`
	}
	_, err := c.do(ctx, request{Op: Op{Kind: opPoll}, method: http.MethodGet, path: c.workflow("/tasks?limit=200"), out: &out})
	return out.Tasks, err
}
