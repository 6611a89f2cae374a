package blob_test

import (
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
)

// shelf is an object store with one bucket, b, in memory. It takes a prefix for no
// more than a hint.
type shelf struct {
	// reading may refuse to give out an object.
	reading func() (refused bool)

	mu     sync.Mutex
	bodies map[string][]byte
	put    map[string]time.Time
}

type (
	shelfItem struct {
		Key          string
		LastModified time.Time
	}
	shelfList struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []shelfItem
	}
)

func newShelf(t *testing.T) (*shelf, *blob.Store) {
	t.Helper()
	s := &shelf{reading: func() bool { return false }, bodies: map[string][]byte{}, put: map[string]time.Time{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, blob.Open(blob.Config{Endpoint: srv.URL, Region: "r", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s"})
}

// ServeHTTP implements http.Handler.
func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/b/")
	list := r.URL.Query().Has("list-type")
	if r.Method == http.MethodGet && !list && s.reading() {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case list:
		var out shelfList
		for key, at := range s.put {
			out.Contents = append(out.Contents, shelfItem{key, at})
		}
		_ = xml.NewEncoder(w).Encode(out)
	case r.Method == http.MethodPut:
		s.bodies[key], _ = io.ReadAll(r.Body)
		s.put[key] = time.Now().UTC()
	case r.Method == http.MethodDelete:
		delete(s.bodies, key)
		delete(s.put, key)
		w.WriteHeader(http.StatusNoContent)
	case s.bodies[key] == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		_, _ = w.Write(s.bodies[key])
	}
}

// has lists the keys of what is there.
func (s *shelf) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.put))
}

// One probe that comes and goes while another reads takes nothing from it.
func TestProbesAtTheSameTimeLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	s, probed := newShelf(t)
	var met atomic.Bool
	s.reading = func() bool {
		if met.CompareAndSwap(false, true) {
			assert.NoError(t, probed.RoundTrip(t.Context()))
		}
		return false
	}
	require.NoError(t, probed.RoundTrip(t.Context()))
	require.True(t, met.Load())
	require.Empty(t, s.has())
}

func TestAProbeThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s, probed := newShelf(t)
	s.reading = func() bool { return true }
	require.ErrorContains(t, probed.RoundTrip(t.Context()), "get object: ")
	require.Empty(t, s.has())
}

// What a killed probe has left goes with the next one, once it is too old to be in
// use, and nothing else does.
func TestWhatProbesLeftIsSwept(t *testing.T) {
	t.Parallel()
	s, probed := newShelf(t)
	now := time.Now().UTC()
	s.put["taskloom-doctor-probe-OLD"] = now.Add(-2 * time.Hour)
	s.put["taskloom-doctor-probe-YOUNG"] = now
	s.put["org/1/files/x"] = now.Add(-2 * time.Hour)
	require.NoError(t, probed.RoundTrip(t.Context()))
	require.Equal(t, []string{"org/1/files/x", "taskloom-doctor-probe-YOUNG"}, s.has())
}
