package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/workflows"
)

// attributesKnown is how often a namespace is asked whether it has taken in
// new search attributes; it may take some ten seconds.
const attributesKnown = time.Second

// EnsureSearchAttributes registers what the runs are labelled with, where it
// is missing, and waits until the namespace knows it: before that Temporal
// refuses every start. Where this client may not register anything it says in
// the log what an operator has to do, and waits for that.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string, log *slog.Logger) error {
	for told := false; ; pause(ctx, attributesKnown) {
		known, err := attributesAreKnown(ctx, c, namespace)
		if known || err != nil {
			return err
		}
		// Again each time: workers that start together get in each other's way.
		if err := addAttributes(ctx, c, namespace); err != nil && !told {
			told = true
			log.Warn("The search attributes of the runs are missing and cannot be registered; the worker waits for them.",
				"run", "temporal operator search-attribute create "+strings.Join(attributeFlags(), " "), "error", err)
		}
	}
}

// attributesMissing reports whether Temporal refused a call because it does not
// know how the runs are labelled: its namespace was made anew.
func attributesMissing(err error) bool {
	invalid, ok := errors.AsType[*serviceerror.InvalidArgument](err)
	return ok && strings.Contains(invalid.Message, "search attribute")
}

// tellMissing passes on that Temporal does not know how the runs are labelled, when
// that is why it refused a call.
func tellMissing(missed chan<- struct{}, err error) {
	if attributesMissing(err) {
		select {
		case missed <- struct{}{}:
		default: // it is known already
		}
	}
}

// relabel registers the search attributes again whenever they are missed, until
// ctx ends.
func relabel(ctx context.Context, d Deps, missed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-missed:
		}
		d.Logger.Warn("Temporal does not know the search attributes of the runs any more; they are registered again.")
		if EnsureSearchAttributes(ctx, d.Client, d.Namespace, d.Logger) != nil {
			return // only because ctx has ended
		}
	}
}

// attributesAreKnown asks by using them. Any other trouble is not theirs.
func attributesAreKnown(ctx context.Context, c client.Client, namespace string) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var terms []string
	for _, a := range attributes() {
		terms = append(terms, a.GetName()+" IS NULL")
	}
	_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: namespace, Query: strings.Join(terms, " AND "),
	})
	var invalid *serviceerror.InvalidArgument
	return !errors.As(err, &invalid), ctx.Err()
}

// addAttributes adds one after the other: one that is there already must not
// keep the others out.
func addAttributes(ctx context.Context, c client.Client, namespace string) error {
	var failed []error
	for _, a := range attributes() {
		_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: namespace, SearchAttributes: map[string]enums.IndexedValueType{a.GetName(): a.GetValueType()},
		})
		var there *serviceerror.AlreadyExists
		if err != nil && !errors.As(err, &there) {
			failed = append(failed, fmt.Errorf("add %s: %w", a.GetName(), err))
		}
	}
	return errors.Join(failed...)
}

func attributes() []temporal.SearchAttributeKey {
	return []temporal.SearchAttributeKey{
		workflows.OrgIDAttribute, workflows.PipelineIDAttribute, workflows.TaskStateAttribute,
	}
}

func attributeFlags() []string {
	var out []string
	for _, a := range attributes() {
		out = append(out, "--name "+a.GetName()+" --type "+a.GetValueType().String())
	}
	return out
}
