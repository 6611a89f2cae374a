// Command taskloom is the whole product in one binary: the API (serve), the
// worker, and the commands of operators.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; with the handler gone a second
	// one ends the process at once.
	context.AfterFunc(ctx, stop)
	a := &app{environ: os.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(a.run(ctx, os.Args[1:]))
}
