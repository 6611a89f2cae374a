package blob_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/blob"
)

// The Reader reads as bytes.Reader does, whatever is asked for.
func TestReadAtIsLikeMemory(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	want := someBytes(30*blob.BlockBytes + 12345) // more than the cache holds
	key, o := stored(t, s, want)
	r := s.Reader(t.Context(), key, o)
	memory := bytes.NewReader(want)
	rapid.Check(t, func(rt *rapid.T) {
		off := rapid.OneOf(
			rapid.Int64Range(0, o.Size+10),
			rapid.Map(rapid.Int64Range(0, 31), func(b int64) int64 { return b * blob.BlockBytes }),
			rapid.Int64Range(o.Size-100, o.Size+10),
		).Draw(rt, "off")
		n := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, 3*blob.BlockBytes)).Draw(rt, "n")
		got, expected := make([]byte, n), make([]byte, n)
		gotN, gotErr := r.ReadAt(got, off)
		wantN, wantErr := memory.ReadAt(expected, off)
		if n == 0 { // where memory is not of one mind
			wantErr = gotErr
		}
		require.Equal(rt, wantN, gotN)
		require.Equal(rt, wantErr, gotErr)
		require.True(rt, bytes.Equal(expected, got))
	})
	_, err := r.ReadAt(make([]byte, 1), -1)
	require.Error(t, err)
	_, err = r.Stream(o.Size, 1)
	require.Error(t, err)
	_, err = r.Stream(-1, 1)
	require.Error(t, err)
	_, err = r.Stream(1, 1<<63-1)
	require.Error(t, err)
	require.Empty(t, content(t, r, o.Size, 0))
	require.True(t, bytes.Equal(want[100:5<<20], content(t, r, 100, 5<<20-100)))
}

func TestConcurrentReadersFetchABlockOnce(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	want := someBytes(4 * blob.BlockBytes)
	key, o := stored(t, m.store, want)
	r := m.store.Reader(t.Context(), key, o)
	m.start()
	var all sync.WaitGroup
	for i := range int64(32) {
		all.Go(func() {
			got := make([]byte, 1000)
			for off := i; off < o.Size-1000; off += 100_003 {
				if _, err := r.ReadAt(got, off); err != nil || !bytes.Equal(got, want[off:off+1000]) {
					t.Errorf("at %d: %v", off, err)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 4, m.requests.Load())
}

func TestABlockThatFailedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	key, o := stored(t, m.store, []byte("content"))
	away := true
	m.before = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		if away {
			slowDown(w)
		}
		return away
	}
	r := m.store.Reader(t.Context(), key, o)
	got := make([]byte, 7)
	_, err := r.ReadAt(got, 0)
	require.Error(t, err)
	away = false
	_, err = r.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "content", string(got))
}

func TestReadingOnReadsAhead(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	want := someBytes(8 * blob.BlockBytes)
	key, o := stored(t, m.store, want)
	r := m.store.Reader(t.Context(), key, o)
	m.start()
	at := func(block int64) {
		_, err := r.ReadAt(make([]byte, 10), block*blob.BlockBytes)
		require.NoError(t, err)
	}
	at(5)
	require.EqualValues(t, 1, m.requests.Load(), "one block alone is not followed")
	at(0)
	at(1)
	require.Eventually(t, func() bool { return m.requests.Load() == 5 }, 10*time.Second, time.Millisecond, "2 and 3 follow")
	at(2)
	at(3)
	require.Eventually(t, func() bool { return m.requests.Load() == 6 }, 10*time.Second, time.Millisecond, "4 follows, 5 is there")
}

func TestAReaderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	key, o := stored(t, m.store, someBytes(1000))
	m.store.StallAfter(time.Hour)
	m.start()
	ctx, cancel := contextWithCause(t)
	m.before = func(int64, http.ResponseWriter, *http.Request) bool { m.hang(); return true }
	r := m.store.Reader(ctx, key, o)
	gone := errors.New("the worker ends")
	failed := make(chan error, 2)
	go func() { _, err := r.ReadAt(make([]byte, 1), 0); failed <- err }()
	go func() { _, err := r.Stream(0, 1); failed <- err }()
	require.Eventually(t, func() bool { return m.requests.Load() == 2 }, 10*time.Second, time.Millisecond)
	cancel(gone)
	require.ErrorIs(t, <-failed, gone)
	require.ErrorIs(t, <-failed, gone)
}

func TestAnArchiveIsReadByRanges(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for i := range 300 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: string(rune('a'+i%26)) + string(rune('0'+i/26)), Method: zip.Store})
		require.NoError(t, err)
		_, err = f.Write(someBytes(10_000 + i))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	key, o := stored(t, m.store, archive.Bytes())
	m.start()
	reader, err := zip.NewReader(m.store.Reader(t.Context(), key, o), o.Size)
	require.NoError(t, err)
	for i, f := range reader.File {
		content, err := f.Open()
		require.NoError(t, err)
		got, err := io.ReadAll(content)
		require.NoError(t, err)
		require.True(t, bytes.Equal(someBytes(10_000+i), got))
	}
	require.Equal(t, (o.Size+blob.BlockBytes-1)/blob.BlockBytes, m.requests.Load())
}
