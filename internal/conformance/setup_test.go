package conformance

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// deployment is the production handler over a real database, with a workflow
// and a key of every sort.
type deployment struct {
	world   *dbtest.World
	objects *blob.Store
	target  Target
}

func newDeployment(t *testing.T) deployment {
	t.Helper()
	w := dbtest.NewWorld(t, dbtest.WithDefinition(texts()))
	file := func(name string) form.Field {
		return form.Field{Name: name, Title: "File " + name, Type: form.FileUpload, Required: true}
	}
	add := func(status string, fields ...form.Field) int64 {
		id, _ := w.AddPipeline(t, definition(fields...), status)
		return id
	}
	note := form.Field{Name: "note", Title: "A note", Type: form.ShortText, Required: true}
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	leaver := w.AddUser(t, "leaver1", "org_admin", "")
	d := deployment{world: w, objects: bucketOf(t), target: Target{
		Key: w.KeyValue, Workflow: w.PipelineID, ForeignWorkflow: other.PipelineID,
		FileWorkflow: add("ACTIVE", file("scan")), FolderWorkflow: add("ACTIVE", file("front"), file("back")),
		MixedWorkflow: add("ACTIVE", file("scan"), note), PausedWorkflow: add("PAUSED", note), DraftWorkflow: add("DRAFT", note),
		CompletedWorkflow: add("COMPLETED", note), ArchivedWorkflow: add("ARCHIVED", note),
		// Given, so that a broken schema endpoint breaks what is about it only.
		Item: map[string]any{"question": "What is 6 times 7?", "topic": "algebra"},
	}}
	newKey := func(name string, creator int64, expires *time.Time) (id int64, value string) {
		value, err := apikey.Generate(rand.Reader)
		require.NoError(t, err)
		k, err := w.Store.CreateKey(t.Context(), w.OrgID, creator, name, apikey.Hash(value), apikey.Last4(value), expires, w.Admin)
		require.NoError(t, err)
		return k.ID, value
	}
	past := time.Now().Add(-time.Hour)
	_, d.target.ExpiredKey = newKey("expired", w.Admin, &past)
	_, d.target.SpareKey = newKey("spare", w.Admin, nil)
	_, d.target.RemovedCreatorKey = newKey("orphan", leaver, nil)
	w.RemoveUser(t, leaver)
	revoked, value := newKey("revoked", w.Admin, nil)
	_, err := w.Store.RevokeKey(t.Context(), w.OrgID, revoked, w.Admin)
	require.NoError(t, err)
	d.target.RevokedKey = value
	ingest(t, w.Store, d.objects)
	return d
}

// alone is the target with a workflow that nobody else uses: runs beside each
// other would find each other's tasks.
func (d deployment) alone(t *testing.T) Target {
	t.Helper()
	target := d.target
	target.Workflow, _ = d.world.AddPipeline(t, texts(), "ACTIVE")
	return target
}

// Rates of a key: ample is more than a run needs, tight is over within what a
// test can wait, and reached on the slowest machine.
var (
	ample = limit.Rate{Limit: 100_000, Period: time.Minute}
	tight = limit.Rate{Limit: 80, Period: 8 * time.Second}
)

// handler is the production handler, with buckets of its own.
func (d deployment) handler(forKeys limit.Rate) http.Handler {
	return api.New(api.Deps{
		Store: d.world.Store, Logger: slog.New(slog.DiscardHandler),
		SecretKey: []byte("a secret of at least 32 characters"), PublicURL: "http://taskloom.test",
		Uploads: v1.Uploads{Objects: d.objects, MaxArchiveBytes: 1 << 62},
		Limits: limit.Memory(limit.Rates{
			limit.Key: forKeys, limit.Address: ample, limit.FailedAuth: {Limit: 60, Period: time.Minute},
		}),
	})
}

// texts is a pipeline without files.
func texts() pipeline.Definition {
	return definition(
		form.Field{Name: "question", Title: "The question", Type: form.LongText, Required: true},
		form.Field{Name: "topic", Title: "Topic", Type: form.Select, Options: []form.Option{{Value: "algebra"}, {Value: "logic"}}},
	)
}

// definition is a pipeline with one subtask and these fields, seeded.
func definition(fields ...form.Field) pipeline.Definition {
	d := dbtest.Simple()
	d.Name = "Conformance " + rand.Text()
	for i := range fields {
		fields[i].Input = form.Seeded
	}
	d.Nodes[1].Fields = slices.Concat(fields, []form.Field{{Name: "answer", Title: "Answer", Type: form.ShortText, Input: form.Contributor}})
	return d
}

// run serves the handler and runs the suite against it.
func run(t *testing.T, h http.Handler, target Target, o Options) Report {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	target.BaseURL, o.Client, o.Poll = server.URL, server.Client(), time.Millisecond
	var mu sync.Mutex
	o.Log = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		t.Logf(format, args...)
	}
	report, err := Run(t.Context(), target, o)
	require.NoError(t, err)
	return report
}

// failed lists the ids of what did not pass.
func (r Report) failed() []string {
	ids := []string{}
	for _, result := range r.Results {
		if result.Outcome != Passed {
			ids = append(ids, result.ID)
		}
	}
	return ids
}
