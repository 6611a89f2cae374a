// Command quickstart is a first integration with Taskloom's External API:
// README.md beside this file. It needs the standard library only:
//
//	BASE_URL=http://127.0.0.1:8080/api/v1 API_KEY=pk_live_… WORKFLOW_ID=1 FILE_WORKFLOW_ID=2 go run quickstart.go
package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var (
	baseURL        = strings.TrimRight(os.Getenv("BASE_URL"), "/")
	apiKey         = os.Getenv("API_KEY")
	workflow       = "/workflows/" + os.Getenv("WORKFLOW_ID")
	fileWorkflowID = os.Getenv("FILE_WORKFLOW_ID")
	archive        = cmp.Or(os.Getenv("ARCHIVE"), "sample.zip")
	client         = &http.Client{Timeout: time.Minute}
)

type answer struct {
	status int
	header http.Header
	body   []byte
}

// send is the retry loop. build builds the request anew for every attempt. A broken
// connection and what is worth another try are waited out: longer every time, at
// least as long as Retry-After says, and by chance up to half as long again, so that
// not all clients come back at once.
func send(client *http.Client, build func() *http.Request) (answer, error) {
	const attempts = 6
	delay := time.Second
	for attempt := 1; ; attempt++ {
		var a answer
		res, err := client.Do(build())
		if err == nil {
			a = answer{status: res.StatusCode, header: res.Header}
			a.body, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		retry := err != nil || again(a.status, a.header)
		if !retry || attempt == attempts {
			return a, err
		}
		wait := max(after(a.header, delay), delay)
		time.Sleep(wait + mathrand.N(wait/2))
		delay = min(2*delay, 30*time.Second)
	}
}

// again tells whether an answer is worth another try: 429, an error of the service or
// of a proxy before it, and a 409 that says when, as the first call with this
// Idempotency-Key is still running then.
func again(status int, h http.Header) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError ||
		status == http.StatusConflict && h.Get("Retry-After") != ""
}

// after returns what Retry-After says, or the default when that is no number.
func after(h http.Header, otherwise time.Duration) time.Duration {
	if seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}

// call calls the API and decodes the answer into out; what cannot be waited out
// ends the program. A POST gets an Idempotency-Key, drawn once, before the first
// attempt: a repeated call creates nothing twice.
func call(method, path string, in, out any, headers map[string]string) answer {
	var body []byte
	if in != nil {
		var err error
		body, err = json.Marshal(in)
		must(err)
	}
	key := rand.Text()
	a, err := send(client, func() *http.Request {
		req, err := http.NewRequest(method, baseURL+path, bytes.NewReader(body))
		must(err)
		req.Header.Set("Authorization", "Bearer "+apiKey)
		if in != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		if method == http.MethodPost {
			req.Header.Set("Idempotency-Key", key)
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		return req
	})
	must(err)
	if a.status >= http.StatusBadRequest {
		var e struct{ Error, Message string }
		_ = json.Unmarshal(a.body, &e) // a proxy's answer may be no JSON
		must(fmt.Errorf("%s %s: %d %s: %s (request %s)", method, path, a.status, e.Error, e.Message, a.header.Get("X-Request-Id")))
	}
	if a.status != http.StatusNotModified {
		must(json.Unmarshal(a.body, out))
	}
	return a
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type fields map[string]any

type item struct {
	Fields fields `json:"fields"`
}

type batch struct {
	Tasks []item `json:"tasks"`
}

type result struct {
	SuccessCount int `json:"success_count"`
	ErrorCount   int `json:"error_count"`
	Errors       []struct {
		Index     int    `json:"index"`
		FieldName string `json:"field_name"`
		Message   string `json:"message"`
	} `json:"errors"`
	TaskIDs []int64 `json:"task_ids"`
}

type task struct {
	ID          int64                         `json:"id"`
	Status      string                        `json:"status"`
	NodeSummary struct{ Total, Finished int } `json:"node_summary"`
}

// 1. Is the service there, is the workflow ours, and which fields does it take?
func check() fields {
	var health struct{ Status string }
	call("GET", "/health", nil, &health, nil) // answers without a key, too
	fmt.Println("health:", health.Status)
	var w struct {
		ID           int64 `json:"workflow_id"`
		Name, Status string
	}
	call("GET", workflow, nil, &w, nil)
	fmt.Printf("workflow %d: %s, %s\n", w.ID, w.Name, w.Status)
	var schema struct {
		Fields []struct {
			Name, Type string
			Required   bool
			Example    any
		}
	}
	call("GET", workflow+"/schema", nil, &schema, nil)
	// A real integration puts its data here; the examples are values that are accepted.
	example := fields{}
	for _, f := range schema.Fields {
		kind := "optional"
		if f.Required {
			kind = "required"
			example[f.Name] = f.Example
		}
		fmt.Printf("field %s: %s, %s\n", f.Name, f.Type, kind)
	}
	return example
}

// 2. One task, looked at by its id.
func createOne(f fields) int64 {
	var made result
	call("POST", workflow+"/tasks", batch{[]item{{f}}}, &made, nil)
	var t task
	call("GET", fmt.Sprintf("%s/tasks/%d", workflow, made.TaskIDs[0]), nil, &t, nil)
	fmt.Printf("task %d: %s, %d of %d nodes finished\n", t.ID, t.Status, t.NodeSummary.Finished, t.NodeSummary.Total)
	return t.ID
}

// 3. Several tasks. One bad item does not spoil the others, so look at
// error_count also when the answer is 200.
func createMany(f fields) []int64 {
	bad := maps.Clone(f)
	bad["no_such_field"] = 1
	in := batch{[]item{{f}, {bad}, {f}}}
	key := map[string]string{"Idempotency-Key": rand.Text()}
	var made, again result
	call("POST", workflow+"/tasks", in, &made, key)
	fmt.Printf("created %d of %d tasks\n", made.SuccessCount, len(in.Tasks))
	for _, e := range made.Errors {
		fmt.Printf("item %d: %s: %s\n", e.Index, e.FieldName, e.Message)
	}
	// The same call under the same key, as after a timeout: the first answer again.
	a := call("POST", workflow+"/tasks", in, &again, key)
	same := "the same answer"
	if !reflect.DeepEqual(made, again) {
		same = "ANOTHER ANSWER"
	}
	fmt.Printf("repeated: %s, Idempotent-Replayed: %s\n", same, a.header.Get("Idempotent-Replayed"))
	return made.TaskIDs
}

// 4. Polling. With the ETag of the last answer an unchanged task costs a 304
// without a body; the less happens, the longer we wait. A real integration goes
// on until the task is finished or failed.
func pollTask(id int64) {
	const polls = 3
	known := map[string]string{}
	delay := time.Second
	for poll := 1; poll <= polls; poll++ {
		t := task{Status: "unchanged"}
		a := call("GET", fmt.Sprintf("%s/tasks/%d", workflow, id), nil, &t, known)
		fmt.Printf("poll %d: %d %s\n", poll, a.status, t.Status)
		if a.status == http.StatusOK {
			known["If-None-Match"], delay = a.header.Get("ETag"), time.Second
		}
		if t.Status == "finished" || t.Status == "failed" || poll == polls {
			break
		}
		time.Sleep(after(a.header, delay))
		delay = min(2*delay, time.Minute)
	}
}

// 5. The list, newest first, page by page until all that we know have come.
func find(ids []int64) {
	missing := map[int64]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	query, pages := url.Values{"limit": {"2"}}, 0
	for len(missing) > 0 {
		var page struct {
			Tasks      []task
			NextCursor string `json:"next_cursor"`
			HasMore    bool   `json:"has_more"`
		}
		call("GET", workflow+"/tasks?"+query.Encode(), nil, &page, nil)
		pages++
		for _, t := range page.Tasks {
			delete(missing, t.ID)
		}
		if !page.HasMore {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	fmt.Printf("found %d of %d tasks on %d pages\n", len(ids)-len(missing), len(ids), pages)
}

// 6. Files. The workflow has file upload fields only, so tasks is left out and
// every file at the top of the ZIP becomes a task.
func upload(workflow string) {
	info, err := os.Stat(archive)
	must(err)
	var begun struct {
		UploadID  string `json:"upload_id"`
		UploadURL string `json:"upload_url"`
		ExpiresAt string `json:"expires_at"`
	}
	call("POST", workflow+"/tasks/upload", map[string]int64{"file_size_bytes": info.Size()}, &begun, nil)
	fmt.Printf("upload %s: send until %s\n", begun.UploadID, begun.ExpiresAt)
	put(begun.UploadURL, info.Size())
	var state struct {
		Status, Message string
		Progress        struct {
			Total int `json:"rows_total"`
			Done  int `json:"rows_done"`
		}
		result
	}
	path := workflow + "/tasks/upload/" + begun.UploadID
	a := call("POST", path+"/confirm", nil, &state, nil) // 503 leaves it pending; the retry loop comes back
	fmt.Println("confirmed:", state.Status)

	known, delay := map[string]string{}, time.Second
	for state.Status == "pending" || state.Status == "processing" {
		time.Sleep(after(a.header, delay))
		delay = min(2*delay, 30*time.Second)
		a = call("GET", path, nil, &state, known)
		if a.status == http.StatusOK {
			known["If-None-Match"] = a.header.Get("ETag")
			fmt.Printf("%s: %d of %d rows\n", state.Status, state.Progress.Done, state.Progress.Total)
		}
	}
	if state.Status != "completed" {
		must(fmt.Errorf("upload %s: %s", state.Status, state.Message))
	}
	fmt.Printf("upload completed: %d tasks, %d errors\n", state.SuccessCount, state.ErrorCount)
	for _, e := range state.Errors {
		fmt.Printf("row %d: %s: %s\n", e.Index, e.FieldName, e.Message)
	}
	fmt.Println("task_ids:", strings.Trim(fmt.Sprint(state.TaskIDs), "[]"))
}

// put sends the archive straight to storage, without the key.
func put(to string, size int64) {
	a, err := send(&http.Client{}, func() *http.Request {
		f, err := os.Open(archive) // the client closes it
		must(err)
		req, err := http.NewRequest("PUT", to, f)
		must(err)
		req.ContentLength = size
		req.Header.Set("Content-Type", "application/zip")
		return req
	})
	must(err)
	if a.status >= http.StatusMultipleChoices {
		must(fmt.Errorf("the storage answered %d: %s", a.status, a.body))
	}
}

func main() {
	example := check()
	first := createOne(example)
	more := createMany(example)
	pollTask(first)
	find(append(more, first))
	if fileWorkflowID == "" {
		fmt.Println("no FILE_WORKFLOW_ID, so no upload")
		return
	}
	upload("/workflows/" + fileWorkflowID)
}
