package conformance

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// pollTimeout is how long the ingestion of a handful of files may take.
const pollTimeout = 3 * time.Minute

// upload is a ZIP upload under way.
type upload struct {
	workflow int64
	id, url  string
}

func (u upload) path(rest string) string { return in(u.workflow, "/tasks/upload/"+u.id+rest) }

// uploadable returns one of the workflows whose tasks come by ZIP, and the
// body of an init that derives nothing from the archive where it need not.
func (c *C) uploadable() (workflow int64, body map[string]any) {
	switch {
	case c.FileWorkflow > 0:
		return c.FileWorkflow, map[string]any{}
	case c.FolderWorkflow > 0:
		return c.FolderWorkflow, map[string]any{}
	}
	return c.MixedWorkflow, batch(c.mixedItem("a.txt"))
}

// begin starts an upload; a nil body is an empty object.
func (c *C) begin(workflow int64, body any) upload {
	if body == nil {
		body = map[string]any{}
	}
	a := c.post(in(workflow, "/tasks/upload"), body)
	c.status(a, http.StatusAccepted)
	return c.uploadOf(workflow, a)
}

func (c *C) uploadOf(workflow int64, a *answer) upload {
	v := a.object(c)
	u := upload{workflow: workflow}
	u.id, _ = v["upload_id"].(string)
	u.url, _ = v["upload_url"].(string)
	if u.id == "" || u.url == "" {
		c.fail(a, "an upload_id and an upload_url", "keys %v", keys(v))
	}
	return u
}

// put sends the archive to where the upload wants it, as the contract says:
// with this header, and without a key.
func (c *C) put(u upload, archive []byte) {
	r := request{method: http.MethodPut, header: http.Header{"Content-Type": {"application/zip"}}, body: archive}
	a, err := c.runner.send(c.ctx, u.url, r)
	if err != nil {
		c.fail(nil, "an answer to PUT "+shortURL(u.url), "%s", err)
	}
	if a.Status < 200 || a.Status > 299 {
		c.fail(a, "PUT to upload_url to succeed", "status %d", a.Status)
	}
}

func (c *C) confirm(u upload, opts ...option) *answer {
	return c.post(u.path("/confirm"), nil, opts...)
}

// poll waits until the upload is over. Every status on the way must be known.
func (c *C) poll(u upload) *answer {
	deadline := time.Now().Add(pollTimeout)
	for {
		a := c.get(u.path(""))
		c.status(a, http.StatusOK)
		c.oneOf(a, uploadStatuses)
		if status, _ := a.object(c)["status"].(string); slices.Contains(terminal, status) {
			return a
		}
		if time.Now().After(deadline) {
			c.fail(a, "a terminal status", "still %v after %s", a.object(c)["status"], pollTimeout)
		}
		c.sleep(c.runner.options.Poll, "a terminal status")
	}
}

// ingest does it all: init, PUT, confirm and poll until it is completed.
func (c *C) ingest(workflow int64, body any, archive []byte) *answer {
	u := c.begin(workflow, body)
	c.put(u, archive)
	c.status(c.confirm(u), http.StatusAccepted)
	a := c.poll(u)
	c.equal(a, "status", "completed", a.object(c)["status"])
	return a
}

// zipOf makes a ZIP of small text files.
func zipOf(names ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		if err == nil {
			_, err = fmt.Fprintf(f, "This is %s, made for a conformance check.\n", name)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// fileFields are the file upload fields of a workflow.
func (c *C) fileFields(workflow int64) []field {
	files := slices.DeleteFunc(c.schema(workflow), func(f field) bool { return !f.file() })
	if len(files) == 0 {
		c.skip("workflow %d shows no field of the type file_upload", workflow)
	}
	return files
}

// mixedItem is an item for MixedWorkflow whose files are all at one path of
// the archive.
func (c *C) mixedItem(path string) fields {
	schema := c.schema(c.MixedWorkflow)
	item := c.example(schema)
	for _, f := range schema {
		if f.file() {
			item[f.Name] = path
		}
	}
	return item
}

// folder are the paths of one top-level folder with a file for each field.
func folder(name string, files []field) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, name+"/"+f.Name+".txt")
	}
	return paths
}

// lifetime is how long the upload's address lives, by the server's clock.
func (c *C) lifetime(a *answer) time.Duration {
	s, _ := a.object(c)["expires_at"].(string)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		c.fail(a, "expires_at, a timestamp", "%q", s)
	}
	now := time.Now()
	if date, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		now = date
	}
	return at.Sub(now)
}

// tolerance is for the time between the two clocks of an answer.
const tolerance = time.Minute

func near(got, want time.Duration) bool { return (got - want).Abs() <= tolerance }

// elsewhere reports whether an address is not one of the API.
func (c *C) elsewhere(u string) bool { return !strings.HasPrefix(u, c.BaseURL) }
