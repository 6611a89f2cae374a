package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/limit"
)

// call is a request for an operation of the External API: good as it is made,
// bad once a situation has changed it.
type call struct {
	op      *huma.Operation
	path    map[string]any
	query   string
	body    any
	headers []header
}

// call makes a good request for an operation on the world's pipeline.
func (b *bench) call(t *testing.T, op *huma.Operation) call {
	t.Helper()
	c := call{op: op, path: map[string]any{"workflow_id": b.PipelineID}, headers: []header{with("X-API-Key", b.KeyValue)}}
	if strings.Contains(op.Path, "{task_id}") {
		c.path["task_id"] = b.created(t, 1)[0]
	}
	if strings.Contains(op.Path, "{upload_id}") {
		c.path["upload_id"] = b.started(t)
	}
	if op.RequestBody != nil {
		c.body = requestExample(t, op, "")
	}
	return c
}

// requestExample is a body of the document, the first one without a name.
func requestExample(t *testing.T, op *huma.Operation, name string) any {
	t.Helper()
	all := op.RequestBody.Content["application/json"].Examples
	require.NotEmpty(t, all, "%s has no example of a body", op.OperationID)
	if name == "" {
		name = slices.Sorted(maps.Keys(all))[0]
	}
	require.Contains(t, all, name)
	return all[name].Value
}

func (c call) send(t *testing.T, b *bench, headers ...header) answer {
	t.Helper()
	path := c.op.Path
	for name, value := range c.path {
		path = strings.ReplaceAll(path, "{"+name+"}", fmt.Sprint(value))
	}
	return b.do(t, c.op.Method, "/api/v1"+path+c.query, c.body, append(c.headers, headers...)...)
}

// operations of the External API by id.
func (b *bench) operations() map[string]*huma.Operation {
	all := map[string]*huma.Operation{}
	for _, item := range b.handler.(*api.API).External.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op != nil {
				all[op.OperationID] = op
			}
		}
	}
	return all
}

// isUpload tells the operations that need a pipeline with files.
func isUpload(op *huma.Operation) bool { return strings.Contains(op.Path, "/upload") }

// worldFor is a world in which a good request of the operation succeeds.
func worldFor(t *testing.T, op *huma.Operation) *bench {
	t.Helper()
	if !isUpload(op) {
		return metered(t, dbtest.NewWorld(t), plenty)
	}
	return metered(t, dbtest.NewWorld(t, dbtest.WithDefinition(withScan())), plenty)
}

// plenty is more than a test sends.
const plenty = 1_000_000

// metered serves a world with so many requests an hour in each bucket.
func metered(t *testing.T, w *dbtest.World, most int64) *bench {
	t.Helper()
	rate := limit.Rate{Limit: most, Period: time.Hour}
	return serve(t, w, func(d *api.Deps) {
		d.Uploads = ready
		d.Limits = limit.Memory(limit.Rates{limit.Key: rate, limit.Address: rate, limit.FailedAuth: rate})
	})
}

// situation brings about what an example shows and returns the answer. b is
// shared: who changes more than adding tasks makes a world of their own.
type situation func(t *testing.T, b *bench, op *huma.Operation) answer

// TestExamplesAreTrue provokes every example of the document at the production
// handler and compares: an example without a situation is a failure, and so is
// a documented answer without an example, but for a 304, which has headers only.
func TestExamplesAreTrue(t *testing.T) {
	t.Parallel()
	plain := metered(t, dbtest.NewWorld(t), plenty)
	scans := metered(t, dbtest.NewWorld(t, dbtest.WithDefinition(withScan())), plenty)
	known, used := situations(), map[string]bool{}
	for id, op := range plain.operations() {
		b := plain
		if isUpload(op) {
			b = scans
		}
		for status, response := range op.Responses {
			media := response.Content["application/json"]
			if media == nil {
				if status == strconv.Itoa(http.StatusNotModified) {
					t.Run(id+"/"+status, func(t *testing.T) {
						t.Parallel()
						headersAreTrue(t, op, status, unchanged(t, op))
					})
				}
				continue
			}
			assert.NotEmpty(t, media.Examples, "%s %s has no example", id, status)
			for name, example := range media.Examples {
				key := id + " " + name
				if known[key] == nil {
					key = name
				}
				require.Contains(t, known, key, "%s %s: nothing brings this example about", id, status)
				used[key] = true
				t.Run(strings.Join([]string{id, status, name}, "/"), func(t *testing.T) {
					t.Parallel()
					isTrue(t, b, op, status, example.Value, known[key](t, b, op))
				})
			}
		}
	}
	for key := range known {
		require.Contains(t, used, key, "this situation has no example")
	}
}

// unchanged asks twice, the second time by the tag of the first answer.
func unchanged(t *testing.T, op *huma.Operation) answer {
	t.Helper()
	b := worldFor(t, op)
	c := b.call(t, op)
	first := c.send(t, b)
	again := c.send(t, b, with("If-None-Match", first.Header.Get("ETag")))
	require.Equal(t, http.StatusNotModified, again.Status, "%s", again.Raw)
	return again
}

// isTrue compares an example with the answer that came.
func isTrue(t *testing.T, b *bench, op *huma.Operation, status string, example any, got answer) {
	t.Helper()
	require.Equal(t, status, strconv.Itoa(got.Status), "%s", got.Raw)
	fits(t, b, op, status, mustJSON(t, example))
	fits(t, b, op, status, got.Raw)
	require.Equal(t, general(t, mustJSON(t, example)), general(t, got.Raw))
	headersAreTrue(t, op, status, got)
}

// headersAreTrue compares the headers of an answer with those that its operation and
// status have in the document.
func headersAreTrue(t *testing.T, op *huma.Operation, status string, got answer) {
	t.Helper()
	for name := range documentedHeaders {
		_, documented := op.Responses[status].Headers[name]
		require.True(t, documented || got.Header.Get(name) == "", "%s came and is not documented", name)
	}
	for name := range op.Responses[status].Headers {
		if !strings.HasPrefix(name, "RateLimit") && !optionalHeaders[status+" "+name] {
			require.NotEmpty(t, got.Header.Get(name), "%s is documented and did not come", name)
		}
	}
}

// documentedHeaders must be in the document where they occur.
var documentedHeaders = map[string]bool{
	"X-Request-Id": true, "Retry-After": true, "RateLimit": true, "RateLimit-Policy": true, "ETag": true,
	"Idempotent-Replayed": true, "WWW-Authenticate": true, "Allow": true, "Location": true,
}

// optionalHeaders come with some answers of a status only.
var optionalHeaders = map[string]bool{
	"200 Idempotent-Replayed": true, "202 Idempotent-Replayed": true, "200 Retry-After": true, "409 Retry-After": true,
}

// fits checks a body against the schema of its operation and status.
func fits(t *testing.T, b *bench, op *huma.Operation, status string, body []byte) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	var found huma.ValidateResult
	huma.Validate(b.handler.(*api.API).External.Components.Schemas, op.Responses[status].Content["application/json"].Schema,
		huma.NewPathBuffer([]byte("body"), 0), huma.ModeReadFromServer, value, &found)
	require.Empty(t, found.Errors, "%s", body)
}

// own are properties whose values are nobody else's: what kind they are of is
// all that an example can tell. In messages that holds for numbers.
var (
	own    = regexp.MustCompile(`^(id|retry_after|workflow_id|.*_at|next_cursor|upload_id|upload_url)$`)
	digits = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+`)
)

// general makes the bodies of one situation equal, whenever and on whatever it
// came about.
func general(t *testing.T, body []byte) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	return generalise("", value)
}

func generalise(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = generalise(key, inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = generalise(name, inner)
		}
		if name == "task_ids" {
			return fmt.Sprintf("%d ids", len(v))
		}
	case string:
		if own.MatchString(name) {
			return "a text"
		}
		if name == "message" {
			return digits.ReplaceAllString(v, "0")
		}
	case float64:
		if own.MatchString(name) {
			return "a number"
		}
	}
	return value
}

// TestExamplesOfRequestsAreAccepted sends every example of a body.
func TestExamplesOfRequestsAreAccepted(t *testing.T) {
	t.Parallel()
	for id, op := range setup(t).operations() {
		if op.RequestBody == nil {
			continue
		}
		b := worldFor(t, op)
		for name := range op.RequestBody.Content["application/json"].Examples {
			c := b.call(t, op)
			c.body = requestExample(t, op, name)
			require.Less(t, c.send(t, b).Status, http.StatusBadRequest, "%s %s", id, name)
		}
	}
}
