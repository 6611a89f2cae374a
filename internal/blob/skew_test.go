package blob_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
)

// A server whose clock is five minutes off the object store's still makes links
// that work at once: those to files live for ten minutes, all others longer.
func TestLinksWorkWithAClockFiveMinutesOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, -5 * time.Minute, 5 * time.Minute} {
		s := blob.Open(gateway(t)).SignOff(off)
		key := newKey(t)
		put, err := s.PresignPut(t.Context(), key, zipType, time.Hour)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, send(t, http.MethodPut, put, zipType, "body").StatusCode, off)
		get, err := s.PresignGet(t.Context(), key, blob.Download{Name: "a.zip"}, blob.LinkSlack+5*time.Minute)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, send(t, http.MethodGet, get, "", "").StatusCode, off)
	}
	// What a link without slack comes to: the store says why.
	s := blob.Open(gateway(t)).SignOff(-5*time.Minute - time.Second)
	key, _ := stored(t, s, []byte("content"))
	get, err := s.PresignGet(t.Context(), key, blob.Download{Name: "a.zip"}, 5*time.Minute)
	require.NoError(t, err)
	res := send(t, http.MethodGet, get, "", "")
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "expired")
}

func TestAStoreThatFindsOurClockWrongIsToldApart(t *testing.T) {
	t.Parallel()
	m := meddle(t)
	m.before = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>`)
		return true
	}
	f := faultOf(t, m.store.Delete(t.Context(), "k"))
	require.Equal(t, fault.Unavailable, f.Kind)
	require.Contains(t, f.Error(), "clock")
}
