package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// It is beside no other test: tracers are those of the process.
func TestTracesAreContinuedForTrustedProxiesAlone(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans), trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(0))))
	otel.SetTracerProvider(tracers)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	t.Cleanup(func() {
		otel.SetTracerProvider(noop.NewTracerProvider())
		otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator())
		require.NoError(t, tracers.Shutdown(context.WithoutCancel(t.Context())))
	})
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")} })
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	sampled := with("Traceparent", "00-"+traceID+"-b7ad6b7169203331-01")
	b.do(t, http.MethodGet, "/healthz", nil, sampled, from("192.0.2.1"))
	require.Empty(t, spans.GetSpans(), "any caller would have its requests kept")
	b.do(t, http.MethodGet, "/healthz", nil, sampled, from("10.0.0.1"))
	kept := spans.GetSpans()
	require.Len(t, kept, 1)
	require.Equal(t, traceID, kept[0].SpanContext.TraceID().String())
}
