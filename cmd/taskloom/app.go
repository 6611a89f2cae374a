package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
)

// app is one run of the command, with all that it takes from the system.
type app struct {
	environ  []string
	in       io.Reader
	out, err io.Writer
}

// run executes the command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := &cobra.Command{
		Use:           "taskloom",
		Short:         "Routes units of human work through pipelines",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		a.serveCommand(), a.workerCommand(), a.migrateCommand(), a.applyCommand(), a.keyCommand(),
		a.userCommand(), a.doctorCommand(), a.healthcheckCommand(), a.openAPICommand(), a.versionCommand(),
		a.demoCommand(), a.conformanceCommand(), a.repairCommand(),
	)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	if err := root.ExecuteContext(ctx); err != nil {
		a.explain(err)
		return 1
	}
	return 0
}

// errSilent ends a command that has told already what is wrong.
var errSilent = errors.New("told already")

// explain prints an error for people: what is wrong, each problem with its
// place, and what lies behind it.
func (a *app) explain(err error) {
	if errors.Is(err, errSilent) {
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		fmt.Fprintf(a.err, "taskloom: %s\n", err)
		return
	}
	fmt.Fprintf(a.err, "taskloom: %s\n", f.Message)
	for _, p := range f.Problems {
		fmt.Fprintf(a.err, "  %s: %s\n", p.Path, p.Message)
	}
	if cause := errors.Unwrap(f); cause != nil {
		fmt.Fprintf(a.err, "  because: %s\n", cause)
	}
}

// config reads the environment, in which the names must be set.
func (a *app) config(names ...string) (config.Config, error) {
	c, err := config.Load(a.environ)
	return c, c.Require(err, names...)
}
