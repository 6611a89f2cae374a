// Command walk is the walk of the quickstart with a generated client:
// ../../clients.md.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/walk/taskloom"
)

// retrying is the retry loop, below the client: a broken connection and what is
// worth another try are waited out.
type retrying struct{ client *http.Client }

func (r retrying) Do(req *http.Request) (*http.Response, error) {
	const attempts = 6
	delay := time.Second
	for attempt := 1; ; attempt++ {
		res, err := r.client.Do(req)
		retry := err != nil || again(res)
		if !retry || attempt == attempts {
			return res, err
		}
		wait := delay
		if err == nil {
			wait = max(after(res, delay), delay)
			res.Body.Close()
		}
		if req.GetBody != nil { // a request with a body: its next copy
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(wait + mathrand.N(wait/2)): // not all clients at once
		}
		delay = min(2*delay, 30*time.Second)
	}
}

// again tells whether an answer is worth another try: 429, an error of the service or
// of a proxy before it, and a 409 that says when, as the first call with this
// Idempotency-Key is still running then.
func again(res *http.Response) bool {
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError ||
		res.StatusCode == http.StatusConflict && res.Header.Get("Retry-After") != ""
}

// after returns what Retry-After says, or the default when that is no number.
func after(res *http.Response, otherwise time.Duration) time.Duration {
	if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}

// answer is what every generated answer can tell.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// ok returns the success that an operation declares; anything else ends the
// program with what the service said.
func ok[A answer, T any](success func(A) *T, a *A, err error) *T {
	must(err)
	if success(*a) == nil {
		must(fmt.Errorf("%d: %s", (*a).StatusCode(), (*a).GetBody()))
	}
	return success(*a)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// walk is the client and the workflow that it works in.
type walk struct {
	*taskloom.ClientWithResponses
	ctx      context.Context
	workflow int64
}

type fields = map[string]any

func (w walk) create(items ...fields) *taskloom.Result {
	var body taskloom.CreateRequest
	for _, f := range items {
		body.Tasks = append(body.Tasks, taskloom.CreateItem{Fields: f})
	}
	// The key is drawn once for a call; below it, the retry loop may send it often.
	res, err := w.CreateTasksWithResponse(w.ctx, w.workflow, &taskloom.CreateTasksParams{IdempotencyKey: new(rand.Text())}, body)
	return ok(taskloom.CreateTasksResponse.GetJSON200, res, err)
}

func (w walk) find(ids []int64) {
	missing := map[int64]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	params, pages := taskloom.ListTasksParams{Limit: new(int64(2))}, 0
	for more := true; more && len(missing) > 0; pages++ {
		res, err := w.ListTasksWithResponse(w.ctx, w.workflow, &params)
		page := ok(taskloom.ListTasksResponse.GetJSON200, res, err)
		for _, t := range page.Tasks {
			delete(missing, t.Id)
		}
		params.Cursor, more = page.NextCursor, page.HasMore
	}
	fmt.Printf("found %d of %d tasks on %d pages\n", len(ids)-len(missing), len(ids), pages)
}

func (w walk) upload(workflow int64, archive []byte) {
	started, err := w.InitUploadWithResponse(w.ctx, workflow, &taskloom.InitUploadParams{IdempotencyKey: new(rand.Text())},
		taskloom.UploadRequest{FileSizeBytes: new(int64(len(archive)))})
	begun := ok(taskloom.InitUploadResponse.GetJSON202, started, err)

	// Straight to storage, without the key.
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPut, begun.UploadUrl, bytes.NewReader(archive))
	must(err)
	req.Header.Set("Content-Type", "application/zip")
	put, err := retrying{&http.Client{}}.Do(req)
	must(err)
	put.Body.Close()
	if put.StatusCode >= http.StatusMultipleChoices {
		must(fmt.Errorf("the storage answered %s", put.Status))
	}
	confirmed, err := w.ConfirmUploadWithResponse(w.ctx, workflow, begun.UploadId, &taskloom.ConfirmUploadParams{IdempotencyKey: new(rand.Text())})
	fmt.Println("confirmed:", ok(taskloom.ConfirmUploadResponse.GetJSON202, confirmed, err).Status)

	for delay := time.Second; ; delay = min(2*delay, 30*time.Second) {
		res, err := w.GetUploadWithResponse(w.ctx, workflow, begun.UploadId, &taskloom.GetUploadParams{})
		state := ok(taskloom.GetUploadResponse.GetJSON200, res, err)
		switch state.Status {
		case "pending", "processing":
			<-time.After(after(res.HTTPResponse, delay))
			continue
		case "completed":
			fmt.Printf("upload completed: %d tasks, %d errors\n", *state.SuccessCount, *state.ErrorCount)
			show("row", *state.Errors)
			fmt.Println("task_ids:", strings.Trim(fmt.Sprint(*state.TaskIds), "[]"))
		default:
			must(fmt.Errorf("upload %s: %s", state.Status, *state.Message))
		}
		return
	}
}

func show(what string, errors []taskloom.ItemError) {
	for _, e := range errors {
		fmt.Printf("%s %d: %s: %s\n", what, e.Index, e.FieldName, e.Message)
	}
}

func main() {
	key := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	client, err := taskloom.NewClientWithResponses(os.Getenv("BASE_URL"),
		taskloom.WithHTTPClient(retrying{&http.Client{Timeout: time.Minute}}), taskloom.WithRequestEditorFn(key))
	must(err)
	id, err := strconv.ParseInt(os.Getenv("WORKFLOW_ID"), 10, 64)
	must(err)
	w := walk{client, context.Background(), id}

	found, err := w.GetWorkflowWithResponse(w.ctx, id)
	workflow := ok(taskloom.GetWorkflowResponse.GetJSON200, found, err)
	fmt.Printf("workflow %d: %s, %s\n", workflow.WorkflowId, workflow.Name, workflow.Status)
	described, err := w.GetWorkflowSchemaWithResponse(w.ctx, id)
	example := fields{}
	for _, f := range ok(taskloom.GetWorkflowSchemaResponse.GetJSON200, described, err).Fields {
		if f.Required {
			example[f.Name] = f.Example
		}
	}

	first := w.create(example).TaskIds[0]
	status, err := w.GetTaskWithResponse(w.ctx, id, first, &taskloom.GetTaskParams{})
	task := ok(taskloom.GetTaskResponse.GetJSON200, status, err)
	fmt.Printf("task %d: %s, %d of %d nodes finished\n", task.Id, task.Status, task.NodeSummary.Finished, task.NodeSummary.Total)

	bad := maps.Clone(example)
	bad["no_such_field"] = 1
	several := []fields{example, bad, example}
	result := w.create(several...)
	fmt.Printf("created %d of %d tasks\n", result.SuccessCount, len(several))
	show("item", result.Errors)
	w.find(append(result.TaskIds, first))

	if file := os.Getenv("FILE_WORKFLOW_ID"); file != "" {
		id, err := strconv.ParseInt(file, 10, 64)
		must(err)
		archive, err := os.ReadFile(cmp.Or(os.Getenv("ARCHIVE"), "../../quickstart/sample.zip"))
		must(err)
		w.upload(id, archive)
	}
}
