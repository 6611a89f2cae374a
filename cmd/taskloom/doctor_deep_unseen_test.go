package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
)

// An object that takes longer than a request of the API may wait is seen, and one
// that the store fails to show hides no other.
func TestASlowObjectStoreIsLookedAtWhole(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	key := func(name string) string { return fmt.Sprintf("org/%d/files/%s", w.OrgID, name) }
	for _, name := range []string{"slow", "shy", "sick", "lost"} {
		w.file(w.OrgID, key(name), nil)
	}
	var shy atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Has("list-type"):
			fmt.Fprint(rw, `<ListBucketResult></ListBucketResult>`)
		case strings.HasSuffix(r.URL.Path, "slow"):
			select { // longer than the API's patience
			case <-time.After(1600 * time.Millisecond):
			case <-r.Context().Done():
			}
			answerAs(rw, r, "")
		case strings.HasSuffix(r.URL.Path, "sick"), strings.HasSuffix(r.URL.Path, "shy") && shy.CompareAndSwap(false, true):
			rw.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasSuffix(r.URL.Path, "lost"):
			answerAs(rw, r, "lost")
		default:
			answerAs(rw, r, "")
		}
	}))
	t.Cleanup(srv.Close)
	d := &doctor{
		store: w.Store, config: config.Config{S3: config.S3{Bucket: "b"}},
		objects: blob.Open(blob.Config{Endpoint: srv.URL, Region: "r", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s"}),
	}
	found, err := d.deepFiles(t.Context(), nil, deepOptions{})
	require.NoError(t, err)
	there, whole := found[0], found[1]
	require.Equal(t, failure, there.Verdict, "%+v", there)
	require.Len(t, there.Violations, 1)
	require.Contains(t, there.Violations[0], "nothing is at "+key("lost"))
	require.Contains(t, there.Advice, "did not show 1 of 4 objects, "+key("sick")+" first")
	require.Equal(t, skipped, whole.Verdict)
	require.Contains(t, whole.Advice, "did not show 1 of 4 objects")
}

// A store that shows nothing is not asked for a million objects.
func TestAnObjectStoreThatIsAwayIsGivenUp(t *testing.T) {
	t.Parallel()
	c := comparing{asked: 30}
	for i := range unseenMost {
		require.NoError(t, c.missed(fmt.Sprint("key ", i), http.ErrServerClosed))
	}
	require.ErrorIs(t, c.missed("another", http.ErrServerClosed), errAway)
	require.ErrorContains(t, c.notSeen(), "did not show 21 of 30 objects, key 0 first,")
}
