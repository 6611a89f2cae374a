package demo

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheClientWaitsAsItIsTold(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(http.ResponseWriter){
		"over a limit": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error": "rate_limit_exceeded", "message": "too many requests; wait 1 second", "retry_after": 1}`))
		},
		"in an overload": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error": "service_unavailable", "message": "too many requests at a time; try again in a moment"}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitsAsTold(t, refuse)
		})
	}
}

func waitsAsTold(t *testing.T, refuse func(http.ResponseWriter)) {
	t.Helper()
	var calls atomic.Int32
	var refusedAt time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			refusedAt = time.Now()
			refuse(w)
			return
		}
		_, _ = w.Write([]byte(`{"ids": [7]}`))
	}))
	t.Cleanup(server.Close)
	var out struct {
		IDs []int `json:"ids"`
	}
	some, err := newAPI(server.URL, "key", 1).call(t.Context(), http.MethodPost, "/x", map[string]int{"a": 1}, &out)
	require.NoError(t, err)
	require.True(t, some)
	require.Equal(t, []int{7}, out.IDs)
	require.Equal(t, int32(2), calls.Load())
	require.GreaterOrEqual(t, time.Since(refusedAt), time.Second)
}
