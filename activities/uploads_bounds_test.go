package activities_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// counted notes how many files the rows of each write name, and how many rows fail.
type counted struct {
	activities.UploadStore
	mu     sync.Mutex
	named  []int
	failed []int
}

func (c *counted) FinishRows(ctx context.Context, in store.FinishRows) (store.FinishedRows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range in.Created {
		n += len(t.Files)
	}
	c.named = append(c.named, n)
	c.failed = append(c.failed, len(in.Failed))
	return c.UploadStore.FinishRows(ctx, in)
}

// manyNamed is a pipeline with a field for many files, and rows that name a thousand each.
func manyNamed(t *testing.T) (h *hall, c *counted, names []string, rows []store.UploadRow) {
	t.Helper()
	many := dbtest.FileField("docs")
	many.Multiple = true
	h = newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(many)))
	names = make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("%03d", i)
	}
	rows = make([]store.UploadRow, 25)
	for i := range rows {
		rows[i] = store.UploadRow{Index: i, Fields: form.Values{"docs": quote(names)}}
	}
	c = &counted{UploadStore: h.Store}
	h.uploads = activities.NewUploads(c, h, h.limits)
	return h, c, names, rows
}

// Rows that name many files, though few bytes, do not all come into one batch.
func TestABatchIsBoundedByTheFilesThatItsRowsName(t *testing.T) {
	t.Parallel()
	h, c, names, rows := manyNamed(t)
	got, _ := h.run(h.upload(dbtest.Zip(t, texts(names...)...), rows...))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, 25, got.SuccessCount)
	require.Equal(t, []int{10_000, 10_000, 5000}, c.named)
	require.Equal(t, 1000, h.count(`SELECT count(*) FROM files`))
}

// What a row names in vain takes memory, too, and is told of in part.
func TestABatchIsBoundedByTheMissingFilesThatItsRowsName(t *testing.T) {
	t.Parallel()
	h, c, names, rows := manyNamed(t)
	got, result := h.run(h.upload(dbtest.Zip(t, texts("another")...), rows...))
	require.Equal(t, store.UploadFailed, got.Status, got.Message)
	require.Equal(t, 25, got.ErrorCount)
	require.Equal(t, []int{10, 10, 5}, c.failed)
	require.Len(t, result.Errors, 25*21)
	for i, e := range result.Errors {
		require.Equal(t, i/21, e.Index)
		if i%21 == 0 {
			require.Equal(t, "has 1000 problems, of which the first 20 are listed", e.Message)
			continue
		}
		require.Equal(t, "docs", e.FieldName)
		require.Contains(t, e.Message, fmt.Sprintf("%q", names[i%21-1]))
	}
}

// Of many errors the first by field are told, whichever check they come from.
func TestARowTellsTheFirstOfManyErrors(t *testing.T) {
	t.Parallel()
	front, back := dbtest.FileField("front", "image/png"), dbtest.FileField("back", "image/png")
	front.Multiple, back.Multiple = true, true
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(front, back)))
	var there, missing []string
	for i := range 15 {
		there, missing = append(there, fmt.Sprintf("%02d.txt", i)), append(missing, fmt.Sprintf("%02d.png", i))
	}
	got, result := h.run(h.upload(dbtest.Zip(t, texts(there...)...),
		store.UploadRow{Index: 0, Fields: form.Values{"front": quote(missing), "back": quote(missing)}},
		store.UploadRow{Index: 1, Fields: form.Values{"front": quote(there), "back": quote(there)}},
	))
	require.Equal(t, store.UploadFailed, got.Status, got.Message)
	require.Len(t, result.Errors, 42)
	for row, names := range [][]string{missing, there} {
		told := result.Errors[row*21:][:21]
		require.Equal(t, "has 30 problems, of which the first 20 are listed", told[0].Message)
		for i, e := range told[1:] {
			require.Equal(t, row, e.Index)
			require.Equal(t, map[bool]string{true: "back", false: "front"}[i < 15], e.FieldName)
			require.Contains(t, e.Message, fmt.Sprintf("%q", names[i%15]))
		}
	}
}

// A file that the object store will never take costs the rows that name it.
func TestAFileThatIsTooLargeForTheStoreCostsItsRow(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	large := true
	var mu sync.Mutex
	h.onPut = func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if large {
			large = false
			return fault.New(fault.PayloadTooLarge, "the object store takes no object of that size")
		}
		return nil
	}
	got, result := h.run(h.upload(dbtest.Zip(t, texts("a", "b", "c")...), captioned("a", "b", "c")...))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, []int{2, 1}, []int{got.SuccessCount, got.ErrorCount})
	require.Contains(t, result.Errors[0].Message, "larger than the object store takes")
}
