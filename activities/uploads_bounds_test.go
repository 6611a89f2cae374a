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

// counted notes how many files the rows of each write name.
type counted struct {
	activities.UploadStore
	mu    sync.Mutex
	named []int
}

func (c *counted) FinishRows(ctx context.Context, in store.FinishRows) (store.FinishedRows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range in.Created {
		n += len(t.Files)
	}
	c.named = append(c.named, n)
	return c.UploadStore.FinishRows(ctx, in)
}

// Rows that name many files, though few bytes, do not all come into one batch.
func TestABatchIsBoundedByTheFilesThatItsRowsName(t *testing.T) {
	t.Parallel()
	many := dbtest.FileField("docs")
	many.Multiple = true
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(many)))
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("%03d", i)
	}
	rows := make([]store.UploadRow, 25)
	for i := range rows {
		rows[i] = store.UploadRow{Index: i, Fields: form.Values{"docs": quote(names)}}
	}
	c := &counted{UploadStore: h.Store}
	h.uploads = activities.NewUploads(c, h, h.limits)
	got, _ := h.run(h.upload(dbtest.Zip(t, texts(names...)...), rows...))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, 25, got.SuccessCount)
	require.Equal(t, []int{10_000, 10_000, 5000}, c.named)
	require.Equal(t, 1000, h.count(`SELECT count(*) FROM files`))
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
