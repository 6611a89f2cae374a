package activities_test

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// What stumbles over the bytes of one file costs the rows that name it, and not the
// worker that reads them.
func TestAPanicOverAnEntryCostsItsRow(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	u := h.upload(dbtest.Zip(t, texts("a", "b", "c")...), captioned("a", "b", "c")...)
	bad := uuid.NewSHA1(u.ID, []byte("b")).String()
	h.onPut = func(key string) error {
		if strings.HasSuffix(key, bad) {
			panic("the parser's secret")
		}
		return nil
	}
	got, result := h.run(u)
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, []int{2, 1}, []int{got.SuccessCount, got.ErrorCount})
	require.Equal(t, []string{`1 doc the entry "b" could not be read; the operator's log says what went wrong`}, messages(result))
	require.Len(t, h.files(), 2)
}

// elsewhere is an object store that reads what it stores in a goroutine of its own, as
// HTTP clients do.
type elsewhere struct {
	*shelf

	reads atomic.Bool
}

func (e *elsewhere) Put(ctx context.Context, key, contentType string, size int64, body io.Reader) (string, error) {
	type end struct {
		sum string
		err error
	}
	ended := make(chan end)
	e.reads.Store(true)
	go func() {
		sum, err := e.shelf.Put(ctx, key, contentType, size, body)
		ended <- end{sum, err}
	}()
	out := <-ended
	return out.sum, out.err
}

func TestAPanicWhileTheObjectStoreReadsCostsTheRow(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	large := make([]byte, 256<<10) // more than is looked at before it is stored
	_, _ = rand.NewChaCha8([32]byte{}).Read(large[1:])
	u := h.upload(dbtest.Zip(t, dbtest.ZipEntry{Name: "large", Body: large}), captioned("large")...)
	away := &elsewhere{shelf: h.shelf}
	h.uploads = activities.NewUploads(h.Store, away, h.limits)
	h.onRead = func(string) error {
		if away.reads.Load() {
			panic("the parser's secret")
		}
		return nil
	}
	got, result := h.run(u)
	require.Equal(t, []string{store.UploadFailed, store.UploadNoTasks}, []string{got.Status, got.Reason})
	require.Equal(t, []string{`0 doc the entry "large" could not be read; the operator's log says what went wrong`}, messages(result))
	require.Empty(t, h.files())
}
