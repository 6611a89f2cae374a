package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
)

// attributesTimeout is how long migrate waits until Temporal knows new search
// attributes; it refreshes them every ten seconds or so.
const attributesTimeout = time.Minute

func (a *app) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring schema, search attributes and bucket to what this version needs",
		Long: "Bring the schema of the database to the version of this binary. Where TEMPORAL_ADDRESS is reachable,\n" +
			"register the search attributes of the task runs; where S3_BUCKET is set, make the bucket if it is missing.\n" +
			"It can be run again and again, and by several at a time.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd.Context()) },
	}
}

func (a *app) migrate(ctx context.Context) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	if err := a.migrateSchema(ctx, c); err != nil {
		return err
	}
	if err := a.migrateTemporal(ctx, c); err != nil {
		return err
	}
	return a.migrateBucket(ctx, c)
}

func (a *app) migrateSchema(ctx context.Context, c config.Config) error {
	from, to, err := store.Migrate(ctx, c.DatabaseURL.Reveal())
	switch {
	case fault.Is(err, fault.Unavailable):
		return unreachable(c, err)
	case err != nil:
		return err
	case from == to:
		fmt.Fprintf(a.out, "schema: version %d, up to date\n", to)
	default:
		fmt.Fprintf(a.out, "schema: version %d, was %d\n", to, from)
	}
	return nil
}

// migrateTemporal registers what the runs are labelled with. An absent
// Temporal is no failure: the worker registers them too, once it is there.
func (a *app) migrateTemporal(ctx context.Context, c config.Config) error {
	if c.TemporalAddress == "" {
		fmt.Fprintln(a.out, "temporal: skipped, TEMPORAL_ADDRESS is not set")
		return nil
	}
	tc, err := newTemporal(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	defer tc.Close()
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := temporalAnswers(asking, tc); err != nil {
		fmt.Fprintf(a.err, "temporal: skipped, %s does not answer; the worker registers the search attributes later\n",
			c.TemporalAddress)
		return ctx.Err()
	}
	if err := namespaceThere(asking, tc, c.TemporalNamespace); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, attributesTimeout)
	defer cancel()
	if err := worker.EnsureSearchAttributes(waiting, tc, c.TemporalNamespace, newLogger(c, a.err, "migrate")); err != nil {
		return fault.New(fault.Unavailable, "Temporal did not take in the search attributes within %s; "+
			"run taskloom migrate again, or see its log", attributesTimeout).Because(err)
	}
	fmt.Fprintf(a.out, "temporal: search attributes known in namespace %s\n", c.TemporalNamespace)
	return nil
}

func namespaceThere(ctx context.Context, tc client.Client, namespace string) error {
	err := worker.ReachNamespace(ctx, tc, namespace)
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return fault.New(fault.NotFound, "Temporal has no namespace %q; make it with `temporal operator namespace create "+
			"--namespace %s`, or set TEMPORAL_NAMESPACE", namespace, namespace)
	}
	return err
}

func (a *app) migrateBucket(ctx context.Context, c config.Config) error {
	if !c.S3.Configured() {
		fmt.Fprintln(a.out, "s3: skipped, S3_BUCKET is not set")
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	made, err := newObjects(c.S3).EnsureBucket(asking)
	if err != nil {
		return err
	}
	if made {
		fmt.Fprintf(a.out, "s3: bucket %s made\n", c.S3.Bucket)
	} else {
		fmt.Fprintf(a.out, "s3: bucket %s is there\n", c.S3.Bucket)
	}
	return nil
}
