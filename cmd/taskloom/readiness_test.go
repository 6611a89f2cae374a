package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	down := errors.New("connection refused")
	var state atomic.Value
	state.Store([]error{nil})
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	r := newReadiness(map[string]func(context.Context) error{
		"database": func(context.Context) error { asked.Add(1); return state.Load().([]error)[0] },
		"temporal": func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			require.True(t, ok, "every part has a budget")
			require.LessOrEqual(t, time.Until(deadline), probeBudget)
			return nil
		},
	})
	r.now = func() time.Time { return now }

	require.Equal(t, map[string]error{"database": nil, "temporal": nil}, r.check(t.Context()))
	state.Store([]error{down})
	now = now.Add(probeKept - time.Millisecond)
	require.NoError(t, r.check(t.Context())["database"], "the answer is kept")
	now = now.Add(time.Millisecond)
	require.Equal(t, down, r.check(t.Context())["database"])
	require.EqualValues(t, 2, asked.Load())

	probe := func() (int, map[string]any) {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		var body map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		return w.Code, body
	}
	code, body := probe()
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, map[string]any{"ready": false, "parts": map[string]any{"database": "connection refused", "temporal": "ok"}}, body)

	state.Store([]error{nil})
	now = now.Add(time.Minute)
	code, _ = probe()
	require.Equal(t, http.StatusOK, code)

	t.Run("a prober that hung up does not spoil the answer", func(t *testing.T) {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		now = now.Add(time.Minute)
		require.NoError(t, r.check(gone)["temporal"])
	})
	t.Run("draining it is unready for good", func(t *testing.T) {
		r.drain()
		code, _ := probe()
		require.Equal(t, http.StatusServiceUnavailable, code)
	})
}
