package stack

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interrupt is how a person ends a stack: Ctrl-C stops it in order, a second
// one at once.
type Interrupt struct {
	again chan struct{}
}

// OnInterrupt returns a context that ends with the first signal.
func OnInterrupt(parent context.Context) (context.Context, *Interrupt) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	in := &Interrupt{again: make(chan struct{})}
	go func() {
		<-signals
		cancel()
		<-signals
		close(in.again)
	}()
	return ctx, in
}
