package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/web"
)

// version is set when a release is built:
// -ldflags "-X main.version=v1.2.3".
var version = "dev"

// build is what runs.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Built   string `json:"commit_time"`
	Go      string `json:"go"`
	// UI is embedded in a build with the web app, absent in one without.
	UI string `json:"ui"`
}

func buildVersion() build {
	b := build{Version: version, Go: runtime.Version(), UI: "absent"}
	if web.Embedded() {
		b.UI = "embedded"
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Built = s.Value
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := buildVersion()
			if asJSON {
				return printJSON(a.out, b)
			}
			commit := b.Commit
			if commit == "" {
				commit = "unknown"
			}
			_, err := fmt.Fprintf(a.out, "taskloom %s, commit %s, %s, web app %s\n", b.Version, commit, b.Go, b.UI)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
