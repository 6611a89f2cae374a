package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// Store is what the worker needs of Postgres.
type Store interface {
	activities.TaskStore
	Outbox
	reconcileStore
	// Pulse makes the worker's heartbeat.
	Pulse(workerID string) *store.Pulse
	activities.UploadStore
	UploadOutbox
}

// Outbox holds what Temporal must still be told.
type Outbox interface {
	// TakeOutbox leases up to n rows of an urgency, of each task only the last: what
	// it returns can be delivered in any order.
	TakeOutbox(ctx context.Context, n int, u store.Urgency) ([]store.Delivery, error)
	// StepsBehind is how long people wait for what follows from what they handed in.
	StepsBehind(ctx context.Context) (time.Duration, error)
	// DoneOutbox forgets rows, and those before them of the same tasks.
	DoneOutbox(ctx context.Context, rows []store.Delivery) error
	RetryOutbox(ctx context.Context, id int64, in time.Duration, cause string) error
	GiveBackOutbox(ctx context.Context, ids []int64) error
	LoadTask(ctx context.Context, taskID int64) (store.LoadedTask, error)
}

// UploadOutbox holds the uploads whose runs must still be told to begin or to
// stop.
type UploadOutbox interface {
	// TakeUploads leases up to n of them.
	TakeUploads(ctx context.Context, n int) ([]store.UploadRing, error)
	// DoneUpload leaves alone what was rung again meanwhile.
	DoneUpload(ctx context.Context, id uuid.UUID, gen int64) error
	RetryUpload(ctx context.Context, id uuid.UUID, gen int64, in time.Duration, cause string) error
	// GiveBackUpload is for what was not tried: it counts no attempt.
	GiveBackUpload(ctx context.Context, id uuid.UUID, gen int64) error
}

// Runs starts and signals runs: the part of client.Client that the dispatcher
// uses.
type Runs interface {
	ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	SignalWithStartWorkflow(ctx context.Context, workflowID, signal string, arg any, o client.StartWorkflowOptions,
		workflow any, args ...any) (client.WorkflowRun, error)
}

// Deps are what a worker is made of. Store and Client must be set; every other
// zero value works.
type Deps struct {
	Store Store
	// Client should be lazy, so that the process starts before Temporal does.
	Client client.Client
	// Namespace is that of Client; "default" unless set.
	Namespace string
	// Runs delivers in place of Client.
	Runs   Runs
	Logger *slog.Logger
	// Registerer takes the metrics; nil drops them.
	Registerer prometheus.Registerer
	// TaskQueue is workflows.TaskQueue unless set.
	TaskQueue string
	// Objects is the object store. Without one the worker does not unpack
	// uploads and leaves IngestQueue to others.
	Objects activities.Objects
	// Limits bound the archives of uploads; archive.DefaultLimits unless set.
	Limits archive.Limits
	// IngestQueue is workflows.IngestQueue unless set.
	IngestQueue string
	// SweepEvery is 5 minutes unless set.
	SweepEvery time.Duration
	// WorkerID tells the heartbeats of processes apart.
	WorkerID string
	// PoolSize is how many connections the store may open, 16 unless set. It
	// bounds how many database steps run at once.
	PoolSize int
	// CachedRuns is how many runs are kept in memory, 16,384 unless set: some 50 KB
	// each with two nodes, and 0.3 KB more for each further node. What happens to
	// another one costs a read of its history and a replay. All workers of a process
	// have one cache.
	CachedRuns int
	Rates      Rates
	// ReconcileEvery is 15 s unless set.
	ReconcileEvery time.Duration
	// Serving follows whether the worker takes work of its task queues; nil for
	// nobody who asks.
	Serving *atomic.Bool
}

// Rates bound what the dispatcher asks of Temporal per second, so that a bulk
// of new tasks cannot starve the runs of those that people work on.
type Rates struct {
	// Signals are those of what somebody waits for. Claims have as many at most, and
	// fewer while people wait.
	Signals float64
	// Starts are those of new tasks, at most: fewer while people wait.
	Starts float64
}

// Defaults of Deps.
const (
	defaultPoolSize       = 16
	defaultCachedRuns     = 16_384
	defaultSignals        = 500
	defaultStarts         = 200
	defaultReconcileEvery = 15 * time.Second
	defaultSweepEvery     = 5 * time.Minute
)

func (d Deps) withDefaults() (Deps, error) {
	if d.Store == nil || d.Client == nil {
		return d, errors.New("a worker needs a store and a Temporal client")
	}
	if d.Runs == nil {
		d.Runs = d.Client
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Registerer == nil {
		d.Registerer = prometheus.NewRegistry()
	}
	if d.Serving == nil {
		d.Serving = new(atomic.Bool)
	}
	if d.Namespace == "" {
		d.Namespace = client.DefaultNamespace
	}
	if d.TaskQueue == "" {
		d.TaskQueue = workflows.TaskQueue
	}
	if d.IngestQueue == "" {
		d.IngestQueue = workflows.IngestQueue
	}
	if d.Limits == (archive.Limits{}) {
		d.Limits = archive.DefaultLimits()
	}
	if d.SweepEvery <= 0 {
		d.SweepEvery = defaultSweepEvery
	}
	if d.WorkerID == "" {
		d.WorkerID = "worker-" + uuid.NewString()
	}
	if d.PoolSize <= 0 {
		d.PoolSize = defaultPoolSize
	}
	if d.CachedRuns <= 0 {
		d.CachedRuns = defaultCachedRuns
	}
	if d.Rates.Signals <= 0 {
		d.Rates.Signals = defaultSignals
	}
	if d.Rates.Starts <= 0 {
		d.Rates.Starts = defaultStarts
	}
	if d.ReconcileEvery <= 0 {
		d.ReconcileEvery = defaultReconcileEvery
	}
	return d, nil
}

// queues are the task queues that the worker serves.
func (d Deps) queues() []string {
	if d.Objects == nil {
		return []string{d.TaskQueue}
	}
	return []string{d.TaskQueue, d.IngestQueue}
}
