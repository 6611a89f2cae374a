package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// daemon runs serve or worker until the test or stop ends it.
func daemon(t *testing.T, environ []string, args ...string) (log *safeBuffer, stop func() int) {
	t.Helper()
	log = &safeBuffer{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		a := &app{environ: environ, in: strings.NewReader(""), out: io.Discard, err: log}
		done <- a.run(ctx, args)
	}()
	stop = func() int {
		cancel()
		select {
		case code := <-done:
			done <- code
			return code
		case <-time.After(time.Minute):
			t.Error("it does not end")
			return -1
		}
	}
	t.Cleanup(func() { stop() })
	return log, stop
}

// TestServe runs without a Temporal: the API serves, and says that it is not
// ready.
func TestServe(t *testing.T) {
	t.Parallel()
	addr, metrics := stacktest.FreeAddr(t), stacktest.FreeAddr(t)
	environ := append(database(t), testSecretKey, "ADDR="+addr, "METRICS_ADDR="+metrics, "TEMPORAL_ADDRESS=127.0.0.1:1")
	log, stop := daemon(t, environ, "serve")
	require.Eventually(t, func() bool {
		code, _ := get(t, "http://"+addr+"/healthz")
		return code == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond, log)

	code, body := get(t, "http://"+addr+"/api/v1/health")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, `"ok"`)
	code, body = get(t, "http://"+addr+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, body, `"database":"ok"`)
	require.Contains(t, body, `"schema":"ok"`)
	require.NotContains(t, body, "127.0.0.1:1", "why is for the log")
	code, body = get(t, "http://"+metrics+"/metrics")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, "taskloom_build_info")
	require.Contains(t, body, "taskloom_db_connections")
	code, _ = get(t, "http://"+addr+"/metrics")
	require.Equal(t, http.StatusNotFound, code, "metrics are on a listener of their own")

	t.Run("a taken port names its variable", func(t *testing.T) {
		again := append(database(t), testSecretKey, "ADDR="+addr, "METRICS_ADDR="+stacktest.FreeAddr(t), "TEMPORAL_ADDRESS=127.0.0.1:1")
		got := command(t, again, "", "serve")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.err, "set ADDR to another")
	})
	require.Zero(t, stop(), log)
	require.Contains(t, log.String(), "Stopped.")
	require.NotContains(t, log.String(), strings.TrimPrefix(testSecretKey, "SECRET_KEY="))
}

// A load balancer that asks /healthz must hear that the process ends while requests
// are still taken: whom it sends meanwhile would be refused.
func TestServeTellsThatItEndsBeforeItDoes(t *testing.T) {
	t.Parallel()
	addr, metrics := stacktest.FreeAddr(t), stacktest.FreeAddr(t)
	log, stop := daemon(t, append(database(t), testSecretKey, "ADDR="+addr, "METRICS_ADDR="+metrics,
		"TEMPORAL_ADDRESS=127.0.0.1:1", "DRAIN_DELAY=3s"), "serve")
	says := func(at, path string, want int) func() bool {
		return func() bool { code, _ := get(t, "http://"+at+path); return code == want }
	}
	require.Eventually(t, says(addr, "/healthz", http.StatusOK), 20*time.Second, 20*time.Millisecond, log)
	ended := make(chan int, 1)
	go func() { ended <- stop() }()
	require.Eventually(t, says(addr, "/healthz", http.StatusServiceUnavailable), 3*time.Second, 10*time.Millisecond, log)
	require.True(t, says(addr, "/api/v1/health", http.StatusOK)(), "requests are answered")
	require.True(t, says(metrics, "/healthz", http.StatusOK)(), "there is no reason to restart it")
	require.Zero(t, <-ended, log)
}

func TestServeWithoutDatabaseWaits(t *testing.T) {
	t.Parallel()
	addr := stacktest.FreeAddr(t)
	log, stop := daemon(t, []string{
		"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/db", testSecretKey, "ADDR=" + addr,
		"METRICS_ADDR=" + stacktest.FreeAddr(t), "TEMPORAL_ADDRESS=127.0.0.1:1",
	}, "serve")
	require.Eventually(t, func() bool {
		code, _ := get(t, "http://"+addr+"/readyz")
		return code == http.StatusServiceUnavailable
	}, 20*time.Second, 20*time.Millisecond, log)
	require.Zero(t, stop())
	require.NotContains(t, log.String(), "hunter2")
}

func TestWorkerWithoutTemporalWaits(t *testing.T) {
	t.Parallel()
	metrics := stacktest.FreeAddr(t)
	log, stop := daemon(t, append(database(t), "METRICS_ADDR="+metrics, "TEMPORAL_ADDRESS=127.0.0.1:1"), "worker")
	require.Eventually(t, func() bool {
		code, _ := get(t, "http://"+metrics+"/readyz")
		return code == http.StatusServiceUnavailable
	}, 20*time.Second, 20*time.Millisecond, log)
	code, _ := get(t, "http://"+metrics+"/healthz")
	require.Equal(t, http.StatusOK, code)
	_, body := get(t, "http://"+metrics+"/readyz")
	require.Contains(t, body, "it takes no work yet", "whatever else is there")
	require.Zero(t, stop(), log)
}
