package worker

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	sdklog "go.temporal.io/sdk/log"
)

// NewClient makes a Temporal client with the SDK's own log and metrics among
// ours. It does not connect: the first call does, so a process can start
// before Temporal does.
func NewClient(o client.Options, log *slog.Logger, reg prometheus.Registerer) (client.Client, error) {
	exporter, err := otelprom.New(otelprom.WithRegisterer(reg), otelprom.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("make metrics exporter: %w", err)
	}
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)).Meter("temporal-sdk-go")
	o.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: meter, UseMonotonicCounters: true,
		OnError: func(err error) { log.Warn("A metric of the Temporal SDK is lost.", "error", err) },
	})
	o.Logger = sdklog.NewStructuredLogger(log)
	c, err := client.NewLazyClient(o)
	if err != nil {
		return nil, fmt.Errorf("make Temporal client: %w", err)
	}
	return c, nil
}
