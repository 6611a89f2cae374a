package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// exampleArchive is the size of the archive in the examples.
const exampleArchive = 4 << 20

// shelf is an object store that has every archive, in one size, or none.
type shelf struct {
	size int64
	err  error
}

func (shelf) PresignPut(_ context.Context, key, _ string, _ time.Duration) (string, error) {
	return "https://storage.test/" + key + "?X-Amz-Signature=0", nil
}

func (s shelf) Head(context.Context, string) (blob.Object, error) {
	return blob.Object{Size: s.size, ETag: `"e"`}, s.err
}

// What uploads find where all is well.
var (
	stock = shelf{size: exampleArchive}
	ready = v1.Uploads{Objects: stock}
)

// uploading serves a world's uploads from an object store.
func uploading(t *testing.T, w *dbtest.World, objects v1.Objects, reachable error) *bench {
	t.Helper()
	return serve(t, w, func(d *api.Deps) {
		d.Uploads = v1.Uploads{Objects: objects, Reachable: func(context.Context) error { return reachable }}
	})
}

// withScan is a pipeline whose tasks come with a file.
func withScan() pipeline.Definition {
	d := dbtest.Simple()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{Name: "scan", Title: "Scan", Type: form.FileUpload, Input: form.Seeded, Required: true})
	return d
}

// uploads are the situations of the three upload operations.
func uploads() map[string]situation {
	return map[string]situation{
		"accepted": asItIs, "processing": asItIs, "pending": asItIs,
		"getUpload processing": confirmed(nil),
		"completed":            confirmed(workedOff),
		"failed": confirmed(func(t *testing.T, b *bench, id uuid.UUID) {
			t.Helper()
			plan(t, b, id, store.UploadPlan{})
			finish(t, b, id, store.UploadEnd{Status: store.UploadFailed, Reason: store.UploadArchive, Message: "the file is not a ZIP, or was cut off: put the files into a ZIP and upload it whole"})
		}),
		"not_confirmed_in_time": expired, "no_longer_pending": expired,

		"no_such_upload":               at("upload_id", uuid.NewString()),
		"upload_id_is_no_id":           at("upload_id", "abc"),
		"creator_removed":              after(`UPDATE org_members SET removed_at = now() WHERE user_id = (SELECT created_by FROM api_keys)`),
		"tasks_required":               posting("", `{}`),
		"initUpload body_does_not_fit": posting("", `{"file_size_bytes": "4 MB"}`),
		"needs_no_upload": func(t *testing.T, b *bench, op *huma.Operation) answer {
			t.Helper()
			c := b.call(t, op)
			c.path["workflow_id"], _ = b.AddPipeline(t, dbtest.Definition(), "ACTIVE")
			return c.send(t, b)
		},

		"confirmed_already": func(t *testing.T, b *bench, op *huma.Operation) answer {
			t.Helper()
			c := b.call(t, op)
			require.Equal(t, http.StatusAccepted, c.send(t, b).Status)
			return c.send(t, b)
		},
		"not_stored":       stocked(shelf{err: fault.New(fault.NotFound, "absent")}, nil),
		"empty":            stocked(shelf{}, nil),
		"stored_too_large": stocked(shelf{size: 6_000_000_000}, nil),
		"no_worker":        stocked(shelf{size: exampleArchive}, errors.New("canary")),
		// Nobody listens there.
		"storage_away": stocked(blob.Open(blob.Config{
			Endpoint: "http://127.0.0.1:1", Region: "us-east-1", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s",
		}), nil),
	}
}

// started makes an upload that awaits its archive.
func (b *bench) started(t *testing.T) string {
	t.Helper()
	init := b.operations()["initUpload"]
	a := b.v1(t, http.MethodPost, b.workflow("/tasks/upload"), requestExample(t, init, "with_tasks"))
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Raw)
	return a.Body["upload_id"].(string)
}

// stocked sends the good request to a server with another shelf.
func stocked(objects v1.Objects, reachable error) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		return b.call(t, op).send(t, uploading(t, b.World, objects, reachable))
	}
}

// confirmed lets a run, played by then, work on a confirmed upload.
func confirmed(then func(t *testing.T, b *bench, id uuid.UUID)) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		c := b.call(t, op)
		id := uuid.MustParse(c.path["upload_id"].(string))
		confirm := c
		confirm.op = b.operations()["confirmUpload"]
		require.Equal(t, http.StatusAccepted, confirm.send(t, b).Status)
		if then == nil {
			then = halfway
		}
		then(t, b, id)
		return c.send(t, b)
	}
}

func plan(t *testing.T, b *bench, id uuid.UUID, p store.UploadPlan) {
	t.Helper()
	require.NoError(t, b.Store.SaveUploadPlan(t.Context(), id, p))
}

func finish(t *testing.T, b *bench, id uuid.UUID, end store.UploadEnd) {
	t.Helper()
	_, err := b.Store.FinishUpload(t.Context(), id, end)
	require.NoError(t, err)
}

// halfway has made a task of the first of two rows.
func halfway(t *testing.T, b *bench, id uuid.UUID) {
	t.Helper()
	plan(t, b, id, store.UploadPlan{
		BytesTotal: exampleArchive, SkippedCount: 1,
		Skipped: []store.UploadSkip{{Entry: "__MACOSX/._0001.png", Reason: "archive litter"}},
	})
	version, err := b.Store.Version(t.Context(), b.VersionID)
	require.NoError(t, err)
	state, err := pipeline.Start(version.Graph, nil)
	require.NoError(t, err)
	_, err = b.Store.FinishRows(t.Context(), store.FinishRows{
		UploadID: id, VersionID: b.VersionID,
		Created: []store.UploadTask{{Index: 0, Input: form.Values{"question": json.RawMessage(`"?"`)}, State: state, Bytes: exampleArchive / 2}},
	})
	require.NoError(t, err)
}

// workedOff found no file for the second row.
func workedOff(t *testing.T, b *bench, id uuid.UUID) {
	t.Helper()
	halfway(t, b, id)
	_, err := b.Store.FinishRows(t.Context(), store.FinishRows{UploadID: id, VersionID: b.VersionID, Failed: []store.UploadRow{{
		Index: 1, Errors: []seeding.ItemError{{Index: 1, FieldName: "scan", Message: `the archive has no file "scans/0002.png"`}},
	}}})
	require.NoError(t, err)
	finish(t, b, id, store.UploadEnd{})
}

// expired is an upload whose archive never came.
func expired(t *testing.T, b *bench, op *huma.Operation) answer {
	t.Helper()
	c := b.call(t, op)
	b.exec(t, `UPDATE uploads SET expires_at = now() - interval '1 hour', created_at = created_at - interval '2 hours' WHERE id = $1`, c.path["upload_id"])
	_, err := b.Store.ExpireUploads(t.Context(), 100)
	require.NoError(t, err)
	return c.send(t, b)
}
