package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	prombridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/taskloom/taskloom/internal/config"
)

// flushes sends what telemetry is left at the end of a process.
type flushes []func(context.Context) error

func (f flushes) run(ctx context.Context) error {
	var failed []error
	for _, flush := range f {
		failed = append(failed, flush(ctx))
	}
	return errors.Join(failed...)
}

// startTelemetry sends traces and the metrics of the registry where the
// standard OTEL_ variables say. Without any of them it does nothing.
func startTelemetry(
	ctx context.Context, c config.Config, process string, gatherer prometheus.Gatherer,
) (flushes, error) {
	if !c.Tracing() && !c.MetricsPushed() {
		return nil, nil
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "taskloom-"+process),
			attribute.String("service.version", buildVersion().Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe this process to OpenTelemetry: %w", err)
	}
	var end flushes
	if c.Tracing() {
		spans, err := autoexport.NewSpanExporter(ctx)
		if err != nil {
			return nil, fmt.Errorf("read OTEL_TRACES_EXPORTER and the OTEL_EXPORTER_ variables: %w", err)
		}
		tracers := trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(res))
		otel.SetTracerProvider(tracers)
		otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(
			propagation.TraceContext{}, propagation.Baggage{}))
		end = append(end, tracers.Shutdown)
	}
	if c.MetricsPushed() {
		autoexport.WithFallbackMetricProducer(func(context.Context) (metric.Producer, error) {
			return prombridge.NewMetricProducer(prombridge.WithGatherer(gatherer)), nil
		})
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			return nil, fmt.Errorf("read OTEL_METRICS_EXPORTER and the OTEL_EXPORTER_ variables: %w", err)
		}
		end = append(end, metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(res)).Shutdown)
	}
	return end, nil
}
