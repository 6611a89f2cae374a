package activities_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

func TestRowsBecomeTasksWithTheirFiles(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	raw := dbtest.Zip(t, texts("b.txt", "in/a.txt", "unused.txt", "__MACOSX/._b.txt")...)
	u := h.upload(raw, captioned("in/a.txt", "b.txt", "b.txt")...)
	got, result := h.run(u)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, []int{3, 3, 3, 0}, []int{got.RowsTotal, got.RowsDone, got.SuccessCount, got.ErrorCount})
	require.Equal(t, int64(len("this is in/a.txt")+len("this is b.txt")), got.BytesTotal, "what rows name, each file once")
	require.Equal(t, got.BytesTotal, got.BytesDone)
	require.Equal(t, []store.UploadSkip{
		{Entry: "__MACOSX/._b.txt", Reason: "metadata that macOS adds"},
		{Entry: "unused.txt", Reason: "no row that can become a task names it"},
	}, got.Skipped)
	require.Len(t, result.TaskIDs, 3)

	var value seeding.File
	in := h.input(result.TaskIDs[0])
	require.JSONEq(t, `"row 0"`, string(in["caption"]))
	require.NoError(t, json.Unmarshal(in["doc"], &value))
	sum := sha256.Sum256([]byte("this is in/a.txt"))
	id := uuid.NewSHA1(u.ID, []byte("in/a.txt"))
	require.Equal(t, seeding.File{
		FileID: id.String(), Name: "a.txt", Size: 16, ContentType: "text/plain; charset=utf-8", SHA256: hex.EncodeToString(sum[:]),
	}, value)
	files, err := h.Store.FilesByID(t.Context(), h.OrgID, []uuid.UUID{id})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("org/%d/files/%s/%s", h.OrgID, u.ID, id), files[0].Key)
	require.Equal(t, "this is in/a.txt", string(h.held[files[0].Key]))
	require.Len(t, h.files(), 2)
	require.Contains(t, h.held, u.ObjectKey, "the archive is needed again where Postgres loses this end")
	require.Equal(t, h.input(result.TaskIDs[1])["doc"], h.input(result.TaskIDs[2])["doc"], "a file of two rows is one file")
	for _, n := range h.puts {
		require.Equal(t, 1, n)
	}
}

func TestRowsComeFromTopLevelFiles(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("photo", ".txt"))))
	u := h.upload(dbtest.Zip(t, texts("a.txt", "b.txt", "c.pdf", "in/d.txt", ".DS_Store")...))
	got, result := h.run(u)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, []int{3, 2, 1, 2}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount, got.SkippedCount})
	require.Len(t, result.Errors, 1)
	require.Equal(t, "photo", result.Errors[0].FieldName)
	require.Contains(t, result.Errors[0].Message, "c.pdf")
	require.Len(t, h.files(), 2, "what no field takes is not stored")
}

func TestRowsComeFromTopLevelFolders(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("front"), dbtest.FileField("back"))))
	u := h.upload(dbtest.Zip(t, texts("one/front.txt", "one/back.txt", "three/front.txt", "two/Front.TXT", "two/back.txt", "two/side.txt", "zero.txt")...))
	got, result := h.run(u)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, []int{3, 1, 2, 1}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount, got.SkippedCount})
	require.Len(t, result.Errors, 2)
	for i, name := range []string{"three", "two/side.txt"} {
		require.Contains(t, result.Errors[i].Message, name, "the caller never saw the row's index")
	}
	require.Len(t, h.files(), 2)
}

func TestAFolderWithoutFilesIsARowToo(t *testing.T) {
	t.Parallel()
	optional := dbtest.FileField("back")
	optional.Required = false
	for required, want := range map[bool][]int{true: {3, 2, 1}, false: {3, 3, 0}} {
		front := dbtest.FileField("front")
		front.Required = required
		h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(front, optional)))
		entries := append(texts("one/front.txt", "three/front.txt"), dbtest.ZipEntry{Name: "a/"})
		got, result := h.run(h.upload(dbtest.Zip(t, entries...)))
		require.Equal(t, store.UploadCompleted, got.Status)
		require.Equal(t, want, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount})
		require.Len(t, result.Errors, want[2])
		for _, e := range result.Errors {
			require.Zero(t, e.Index, "in byte order, it lies before one and three")
			require.Contains(t, e.Message, `"a"`, "the caller never saw the row's index")
		}
	}
}

func TestOneBadRowSpoilsNoOther(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(
		form.Field{Name: "caption", Title: "Caption", Type: form.ShortText, Input: form.Seeded, Required: true},
		limited(dbtest.FileField("doc"), 40),
	)))
	inner := dbtest.Zip(t, texts("x")...)
	damaged := []byte("its checksum is of something else")
	entries := append(texts("good.txt", "../climbs.txt", "Twin.txt", "twin.txt", "secret.txt"),
		dbtest.ZipEntry{Name: "large.txt", Body: []byte(strings.Repeat("long ", 100))},
		dbtest.ZipEntry{Name: "nested.bin", Body: inner},
		dbtest.ZipEntry{Body: damaged, Header: &zip.FileHeader{
			Name: "damaged.txt", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte("x")),
			CompressedSize64: uint64(len(damaged)), UncompressedSize64: uint64(len(damaged)),
		}},
		dbtest.ZipEntry{Body: []byte("abc"), Header: &zip.FileHeader{
			Name: "lies.txt", Method: zip.Deflate, CompressedSize64: 3, UncompressedSize64: 30,
		}},
		dbtest.ZipEntry{Body: []byte("abc"), Header: &zip.FileHeader{
			Name: "locked.txt", Method: zip.Store, Flags: 1, CompressedSize64: 3, UncompressedSize64: 3,
		}},
		dbtest.ZipEntry{Name: "empty.txt"},
	)
	paths := []string{
		"good.txt", "../climbs.txt", "Twin.txt", "large.txt", "nested.bin", "damaged.txt", "lies.txt", "locked.txt",
		"missing.txt", "GOOD.txt", "empty.txt", "good.txt",
	}
	rows := captioned(paths...)
	rows = append(rows, store.UploadRow{Index: len(rows), Fields: form.Values{"doc": quote("good.txt")}})
	got, result := h.run(h.upload(dbtest.Zip(t, entries...), rows...))
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, []int{13, 2, 11}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount}, "%v", messages(result))
	told := map[int]string{}
	for _, e := range result.Errors {
		told[e.Index] = e.FieldName + " " + e.Message
	}
	for i, p := range paths {
		switch i {
		case 0, 11:
			require.NotContains(t, told, i)
		default:
			require.Contains(t, told[i], "doc ")
			require.Contains(t, told[i], p, "the error names the entry")
		}
	}
	require.Contains(t, told[12], "caption ")
	require.Contains(t, told[4], "archive")
	require.Len(t, h.files(), 1, "only what tasks have is stored")
}

func limited(f form.Field, most int64) form.Field {
	f.Rules.MaxBytes = &most
	return f
}

func TestNestedArchivesAreForFieldsThatNameThem(t *testing.T) {
	t.Parallel()
	inner := dbtest.Zip(t, texts("x")...)
	for accept, taken := range map[string]bool{".zip": true, "application/zip": true, "application/*": false, "": false} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			field := dbtest.FileField("doc")
			if accept != "" {
				field.Accept = []string{accept}
			}
			h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(field)))
			got, result := h.run(h.upload(dbtest.Zip(t, dbtest.ZipEntry{Name: "inner.zip", Body: inner})))
			if taken {
				require.Equal(t, store.UploadCompleted, got.Status, "%v", messages(result))
				return
			}
			require.Equal(t, store.UploadFailed, got.Status)
			require.Equal(t, store.UploadNoTasks, got.Reason)
			require.Contains(t, result.Errors[0].Message, "inner.zip")
		})
	}
}

func TestAnArchiveThatCannotBeUsedEndsTheUpload(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	small := archive.DefaultLimits()
	small.Entries = 2
	for name, c := range map[string]struct {
		raw    []byte
		limits archive.Limits
		want   string
	}{
		"no ZIP":           {[]byte("GIF89a and so on, long enough to look at"), archive.DefaultLimits(), "not a ZIP"},
		"cut off":          {dbtest.Zip(t, texts("a", "b")...)[:60], archive.DefaultLimits(), "cut off"},
		"too many entries": {dbtest.Zip(t, texts("a", "b", "c")...), small, "entries"},
	} {
		t.Run(name, func(t *testing.T) {
			u := h.upload(c.raw, captioned("a")...)
			h.uploads = activities.NewUploads(h.Store, h, c.limits)
			progress, err := h.inspect(u)
			require.NoError(t, err)
			require.True(t, progress.Over)
			require.Equal(t, store.UploadFailed, progress.Status)
			got, _ := h.LoadUpload(t, u.ID)
			require.Equal(t, store.UploadArchive, got.Reason)
			require.Contains(t, got.Message, c.want)
			require.Contains(t, h.held, u.ObjectKey, "the sweep deletes it")
		})
	}
}

func TestLargeUploadsGoInBatches(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	var names []string
	for i := range 1201 {
		names = append(names, fmt.Sprintf("%04d.txt", i))
	}
	batches := 0
	h.uploads = activities.NewUploads(lossy{h.Store, func() bool { batches++; return false }}, h, h.limits)
	got, result := h.run(h.upload(dbtest.Zip(t, texts(names...)...), captioned(names...)...))
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Len(t, result.TaskIDs, 1201)
	require.IsIncreasing(t, result.TaskIDs)
	require.Equal(t, 3, batches)
}

func TestAnUploadThatHasEndedIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
	require.Equal(t, store.UploadCancelled, h.finish(u, store.UploadOperator).Status)
	progress, err := h.inspect(u)
	require.NoError(t, err)
	require.True(t, progress.Over)
	progress, err = h.ingest(u)
	require.NoError(t, err)
	require.True(t, progress.Over)
	require.Equal(t, store.UploadOperator, h.finish(u, "").Reason, "the first end stays")
}

func TestAnUnknownUploadIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	for _, id := range []string{uuid.NewString(), "no id"} {
		_, err := h.env().ExecuteActivity(h.uploads.InspectArchive, activities.UploadRef{UploadID: id})
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.True(t, app.NonRetryable())
		require.Equal(t, string(fault.NotFound), app.Type())
	}
}

func TestErrorsOfUploadsCarryNoValues(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
	for _, cause := range []error{errAway.Because(errors.New("dial 10.0.0.1: secret")), errors.New("secret")} {
		h.onRead = func(string) error { return cause }
		_, err := h.inspect(u)
		requireRetryable(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestTheSweepTidiesUp(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	done, late := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...), h.upload([]byte("x"), captioned("a")...)
	stuck := h.upload(dbtest.Zip(t, texts("a")...), captioned("a")...)
	h.run(done)
	require.Contains(t, h.held, done.ObjectKey)
	owned := h.files()
	require.Len(t, owned, 1)
	unowned := fmt.Sprintf("org/%d/files/%s/", h.OrgID, done.ID)
	for range 5 { // left by workers that died
		h.held[unowned+uuid.NewString()] = []byte("x")
	}
	h.exec(`UPDATE uploads SET expires_at = now() - interval '25 hours' WHERE id <> $1`, stuck.ID)
	h.exec(`UPDATE uploads SET status = 'pending', confirmed_at = NULL WHERE id = $1`, late.ID)
	h.exec(`UPDATE uploads SET ring_at = NULL, updated_at = now() - interval '1 hour' WHERE id = $1`, stuck.ID)
	sweep := func() (out activities.SweepResult, err error) {
		v, err := h.env().ExecuteActivity(h.uploads.SweepUploads)
		if err == nil {
			err = v.Get(&out)
		}
		return out, err
	}
	h.onDelete = func(string) error { return errAway }
	_, err := sweep()
	requireUnswept(t, err)
	got, _ := h.LoadUpload(t, late.ID)
	require.Equal(t, []string{store.UploadCancelled, store.UploadExpired}, []string{got.Status, got.Reason})
	require.Equal(t, 1, h.count(`SELECT count(*) FROM uploads WHERE ring_at IS NOT NULL AND id = $1`, stuck.ID), "rung all the same")

	h.onDelete = nil
	out, err := sweep()
	require.NoError(t, err)
	require.Equal(t, activities.SweepResult{Swept: 2}, out)
	require.NotContains(t, h.held, done.ObjectKey)
	require.NotContains(t, h.held, late.ObjectKey)
	require.Equal(t, owned, h.files(), "what a task has stays, the rest goes")
	require.Equal(t, 1, h.count(`SELECT count(*) FROM upload_rows WHERE upload_id = $1 AND status = 'waiting' AND fields = '{}'`, late.ID))
	require.Contains(t, h.held, stuck.ObjectKey)
	out, err = sweep()
	require.NoError(t, err)
	require.Zero(t, out)
}
