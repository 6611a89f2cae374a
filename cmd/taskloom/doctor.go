package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

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
	// schemaFits is set once the schema of the database is what this binary needs, or
	// newer: what the database does not tell from then on, it refuses.
	schemaFits bool
	// temporalUp is set once Temporal has answered, and has the namespace.
	temporalUp bool
	// failed are the names of the checks that failed; what cannot answer is not asked
	// again.
	failed []string
	// outboxSeen is how far the runs are behind, nil as long as nobody has asked.
	outboxSeen *store.OutboxStats
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
	// needs are checks before it without which this one would accuse the wrong part.
	needs []string
}

// Those that others need.
const (
	databaseCheck = "database"
	temporalCheck = "temporal"
	bucketCheck   = "s3"
)

func (d *doctor) checks() []check {
	ofDatabase, ofTemporal := []string{databaseCheck}, []string{temporalCheck}
	// Workers that do not reach Temporal do not count as alive.
	ofWorkers := []string{databaseCheck, temporalCheck}
	return []check{
		{databaseCheck, d.database, nil},
		{"durability", d.durable, ofDatabase},
		{"schema", d.schema, ofDatabase},
		{"clock", d.clock, ofDatabase},
		{temporalCheck, d.temporalServer, nil},
		{"search attributes", d.searchAttributes, ofTemporal},
		{"pollers", d.pollers, ofWorkers},
		{bucketCheck, d.bucket, nil},
		{"s3 from browsers", d.cors, []string{bucketCheck}},
		{"uploads", d.uploads, ofWorkers},
		{"outbox", d.outbox, ofDatabase},
		{"lagging tasks", d.lagging, ofDatabase},
	}
}

func (d *doctor) run(ctx context.Context, c check) finding {
	for _, need := range c.needs {
		if slices.Contains(d.failed, need) {
			return finding{verdict: skipped, text: notLookedAt(need)}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	f := c.look(ctx)
	if f.verdict == failure {
		d.failed = append(d.failed, c.name)
	}
	return f
}

// notLookedAt is said of what could not be seen for a check that failed.
func notLookedAt(need string) string { return "not looked at: the line on " + need + " says why" }
