package worker

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
)

// What people do piles up while Temporal is away, so the way back is looked for
// often, however long it was away: a connection that is refused is tried again
// after connectSoon at first and connectLate later, and one that nobody answers,
// as those to a host that is cut off, is given up after connectTime. The SDK waits
// for up to 10 s and 20 s.
//
// Two waits remain the SDK's: its pollers ask again up to 10 s after a failed
// poll, and a connection that stands but carries nothing any more is noticed by its
// keepalive, after 45 s.
const (
	connectSoon = 200 * time.Millisecond
	connectLate = 2 * time.Second
	connectTime = 5 * time.Second
)

// connecting is how the client's connection is made again.
func connecting() grpc.DialOption {
	again := grpcbackoff.DefaultConfig
	again.BaseDelay, again.MaxDelay = connectSoon, connectLate
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: connectTime})
}

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
	if o.ConnectionOptions.GrpcCompression == nil {
		// Messages are small and the way is short. The SDK's gzip took an eighth of
		// the processor time of a task, of both sides together (docs/costs.md).
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	o.ConnectionOptions.DialOptions = append([]grpc.DialOption{connecting()}, o.ConnectionOptions.DialOptions...)
	c, err := client.NewLazyClient(o)
	if err != nil {
		return nil, fmt.Errorf("make Temporal client: %w", err)
	}
	return c, nil
}
