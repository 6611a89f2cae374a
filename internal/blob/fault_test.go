package blob_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
)

func TestAStoreThatIsAwayIsToldSoon(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := gateway(t)
	c.Endpoint = "http://" + l.Addr().String()
	require.NoError(t, l.Close()) // nobody listens there now
	s := blob.Open(c)
	r := s.Reader(t.Context(), "k", blob.Object{Size: 10, ETag: `"x"`})
	for name, call := range map[string]func() error{
		"head":   func() error { _, err := s.Head(t.Context(), "k"); return err },
		"delete": func() error { return s.Delete(t.Context(), "k") },
		"put":    func() error { return put(t.Context(), s, "k", 1, bytes.NewReader([]byte("x"))) },
		"long put": func() error {
			return put(t.Context(), s, "k", 1<<20, io.LimitReader(zeros{}, 1<<20))
		},
		"read at": func() error { _, err := r.ReadAt(make([]byte, 1), 0); return err },
		"stream":  func() error { _, err := r.Stream(0, 10); return err },
		"check":   func() error { return s.Check(t.Context()) },
	} {
		begun := time.Now()
		err := call()
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%s: %v", name, err)
		require.Less(t, time.Since(begun), 3*time.Second, name)
	}
}

func TestHeadDoesNotWaitForASlowStore(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	m.before = func(int64, http.ResponseWriter, *http.Request) bool { m.hang(); return true }
	begun := time.Now()
	_, err := m.store.Head(t.Context(), "k")
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.Less(t, time.Since(begun), 2*time.Second)
}

func TestAStoreSaysThatAnObjectIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a store": `<?xml version="1.0"?><Error><Code>EntityTooLarge</Code><Message>x</Message></Error>`, "a proxy": "",
	} {
		m := meddle(t)
		m.before = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			status := http.StatusBadRequest
			if body == "" {
				status = http.StatusRequestEntityTooLarge
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
		err := put(t.Context(), m.store, "k", 1, bytes.NewReader([]byte("x")))
		require.Equal(t, fault.PayloadTooLarge, fault.KindOf(err), "%s: %v", name, err)
	}
}

func TestABusyStoreIsAskedAgain(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	key, o := stored(t, m.store, []byte("content"))
	busy := int64(1)
	m.before = func(n int64, w http.ResponseWriter, r *http.Request) bool {
		if n <= busy {
			_, _ = io.Copy(io.Discard, r.Body)
			slowDown(w)
		}
		return n <= busy
	}
	r := m.store.Reader(t.Context(), key, o)
	calls := map[string]func() error{
		"head":    func() error { _, err := m.store.Head(t.Context(), key); return err },
		"put":     func() error { return put(t.Context(), m.store, key, 7, bytes.NewReader([]byte("content"))) },
		"read at": func() error { _, err := r.ReadAt(make([]byte, 1), 0); return err },
		"stream":  func() error { _, err := r.Stream(0, 7); return err },
		"delete":  func() error { return m.store.Delete(t.Context(), "test/absent") },
	}
	for name, call := range calls {
		m.start()
		require.NoError(t, call(), name)
		require.EqualValues(t, 2, m.requests.Load(), name)
	}
	busy = 1000
	delete(calls, "read at") // it has the block
	for name, call := range calls {
		m.start()
		begun := time.Now()
		f := faultOf(t, call())
		require.Equal(t, fault.Unavailable, f.Kind, name)
		require.Positive(t, f.RetryAfter)
		require.LessOrEqual(t, m.requests.Load(), int64(4), name)
		require.Less(t, time.Since(begun), 3*time.Second, name)
	}
	m.start()
	err := put(t.Context(), m.store, key, 1<<20, io.LimitReader(zeros{}, 1<<20))
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "SlowDown", "what the store said, not that a body cannot be rewound")
	require.EqualValues(t, 1, m.requests.Load(), "the reader is used up")
}

func TestPutFailsWhereTheWayFails(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*meddler, http.ResponseWriter, *http.Request){
		"cut": func(_ *meddler, _ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
			panic(http.ErrAbortHandler)
		},
		"standstill": func(m *meddler, _ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
			m.hang()
		},
		"no answer": func(m *meddler, _ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			m.hang()
		},
		"praise too soon": func(_ *meddler, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := meddle(t)
			m.before = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPut {
					return false
				}
				before(m, w, r)
				return true
			}
			key := newKey(t)
			err := put(t.Context(), m.store, key, 64<<20, io.LimitReader(zeros{}, 64<<20))
			require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
			requireAbsent(t, m.store, key)
		})
	}
}

func TestWhatIsSlowButMovesIsWaitedFor(t *testing.T) {
	t.Parallel()
	const pieces, piece = 6, 100 << 10
	s := blob.Open(gateway(t)).StallAfter(500 * time.Millisecond)
	key := newKey(t)
	from := func(pause time.Duration) io.Reader {
		return io.LimitReader(readerFunc(func(p []byte) (int, error) {
			<-time.After(pause)
			return min(len(p), piece), nil
		}), pieces*piece)
	}
	require.NoError(t, put(t.Context(), s, key, pieces*piece, from(20*time.Millisecond)))
	o, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	stream, err := s.Reader(t.Context(), key, o).Stream(0, o.Size)
	require.NoError(t, err)
	defer stream.Close()
	_, err = io.ReadFull(stream, make([]byte, 10))
	require.NoError(t, err)
	<-time.After(time.Second) // the one who reads may take their time
	rest, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.Len(t, rest, pieces*piece-10)

	err = put(t.Context(), s, key, pieces*piece, from(time.Second))
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
}

func TestAStoreThatGivesNextToNothingIsLeft(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	want := someBytes(1 << 20)
	key, o := stored(t, m.store, want)
	m.start()
	m.after = func(n int64, res *http.Response) {
		if n == 1 {
			slow := res.Body
			res.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
				<-time.After(10 * time.Millisecond)
				return slow.Read(p[:1])
			}))
		}
	}
	begun := time.Now()
	require.True(t, bytes.Equal(want, content(t, m.store.Reader(t.Context(), key, o), 0, o.Size)))
	require.EqualValues(t, 2, m.requests.Load())
	require.Less(t, time.Since(begun), 5*time.Second)
}

func TestARefusalWithoutEndIsNotKept(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	key, o := stored(t, m.store, []byte("content"))
	var sent atomic.Int64
	m.before = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusBadGateway)
		junk := bytes.Repeat([]byte("<garbage/>"), 1000)
		for {
			n, err := w.Write(junk)
			if sent.Add(int64(n)); err != nil {
				return true
			}
		}
	}
	for name, call := range map[string]func() error{
		"stream": func() error { _, err := m.store.Reader(t.Context(), key, o).Stream(0, 7); return err },
		"list":   func() error { _, err := m.store.List(t.Context(), "", ""); return err },
		"put":    func() error { return put(t.Context(), m.store, key, 1, bytes.NewReader([]byte("x"))) },
	} {
		m.start()
		sent.Store(0)
		err := call()
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%s: %v", name, err)
		require.Less(t, sent.Load(), int64(100<<20), name)
	}
}

func TestAStreamGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	want := someBytes(5 << 20)
	key, o := stored(t, m.store, want)
	r := m.store.Reader(t.Context(), key, o)

	m.start()
	m.after = func(_ int64, res *http.Response) { cut(res, 1_000_000) }
	require.True(t, bytes.Equal(want[10:], content(t, r, 10, o.Size-10)), "a way that breaks every megabyte")
	require.EqualValues(t, 6, m.requests.Load())

	m.start()
	m.after = func(n int64, res *http.Response) {
		if n <= 3 {
			cut(res, 100)
		}
	}
	require.True(t, bytes.Equal(want, content(t, r, 0, o.Size)), "three breaks in a row")
	require.EqualValues(t, 4, m.requests.Load())

	m.start()
	m.after = func(_ int64, res *http.Response) { cut(res, 100) }
	s, err := r.Stream(0, o.Size)
	require.NoError(t, err)
	defer s.Close()
	got, err := io.ReadAll(s)
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.True(t, bytes.Equal(want[:len(got)], got))
	require.EqualValues(t, 4, m.requests.Load(), "and then no more")

	m.after = func(n int64, res *http.Response) {
		if n == 1 {
			res.Body = io.NopCloser(io.MultiReader(io.LimitReader(res.Body, 100), readerFunc(func([]byte) (int, error) {
				m.hang()
				return 0, io.EOF
			})))
		}
	}
	m.start()
	require.True(t, bytes.Equal(want, content(t, r, 0, o.Size)), "a standstill")

	m.start()
	m.after = func(n int64, res *http.Response) {
		if n == 1 {
			cut(res, 1000)
		}
	}
	s, err = r.Stream(0, o.Size)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, put(t.Context(), m.store, key, 3, bytes.NewReader([]byte("new"))))
	_, err = io.ReadAll(s)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
}

func TestALyingStoreIsFoundOut(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	want := someBytes(3000)
	key, o := stored(t, m.store, want)
	for name, c := range map[string]struct {
		kind fault.Kind
		lie  func(res *http.Response)
	}{
		"200 for a range": {fault.Internal, func(res *http.Response) {
			res.StatusCode = http.StatusOK
			res.Header.Del("Content-Range")
			replace(res, want)
		}},
		"no Content-Range": {fault.Internal, func(res *http.Response) { res.Header.Del("Content-Range") }},
		"another range": {fault.Internal, func(res *http.Response) {
			res.Header.Set("Content-Range", fmt.Sprintf("bytes 0-99/%d", o.Size))
		}},
		"an object that was cut": {fault.Conflict, func(res *http.Response) { res.Header.Set("Content-Range", "bytes 100-199/2000") }},
		"another object":         {fault.Conflict, func(res *http.Response) { res.Header.Set("ETag", `"other"`) }},
		"a short body":           {fault.Unavailable, func(res *http.Response) { replace(res, want[100:110]) }},
	} {
		m.after = func(_ int64, res *http.Response) { c.lie(res) }
		r := m.store.Reader(t.Context(), key, o)
		_, err := r.ReadAt(make([]byte, 1), 100)
		if name != "another range" && name != "a short body" { // of the whole block, that is
			require.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
		}
		s, err := r.Stream(100, 100)
		if err == nil {
			_, err = io.ReadAll(s)
			s.Close()
		}
		require.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
	}
	m.after = func(_ int64, res *http.Response) {
		replace(res, append(bytes.Clone(want[100:200]), "more"...))
	}
	require.Equal(t, want[100:200], content(t, m.store.Reader(t.Context(), key, o), 100, 100), "what is too much is left out")
}
