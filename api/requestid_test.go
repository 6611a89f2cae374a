package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// A request id is found again in the log and in the metrics.
func TestARequestIsFoundByItsID(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.Metrics = reg })
	long := strings.Repeat("x", 128) // longer than a measurement can carry
	for _, id := range []string{"the-one-that-was-slow", long} {
		a := b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-Request-Id", id))
		require.Equal(t, id, a.Header.Get("X-Request-Id"))
		require.Contains(t, b.logs.text(), `"request_id":"`+id+`"`)
	}
	b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-Request-Id", "the-one-that-was-slow"))
	r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(rec, r)
	require.Contains(t, rec.Body.String(), `request_id="the-one-that-was-slow"`)
	require.NotContains(t, rec.Body.String(), long)
}
