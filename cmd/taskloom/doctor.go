package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/store"
)

// verdict is what a check comes to.
type verdict string

const (
	fine    verdict = "ok"
	warning verdict = "warn"
	failure verdict = "fail"
	skipped verdict = "skip"
)

// finding is one line of the doctor: what was seen and, unless it is fine, the
// way out.
type finding struct {
	verdict verdict
	text    string
	wayOut  string
}

// doctor looks at the parts of a deployment from where it runs.
type doctor struct {
	config   config.Config
	store    *store.Store
	temporal client.Client
	objects  *blob.Store
	// temporalUp is set once Temporal has answered; what cannot is not asked
	// again.
	temporalUp bool
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check every part and say how to mend what is wrong",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *app) doctor(ctx context.Context) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	d := &doctor{config: c, objects: newObjects(c.S3)}
	if d.store, err = store.Open(ctx, c.DatabaseURL.Reveal(), store.Options{MaxConns: 2}); err != nil {
		return err
	}
	defer d.store.Close()
	d.temporal, err = newTemporal(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	defer d.temporal.Close()
	sick := false
	for _, check := range d.checks() {
		f := d.run(ctx, check)
		sick = sick || f.verdict == failure
		fmt.Fprintf(a.out, "%-4s  %-17s  %s\n", f.verdict, check.name, f.text)
		if f.wayOut != "" {
			fmt.Fprintf(a.out, "      %-17s  → %s\n", "", f.wayOut)
		}
	}
	if sick {
		return errSilent
	}
	return nil
}

// check is one thing that the doctor looks at.
type check struct {
	name string
	look func(context.Context) finding
}

func (d *doctor) checks() []check {
	return []check{
		{"database", d.database},
		{"schema", d.schema},
		{"clock", d.clock},
		{"temporal", d.temporalServer},
		{"search attributes", d.searchAttributes},
		{"pollers", d.pollers},
		{"s3", d.bucket},
		{"s3 from browsers", d.cors},
		{"uploads", d.uploads},
		{"outbox", d.outbox},
		{"lagging tasks", d.lagging},
	}
}

func (d *doctor) run(ctx context.Context, c check) finding {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return c.look(ctx)
}
