package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"

	"github.com/taskloom/taskloom/dev/internal/envfile"
	"github.com/taskloom/taskloom/dev/internal/port"
	"github.com/taskloom/taskloom/dev/internal/progress"
)

// UpOptions says how to run the whole product.
type UpOptions struct {
	Restart bool // bring parts back that die
	Environ Environ
	Say     *progress.Reporter
	Out     io.Writer // where the banner goes
}

const (
	defaultDir  = ".dev"
	defaultAddr = "127.0.0.1:8080"
)

// Up runs the product on its parts until it is interrupted, which is its
// ordinary end. The working directory is the root of the repository.
func Up(parent context.Context, o UpOptions) error {
	ctx, in := OnInterrupt(parent)
	s, err := open(ctx, o.Environ.Or("DEV_DIR", defaultDir), o.Say, o.Restart, in)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer s.close()

	addr := o.Environ.Or("ADDR", defaultAddr)
	if err := checkAddr(addr); err != nil {
		return err
	}
	want := o.Environ.wants()
	if o.Environ.Yes("FRESH") {
		if err := s.dir.Wipe(); err != nil {
			return err
		}
		if !want.database {
			o.Say.Say("FRESH=1 leaves the database of DATABASE_URL as it is: it is not ours.")
		}
	}
	app, err := findApp(o.Environ)
	if err != nil {
		return err
	}
	if err := s.settle(append(want.ports(), portMetrics, portWorkerMetrics)...); err != nil {
		return err
	}
	err = s.product(ctx, o, app, want, addr)
	if err == nil || over(ctx) {
		o.Say.Say("\nStopping …")
	}
	s.stop()
	if err := interrupted(ctx, err); err != nil {
		return fmt.Errorf("%w\n  everything else was stopped; make dev goes on where it was", err)
	}
	o.Say.Say("Stopped. make dev goes on where it was.")
	return nil
}

// interrupted drops the errors that an interrupt causes on its way.
func interrupted(ctx context.Context, err error) error {
	if over(ctx) {
		return nil
	}
	return err
}

// over tells whether we were told to stop; that is no error.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// product brings up the parts and the product and returns when one of them
// dies or ctx ends.
func (s *Stack) product(ctx context.Context, o UpOptions, app *app, want wanted, addr string) error {
	previous := s.previousKey()
	if err := s.start(ctx, want); err != nil {
		return err
	}
	app.vars = s.vars(o.Environ, want, addr)
	if err := s.writeEnv(app.vars, previous); err != nil {
		return err
	}
	if err := app.migrate(ctx, s); err != nil {
		return err
	}
	demo, err := app.apply(ctx, s)
	if err != nil {
		return err
	}
	if err := app.start(ctx, s); err != nil {
		return err
	}
	key, err := app.workingKey(ctx, s, demo, previous)
	if err != nil {
		return err
	}
	if err := s.writeEnv(app.vars, key); err != nil {
		return err
	}
	if err := banner(o.Out, s, app, demo, key, want); err != nil {
		return fmt.Errorf("print the addresses: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case death := <-s.sup.deaths:
		return death
	}
}

const keyVar = "TASKLOOM_API_KEY"

// writeEnv writes the environment file, with the API key once there is one.
func (s *Stack) writeEnv(vars []envfile.Var, key string) error {
	if key != "" {
		vars = append(slices.Clip(vars), envfile.Var{Name: keyVar, Value: key})
	}
	return envfile.Write(s.dir.Path("env"), vars)
}

// checkAddr finds out at once that the product's address is taken.
func checkAddr(addr string) error {
	host, number, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("ADDR=%s is no address: %w\n  give host:port, such as ADDR=127.0.0.1:8081 make dev", addr, err)
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return fmt.Errorf("ADDR=%s has no port number: %w\n  give host:port, such as ADDR=127.0.0.1:8081 make dev", addr, err)
	}
	cause := port.Free(addr)
	if cause == nil {
		return nil
	}
	holder := ""
	if who := port.Holder(int(n)); who != "" {
		holder = ": " + who + " listens there"
	}
	return fmt.Errorf("%s cannot be used (%w)%s\n  stop it, or take another address: ADDR=%s make dev",
		addr, rootCause(cause), holder, net.JoinHostPort(host, strconv.FormatUint(n+1, 10)))
}

// rootCause strips what Go puts before the words of the system.
func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
