package temporal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/log"
	// The store's driver registers itself.
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/dev/internal/child"
)

// collectAt is how much the heap grows, in percent of what is alive, until it is
// collected, unless GOGC says so. Temporal writes much that it does not keep: with
// Go's 100 a seventh of its processor time went into that when it was busy. It
// takes up to twice the memory.
const collectAt = 300

// Run serves until ctx ends: schema first, then the server, its namespace and
// the UI. What goes wrong later is logged to stdout by the server itself.
func Run(ctx context.Context, c Config, report *child.Reporter) (err error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: true, Level: "warn"}))

	report.Doing("preparing its database")
	var schemas errgroup.Group
	for _, db := range databases() {
		schemas.Go(func() error { return c.prepare(ctx, db, logger) })
	}
	if err := schemas.Wait(); err != nil {
		return err
	}

	report.Doing("starting the server")
	conf := c.server()
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return fmt.Errorf("authorizer: %w", err)
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(c.hosts()),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithDynamicConfigClient(limits()),
	)
	if err != nil {
		return fmt.Errorf("set up the server: %w", err)
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer func() {
		if stopped := server.Stop(); stopped != nil {
			err = errors.Join(err, fmt.Errorf("stop the server: %w", stopped))
		}
	}()

	report.Doing("preparing the namespace")
	if err := prepareNamespace(ctx, c.addr()); err != nil {
		return err
	}
	if c.UI != 0 {
		stop, err := c.serveUI(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	report.Ready()
	<-ctx.Done()
	return nil
}

// serveUI starts the Web UI and waits until it answers.
func (c Config) serveUI(ctx context.Context) (stop func(), err error) {
	ui := uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host: host, Port: c.UI, TemporalGRPCAddress: c.addr(), EnableUI: true,
		CORS:     uiconfig.CORS{CookieInsecure: true}, // plain http on the loopback address
		HideLogs: true,
	}))
	failed := make(chan error, 1)
	go func() { failed <- ui.Start() }()

	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-failed:
			if err == nil {
				err = errors.New("without an error")
			}
			return nil, fmt.Errorf("the Web UI ended while it started: %w", err)
		case <-ctx.Done():
			return ui.Stop, nil
		case <-poll.C:
			if answers(ctx, fmt.Sprintf("http://%s:%d/healthz", host, c.UI)) {
				return ui.Stop, nil
			}
		}
	}
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode == http.StatusOK
}
