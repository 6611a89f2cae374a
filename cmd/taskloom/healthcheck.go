package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
)

// healthBudget is how long a healthy process takes to answer at most.
const healthBudget = 2 * time.Second

func (a *app) healthcheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Exit with 0 if URL answers 200 within 2 seconds; /readyz at ADDR by default",
		Long: "Exit with 0 if URL answers 200 within 2 seconds, and with 1 and one line if not.\n" +
			"For containers, whose image has no other program to ask with. Without a URL it asks\n" +
			"/readyz of the `serve` that listens at ADDR.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return healthcheck(cmd.Context(), args[0])
			}
			// What is wrong with the settings, the process that is asked has told.
			c, _ := config.Load(a.environ)
			return healthcheck(cmd.Context(), c.LocalURL()+"/readyz")
		},
	}
}

// healthcheck asks address once. Its errors have no cause, for each must fit
// the one line that an orchestrator keeps.
func healthcheck(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fault.New(fault.InvalidRequest, "%q is no address to ask; write http://host:port/path", address)
	}
	ctx, cancel := context.WithTimeout(ctx, healthBudget)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, // and no proxy: who is asked is next to us
		// A redirect says nothing about the health of who sends it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "%s did not answer within %s", address, healthBudget)
	case err != nil:
		return fault.New(fault.Unavailable, "%s cannot be reached: %s", address, errors.Unwrap(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "%s answered %s", address, res.Status)
	}
	return nil
}
