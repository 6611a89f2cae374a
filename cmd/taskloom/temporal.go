package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/worker"
)

// newTemporal makes a lazy client: nothing is asked of Temporal yet.
func newTemporal(c config.Config, log *slog.Logger, reg prometheus.Registerer) (client.Client, error) {
	o, err := c.Temporal()
	if err != nil {
		return nil, err
	}
	if c.Tracing() {
		tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{})
		if err != nil {
			return nil, err
		}
		o.Interceptors = []interceptor.ClientInterceptor{tracing}
	}
	return worker.NewClient(o, log, reg)
}

// temporalAnswers asks whether the Temporal server is there.
func temporalAnswers(ctx context.Context, c client.Client) error {
	_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}
