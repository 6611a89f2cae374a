package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// What the doctor still calls healthy.
const (
	clockWarn  = time.Second
	clockFail  = 30 * time.Second
	outboxWarn = 30 * time.Second
	outboxFail = 5 * time.Minute
	// bulkFail is for claims and starts, which have a pace of their own: those of a
	// large import wait for long, and nothing is wrong.
	bulkFail    = 15 * time.Minute
	workersSeen = 6 * time.Second // three heartbeats
	// triedInVain tries of an outbox row make what it meets worth telling.
	triedInVain = 5
)

func (d *doctor) database(ctx context.Context) finding {
	begun := time.Now()
	var version string
	if err := d.store.Pool().QueryRow(ctx, `SELECT current_setting('server_version')`).Scan(&version); err != nil {
		return finding{
			failure, fmt.Sprintf("%s does not answer: %s", databasePlace(d.config), oneLine(err)),
			"check that Postgres runs there and that DATABASE_URL has the right host, port, user and password",
		}
	}
	return finding{verdict: fine, text: fmt.Sprintf("Postgres %s at %s answers in %s",
		version, databasePlace(d.config), time.Since(begun).Round(time.Millisecond))}
}

func (d *doctor) schema(ctx context.Context) finding {
	have, want, err := d.store.SchemaVersion(ctx)
	switch {
	case err != nil:
		return refusal(err)
	case have < want:
		return finding{failure, fmt.Sprintf("version %d, this binary needs %d", have, want), "run: taskloom migrate"}
	}
	d.schemaFits = true
	if have > want {
		return finding{
			warning, fmt.Sprintf("version %d, newer than this binary, which knows %d", have, want),
			"fine during an upgrade; afterwards install the newer binary here too",
		}
	}
	return finding{verdict: fine, text: fmt.Sprintf("version %d", have)}
}

func (d *doctor) clock(ctx context.Context) finding {
	before := time.Now()
	var theirs time.Time
	if err := d.store.Pool().QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&theirs); err != nil {
		return finding{verdict: skipped, text: "the database does not tell: " + oneLine(err)}
	}
	ours := before.Add(time.Since(before) / 2)
	return clockFinding(theirs.Sub(ours))
}

// clockFinding judges how far the database's clock is ahead of ours.
func clockFinding(ahead time.Duration) finding {
	text := fmt.Sprintf("the database's clock and this machine's differ by %s", ahead.Abs().Round(time.Millisecond))
	const wayOut = "synchronise both clocks (chrony, systemd-timesyncd): leases and keys follow the database's"
	switch {
	case ahead.Abs() >= clockFail:
		return finding{failure, text, wayOut}
	case ahead.Abs() >= clockWarn:
		return finding{warning, text, wayOut}
	}
	return finding{verdict: fine, text: text}
}

func (d *doctor) temporalServer(ctx context.Context) finding {
	if d.config.TemporalAddress == "" {
		return finding{failure, "TEMPORAL_ADDRESS is not set", "give host:port of the Temporal server"}
	}
	if err := temporalAnswers(ctx, d.temporal); err != nil {
		return d.temporalSilent(err)
	}
	address, namespace := d.config.TemporalAddress, d.config.TemporalNamespace
	err := namespaceThere(ctx, d.temporal, namespace)
	switch {
	case err != nil && ctx.Err() != nil:
		return d.temporalSilent(err)
	case fault.Is(err, fault.NotFound):
		return finding{
			failure, fmt.Sprintf("%s answers, but has no namespace %s", address, namespace),
			fmt.Sprintf("set TEMPORAL_NAMESPACE to one that it has, or make this one: temporal operator namespace create --namespace %s", namespace),
		}
	case err != nil:
		return finding{
			failure, fmt.Sprintf("%s answers, but not for namespace %s: %s", address, namespace, oneLine(err)),
			"make the namespace, set TEMPORAL_NAMESPACE, or give TEMPORAL_API_KEY the right to use it",
		}
	}
	d.temporalUp = true
	return finding{verdict: fine, text: fmt.Sprintf("%s answers, namespace %s is there", address, namespace)}
}

func (d *doctor) temporalSilent(err error) finding {
	return finding{
		failure, fmt.Sprintf("%s does not answer: %s", d.config.TemporalAddress, oneLine(err)),
		"check that Temporal runs there and that TEMPORAL_ADDRESS (and TEMPORAL_TLS, TEMPORAL_API_KEY) is right",
	}
}

func (d *doctor) searchAttributes(ctx context.Context) finding {
	known, err := d.temporal.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: d.config.TemporalNamespace})
	if err != nil {
		return finding{
			warning, "Temporal does not tell: " + oneLine(err),
			"the worker tells in its log whether they are missing",
		}
	}
	var wrong []string
	for name, want := range map[string]enums.IndexedValueType{
		workflows.OrgIDAttribute.GetName():      workflows.OrgIDAttribute.GetValueType(),
		workflows.PipelineIDAttribute.GetName(): workflows.PipelineIDAttribute.GetValueType(),
		workflows.TaskStateAttribute.GetName():  workflows.TaskStateAttribute.GetValueType(),
	} {
		if known.GetCustomAttributes()[name] != want {
			wrong = append(wrong, name+" ("+want.String()+")")
		}
	}
	if len(wrong) > 0 {
		return finding{failure, "missing or of another type: " + strings.Join(wrong, ", "), "run: taskloom migrate"}
	}
	return finding{verdict: fine, text: "OrgId, PipelineId and TaskState are registered"}
}

func (d *doctor) pollers(ctx context.Context) finding {
	alive, err := d.store.WorkersAlive(ctx, workflows.TaskQueue, workersSeen)
	if err != nil {
		return d.untold(err)
	}
	if alive == 0 {
		return finding{failure, "no worker is alive that reaches Temporal", "start one: taskloom worker"}
	}
	queue, err := d.temporal.DescribeTaskQueue(ctx, workflows.TaskQueue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return finding{warning, "Temporal does not tell who polls: " + oneLine(err), "see the line on temporal"}
	}
	if len(queue.GetPollers()) == 0 {
		return finding{
			failure, fmt.Sprintf("nobody polls the task queue %s", workflows.TaskQueue),
			"check that the worker has the same TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE",
		}
	}
	return finding{verdict: fine, text: fmt.Sprintf("%d alive, %d seen by Temporal", alive, len(queue.GetPollers()))}
}

func (d *doctor) bucket(ctx context.Context) finding {
	if !d.config.S3.Configured() {
		return finding{verdict: skipped, text: "S3_BUCKET is not set; tasks with files cannot be created"}
	}
	err := d.objects.RoundTrip(ctx)
	if missing, ok := errors.AsType[*fault.Error](err); ok && missing.Kind == fault.NotFound {
		return finding{
			failure, fmt.Sprintf("%s: %s", missing.Message, oneLine(err)),
			"set S3_BUCKET (or S3_ENDPOINT) to one that is there, or make this one: taskloom migrate",
		}
	}
	if err != nil {
		return finding{
			failure, fmt.Sprintf("bucket %s: %s", d.config.S3.Bucket, oneLine(err)),
			"check S3_ENDPOINT, S3_REGION and the credentials",
		}
	}
	return finding{verdict: fine, text: fmt.Sprintf("bucket %s takes and gives objects", d.config.S3.Bucket)}
}

// uploads looks for who unpacks archives: workers that know the object store.
func (d *doctor) uploads(ctx context.Context) finding {
	if !d.config.S3.Configured() {
		return finding{verdict: skipped, text: "S3_BUCKET is not set; tasks with files cannot be created"}
	}
	alive, err := d.store.WorkersAlive(ctx, workflows.IngestQueue, workersSeen)
	if err != nil {
		return d.untold(err)
	}
	if alive == 0 {
		return finding{failure, "no worker is alive that unpacks uploads; confirmations are answered with 503", "give a worker the S3_ variables and start it: taskloom worker"}
	}
	return finding{verdict: fine, text: fmt.Sprintf("%d alive that unpack uploads", alive)}
}

// waiting is what the outbox and the lagging tasks are told from, which is read once.
func (d *doctor) waiting(ctx context.Context) (store.OutboxStats, error) {
	if d.outboxSeen != nil {
		return *d.outboxSeen, nil
	}
	s, err := d.store.OutboxStats(ctx)
	if err == nil {
		d.outboxSeen = &s
	}
	return s, err
}

// counted says a number, or that there are as many and more where counting stopped.
func counted(n int64) string {
	if n >= store.VitalsLimit {
		return fmt.Sprintf("%d or more", n)
	}
	return strconv.FormatInt(n, 10)
}

func (d *doctor) outbox(ctx context.Context) finding {
	s, err := d.waiting(ctx)
	if err != nil {
		return d.untold(err)
	}
	return d.behind(outboxFinding(s))
}

// behind is of work that waits for Temporal. Where the line on that failed, nothing
// else is to blame.
func (d *doctor) behind(f finding) finding {
	if f.wayOut != "" && slices.Contains(d.failed, temporalCheck) {
		f.wayOut = "mend what the line on temporal says; what waits goes on by itself then"
	}
	return f
}

func outboxFinding(s store.OutboxStats) finding {
	if s.Rows == 0 {
		return finding{verdict: fine, text: "empty"}
	}
	text := fmt.Sprintf("%s events wait for Temporal, the oldest for %s", counted(s.Rows), s.Oldest.Round(time.Second))
	wayOut := "check that a worker runs and reaches Temporal; a bulk of new tasks, or of claims when a shift begins, drains by itself"
	if s.Tried >= triedInVain {
		text += fmt.Sprintf("; one was tried %d times: %s", s.Tried, oneLine(errors.New(s.LastError)))
		wayOut = "mend what Temporal says, or what keeps the workers from it; what it refuses is kept, and tried again every five minutes"
	}
	switch {
	case s.Urgent >= outboxFail, s.Oldest >= bulkFail:
		return finding{failure, text, wayOut}
	case s.Oldest >= outboxWarn:
		return finding{warning, text, wayOut}
	}
	return finding{verdict: fine, text: text}
}

func (d *doctor) lagging(ctx context.Context) finding {
	s, err := d.waiting(ctx)
	if err != nil {
		return d.untold(err)
	}
	if s.Lagging > 0 {
		return d.behind(finding{
			warning, counted(s.Lagging) + " tasks have events whose consequences are not written yet",
			"normal while work flows; if it stays, look at the worker's log and at these runs in the Temporal UI",
		})
	}
	return finding{verdict: fine, text: "none"}
}

// oneLine fits an error, without what only callers of the API need, into a
// line.
func oneLine(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
