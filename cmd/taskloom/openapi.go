package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func (a *app) openAPICommand() *cobra.Command {
	var console bool
	var version string
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the External API, or of the console API",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.openAPI(console, version) },
	}
	cmd.Flags().BoolVar(&console, "console", false, "the console API")
	cmd.Flags().StringVar(&version, "version", "3.1", "of OpenAPI: 3.1 or 3.0")
	return cmd
}

// openAPI prints the document that the server serves, made by the same
// constructor; only the address of the deployment is left at its default.
func (a *app) openAPI(console bool, version string) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	surface := api.New(api.Deps{
		Store: &store.Store{}, Logger: slog.New(slog.DiscardHandler), SecretKey: make([]byte, 32), PublicURL: c.PublicURL,
	})
	doc := surface.External
	if console {
		doc = surface.Console
	}
	var raw []byte
	switch version {
	case "3.1":
		raw, err = doc.MarshalJSON()
	case "3.0":
		raw, err = doc.Downgrade()
	default:
		return fault.New(fault.InvalidRequest, "--version %s is unknown; choose 3.1 or 3.0", version)
	}
	if err != nil {
		return fmt.Errorf("write OpenAPI document: %w", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		return fmt.Errorf("indent OpenAPI document: %w", err)
	}
	_, err = fmt.Fprintln(a.out, pretty.String())
	return err
}
