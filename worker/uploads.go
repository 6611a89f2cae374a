package worker

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/sony/gobreaker/v2"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// uploadTake is how many uploads are told at a time.
const uploadTake = 8

// uploadLane tells the runs of uploads to begin and to stop: at least once, and
// nothing that was rung meanwhile is lost.
type uploadLane struct {
	outbox  UploadOutbox
	runs    Runs
	queue   string
	missed  chan<- struct{} // as the dispatcher's
	breaker *gobreaker.CircuitBreaker[outcome]
	log     *slog.Logger
	metrics *metrics
}

func newUploadLane(d Deps, b *gobreaker.CircuitBreaker[outcome], missed chan<- struct{}, m *metrics) *uploadLane {
	return &uploadLane{outbox: d.Store, runs: d.Runs, queue: d.IngestQueue, missed: missed, breaker: b, log: d.Logger, metrics: m}
}

// run delivers until ctx ends.
func (l *uploadLane) run(ctx context.Context) {
	idle := pollSoon
	for ctx.Err() == nil {
		n := uploadTake
		switch l.breaker.State() {
		case gobreaker.StateOpen:
			rest(ctx, pollLate)
			continue
		case gobreaker.StateHalfOpen:
			n = 1
		case gobreaker.StateClosed:
		}
		rings, err := l.outbox.TakeUploads(ctx, n)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				l.log.Warn("Uploads that wait cannot be read; the dispatcher tries on.", "error", err)
			}
			rest(ctx, storeDown)
			continue
		case len(rings) == 0:
			rest(ctx, idle)
			idle = min(idle*2, pollLate)
			continue
		}
		idle = pollSoon
		var g errgroup.Group
		var back atomic.Bool
		for _, ring := range rings {
			g.Go(func() error {
				if l.one(ctx, ring) == heldBack {
					back.Store(true)
				}
				return nil
			})
		}
		_ = g.Wait() // they end without an error
		if back.Load() {
			rest(ctx, pollLate)
		}
	}
}

// one tells one run and writes what became of that. A write that fails leaves
// the upload leased: it is told once more, which changes nothing.
func (l *uploadLane) one(ctx context.Context, ring store.UploadRing) outcome {
	_, err := l.breaker.Execute(func() (outcome, error) { return delivered, l.deliver(ctx, ring) })
	r := judge(ctx, delivered, err)
	l.metrics.deliveries.WithLabelValues(string(r.outcome)).Inc()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	switch r.outcome {
	case delivered, settled, restarted:
		err = l.outbox.DoneUpload(ctx, ring.ID, ring.Gen)
	case heldBack:
		err = l.outbox.GiveBackUpload(ctx, ring.ID, ring.Gen)
	case unavailable:
		tellShut(l.log, r.err)
		err = l.outbox.RetryUpload(ctx, ring.ID, ring.Gen, backoff(ring.Attempts, outageFirst, outageLast), r.err.Error())
	case refused:
		l.log.Error("Temporal refuses the run of an upload; it is kept and tried again.",
			"upload", ring.ID.String(), "attempt", ring.Attempts, "error", r.err)
		tellMissing(l.missed, r.err)
		err = l.outbox.RetryUpload(ctx, ring.ID, ring.Gen, backoff(ring.Attempts, refusedFirst, refusedLast), r.err.Error())
	}
	if err != nil {
		l.log.Warn("An upload is not settled; its run will be told again.", "upload", ring.ID.String(), "error", err)
	}
	return r.outcome
}

// deliver starts the run of an upload, or asks it to stop. A run that is not
// there begins with the same call; one whose upload has ended ends at once.
func (l *uploadLane) deliver(ctx context.Context, ring store.UploadRing) error {
	ctx, cancel := context.WithTimeout(ctx, sdkTimeout)
	defer cancel()
	id := ring.ID.String()
	in := workflows.UploadInput{UploadID: id}
	o := client.StartWorkflowOptions{
		ID:                       workflows.UploadRunID(id),
		TaskQueue:                l.queue,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            workflows.UploadSummary(id, ring.PipelineID, ring.PipelineName),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			workflows.OrgIDAttribute.ValueSet(ring.OrgID),
			workflows.PipelineIDAttribute.ValueSet(ring.PipelineID),
		),
	}
	var err error
	if ring.Cancel {
		_, err = l.runs.SignalWithStartWorkflow(ctx, o.ID, workflows.CancelSignal, nil, o, workflows.UploadWorkflow, in)
	} else {
		_, err = l.runs.ExecuteWorkflow(ctx, o, workflows.UploadWorkflow, in)
	}
	return err
}
