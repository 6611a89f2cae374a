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
	// databaseUp is set once the database has answered, schemaFits once its schema is
	// what this binary needs, or newer: what it does not tell from then on, it refuses.
	databaseUp, schemaFits bool
	// temporalUp is set once Temporal has answered; what cannot is not asked
	// again.
	temporalUp bool
}

func (a *app) doctorCommand() *cobra.Command {
	var deep bool
	var o deepOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check every part and say how to mend what is wrong",
		Long: "Check every part and say how to mend what is wrong. With --deep check, too, every promise about the data\n" +
			"(docs/promises.md), on a database that is at work: nobody has to wait for it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return a.doctor(cmd.Context(), deep, o)
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "check every promise about the data, too")
	o.flags(cmd)
	return cmd
}

func (a *app) doctor(ctx context.Context, deep bool, o deepOptions) error {
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
	told, sick := []toldCheck{}, false
	for _, check := range d.checks() {
		f := d.run(ctx, check)
		sick = sick || f.verdict == failure
		told = append(told, toldCheck{Name: check.name, Verdict: f.verdict, Text: f.text, WayOut: f.wayOut})
		if deep && o.json {
			continue
		}
		fmt.Fprintf(a.out, "%-4s  %-17s  %s\n", f.verdict, check.name, f.text)
		if f.wayOut != "" {
			fmt.Fprintf(a.out, "      %-17s  → %s\n", "", f.wayOut)
		}
	}
	if deep {
		broken, err := d.deep(ctx, a, o, told)
		if err != nil {
			return err
		}
		sick = sick || broken
	}
	if sick {
		return errSilent
	}
	return nil
}

// toldCheck is a check as scripts see it.
type toldCheck struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Text    string  `json:"text"`
	WayOut  string  `json:"way_out,omitempty"`
}

// check is one thing that the doctor looks at.
type check struct {
	name string
	look func(context.Context) finding
}

func (d *doctor) checks() []check {
	return []check{
		{"database", d.database},
		{"durability", d.durable},
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
