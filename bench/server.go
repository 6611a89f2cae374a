package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/store"
)

// serve runs the API on a port of its own and returns its address.
func (b *bench) serve(ctx context.Context, st *store.Store) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	base := "http://" + l.Addr().String()
	handler := api.New(api.Deps{
		// Lines are made as in production and go nowhere.
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Store: st, SecretKey: []byte("a secret for as long as one run"), PublicURL: base,
	})
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			b.say("the API's listener ended: %v", err)
		}
	}()
	b.later(func() {
		_ = server.Close() // nobody is left to answer
		<-done
	})
	return base, nil
}
