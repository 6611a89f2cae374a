package blob_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
)

// unseekable hides what a reader can do beside reading.
type unseekable struct{ io.Reader }

// zeros yields as many bytes as one wants.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestABodyOfAnotherLengthLeavesNothing(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	for _, size := range []int{0, 1, 5000, 256 << 10, 256<<10 + 1, 1 << 20, 5 << 20} {
		for _, differs := range []int{-5000, -1, 1, 5000} {
			if size+differs < 0 {
				continue
			}
			body := someBytes(size + differs)
			for name, from := range map[string]io.Reader{
				"whole": unseekable{bytes.NewReader(body)}, "seekable": bytes.NewReader(body),
				"end with data": iotest.DataErrReader(bytes.NewReader(body)),
			} {
				key := newKey(t)
				require.ErrorIs(t, put(t.Context(), s, key, int64(size), from), blob.ErrLength, "%s %d%+d", name, size, differs)
				requireAbsent(t, s, key)
			}
		}
	}
}

type sourceError struct{ name string }

func (e *sourceError) Error() string { return e.name + " is broken" }

func TestTheReadersErrorComesThrough(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	broken := &sourceError{"entry"}
	for _, size := range []int64{1000, 1 << 20, 8 << 20} {
		for _, good := range []int64{0, 500, size - 1, size} {
			key := newKey(t)
			from := io.MultiReader(io.LimitReader(zeros{}, good), iotest.ErrReader(broken))
			err := put(t.Context(), s, key, size, from)
			require.ErrorIs(t, err, broken, "%d of %d", good, size)
			got, ok := errors.AsType[*sourceError](err)
			require.True(t, ok)
			require.Equal(t, "entry", got.name)
			requireAbsent(t, s, key)
		}
	}
}

func TestAFailedPutLeavesTheOldObject(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	want := someBytes(2 << 20)
	key, o := stored(t, s, want)
	err := put(t.Context(), s, key, 3<<20, io.LimitReader(zeros{}, 2<<20))
	require.ErrorIs(t, err, blob.ErrLength)
	require.True(t, bytes.Equal(want, content(t, s.Reader(t.Context(), key, o), 0, o.Size)))
}

// What is held before it is sent is signed whole: a byte that changes on the way is
// found out by the store.
func TestAShortBodyIsSigned(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	m.before = func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			_, _ = r.Body.Read(make([]byte, 1))
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("X"), r.Body))
		}
		return false
	}
	key := newKey(t)
	err := put(t.Context(), m.store, key, 1000, bytes.NewReader(someBytes(1000)))
	require.ErrorContains(t, err, "XAmzContentSHA256Mismatch")
	requireAbsent(t, m.store, key)
}

// Over TLS, too, where the SDK would leave it to the connection. What is sent as it
// comes has no hash yet.
func TestAShortBodyIsSignedOverTLS(t *testing.T) {
	t.Parallel()
	for size, signed := range map[int]bool{0: true, 1000: true, 256 << 10: true, 256<<10 + 1: false} {
		body := someBytes(size)
		s := blob.Open(blob.Config{Endpoint: "https://store.test", Region: "here", Bucket: "b", AccessKeyID: "id", SecretAccessKey: "secret"})
		s.Over(sends(func(r *http.Request) (*http.Response, error) {
			want := "UNSIGNED-PAYLOAD"
			if signed {
				want = fmt.Sprintf("%x", sha256.Sum256(body))
			}
			require.Equal(t, want, r.Header.Get("X-Amz-Content-Sha256"), "%d bytes", size)
			if size > 0 {
				got, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, body, got)
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
		require.NoError(t, put(t.Context(), s, "key", int64(size), bytes.NewReader(body)))
	}
}

type sends func(*http.Request) (*http.Response, error)

func (s sends) Do(r *http.Request) (*http.Response, error) { return s(r) }

func TestACancelledPutSaysSo(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	ctx, cancel := contextWithCause(t)
	key := newKey(t)
	gone := errors.New("the worker ends")
	from := io.MultiReader(io.LimitReader(zeros{}, 1<<20), readerFunc(func([]byte) (int, error) {
		cancel(gone)
		return 0, nil
	}), zeros{})
	require.ErrorIs(t, put(ctx, s, key, 4<<30, from), gone)
	requireAbsent(t, s, key)
}

// Not parallel: it looks at the memory of the whole process.
func TestALongObjectIsNeverHeld(t *testing.T) {
	const size = 64 << 20
	s := blob.Open(gateway(t))
	key := newKey(t)
	before := allocated()
	require.NoError(t, put(t.Context(), s, key, size, unseekable{io.LimitReader(zeros{}, size)}))
	o, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	require.EqualValues(t, size, o.Size)
	stream, err := s.Reader(t.Context(), key, o).Stream(0, size)
	require.NoError(t, err)
	defer stream.Close()
	n, err := io.Copy(onlyWriter{io.Discard}, stream)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	require.Less(t, allocated()-before, uint64(4<<20), "bytes allocated")
}

type onlyWriter struct{ io.Writer }

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestNobodyReadsTheBodyAfterPut(t *testing.T) {
	t.Parallel()
	c := gateway(t)
	c.SecretAccessKey = "wrong" // refused while the body is on its way
	s := blob.Open(c)
	for range 20 {
		body := strings.Repeat("x", 1<<20)
		over := false // a race, if anybody still reads
		from := readerFunc(func(p []byte) (int, error) {
			require.False(t, over)
			n := copy(p, body)
			body = body[n:]
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		})
		require.Error(t, put(t.Context(), s, "test/refused", 1<<20, from))
		over = true
	}
}
