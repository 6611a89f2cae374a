package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// ErrVersionChanged says that the pipeline got a new version between the
// check of the rows and their creation: check them again.
var ErrVersionChanged = errors.New("the pipeline has a new version")

// NewTask is one checked row: the seeded values, and where the task begins.
type NewTask struct {
	Input form.Values
	State pipeline.State
}

// CreateTasks is one batch for one pipeline.
type CreateTasks struct {
	OrgID, PipelineID int64
	// VersionID is the version that the rows were checked against.
	VersionID int64
	Tasks     []NewTask
	// Actor is who the journal names: the creator of the API key.
	Actor int64
	// KeyID is the API key of the request, which must still be good; 0 for what is no
	// request.
	KeyID int64
	// Idempotency, when set, stores what Answer makes of the new ids in the
	// same transaction.
	Idempotency *IdempotencyKey
	Answer      func(ids []int64) (status int, body []byte)
}

// Created is the outcome of CreateTasks: the new ids in the order of the
// rows, or the stored answer of an earlier request with the same key.
type Created struct {
	IDs    []int64
	Replay *Answer
}

// CreateTasks stores a batch in one transaction: tasks, nodes, journal and
// outbox. Entry nodes are claimable as soon as it returns; runs start behind
// it. It fails with Validation when the pipeline takes no tasks, with Conflict
// while another request holds the same idempotency key, with InvalidAPIKey when the
// request's own key was ended meanwhile, and with ErrVersionChanged.
func (s *Store) CreateTasks(ctx context.Context, in CreateTasks) (Created, error) {
	var out Created
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		out = Created{}
		if in.Idempotency != nil {
			replay, err := in.Idempotency.begin(ctx, tx)
			if err != nil || replay != nil {
				out.Replay = replay
				return err
			}
		}
		p, err := in.holdPipeline(ctx, tx)
		if err != nil {
			return err
		}
		if out.IDs, err = in.insert(ctx, tx, p); err != nil {
			return err
		}
		if in.Idempotency != nil {
			status, body := in.Answer(out.IDs)
			return in.Idempotency.keep(ctx, tx, Answer{Status: status, Body: body})
		}
		return nil
	})
	if err != nil {
		return Created{}, err
	}
	return out, nil
}

// holdPipeline holds off a concurrent complete or publish, and an end of the API key,
// and returns the definition that the rows were checked against.
func (in CreateTasks) holdPipeline(ctx context.Context, tx pgx.Tx) (*pipeline.Definition, error) {
	var status string
	var versionID *int64
	var doc []byte
	b := &pgx.Batch{}
	queueKey(b, in.OrgID, in.KeyID, keyState.refusal)
	b.Queue(holdPipelineSQL, in.PipelineID)
	b.Queue(`SELECT p.status, p.version_id, v.definition
		FROM pipelines p LEFT JOIN pipeline_versions v ON v.id = p.version_id
		WHERE p.id = $1 AND p.org_id = $2`, in.PipelineID, in.OrgID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&status, &versionID, &doc) })
	err := tx.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "pipeline %d not found", in.PipelineID)
	}
	if err != nil {
		return nil, err
	}
	if !pipeline.AcceptsTasks(status) {
		return nil, NotAccepting(status)
	}
	if versionID == nil || *versionID != in.VersionID {
		return nil, ErrVersionChanged
	}
	d, err := pipeline.Stored(doc)
	return &d, err
}

// NotAccepting is the error of a creation in a pipeline whose status does not
// take tasks (spec 4.1.2).
func NotAccepting(status string) error {
	return fault.New(fault.Validation, "the workflow is %s; it must be ACTIVE or PAUSED to take tasks", status)
}

// insert writes the rows by COPY: ids first, then each table in one stream.
func (in CreateTasks) insert(ctx context.Context, tx pgx.Tx, d *pipeline.Definition) ([]int64, error) {
	rows, _ := tx.Query(ctx, `SELECT nextval('tasks_id_seq') FROM generate_series(1, $1)`, len(in.Tasks))
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	if err := in.copyTasks(ctx, tx, ids); err != nil {
		return nil, err
	}
	if err := in.copyNodes(ctx, tx, ids, d); err != nil {
		return nil, err
	}
	if err := in.count(ctx, tx, d); err != nil {
		return nil, err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"task_events"}, []string{"task_id", "seq", "kind", "actor"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			return []any{ids[i], int64(1), string(pipeline.EventCreate), nullID(in.Actor)}, nil
		}))
	if err != nil || d.Runs == pipeline.RunsOnFirstClaim {
		return ids, err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"outbox"}, []string{"topic", "task_id", "seq", "priority"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			return []any{"task_event", ids[i], int64(1), int16(UrgencyCreated)}, nil
		}))
	return ids, err
}

// count adds the new tasks, and their nodes that are in the queue, to what is
// kept: a trigger would look at every row.
func (in CreateTasks) count(ctx context.Context, tx pgx.Tx, d *pipeline.Definition) error {
	kinds := make(map[string]pipeline.Kind, len(d.Nodes))
	for _, n := range d.Nodes {
		kinds[n.Key] = n.Kind
	}
	counts := map[kept]int{}
	for _, t := range in.Tasks {
		counts[kept{PipelineID: in.PipelineID, VersionID: in.VersionID, What: countedAs(t.State.Status())}]++
		for _, n := range t.State.Nodes {
			if n.Status == task.NodeAvailable {
				counts[kept{PipelineID: in.PipelineID, What: string(kinds[n.Key]) + ":queued"}]++
			}
		}
	}
	b := &pgx.Batch{}
	for k, n := range counts {
		b.Queue(`INSERT INTO count_changes VALUES ($1, $2, $3, $4)`, k.PipelineID, k.VersionID, k.What, n)
	}
	return tx.SendBatch(ctx, b).Close()
}

func (in CreateTasks) copyTasks(ctx context.Context, tx pgx.Tx, ids []int64) error {
	var input []byte // of the row that is on its way: COPY takes one after the other
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"tasks"},
		[]string{"id", "org_id", "pipeline_id", "version_id", "status", "start_skipped", "n_total", "n_finished", "n_in_progress", "n_pending", "input"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			t := in.Tasks[i]
			var err error
			if input, err = appendObject(input[:0], t.Input); err != nil {
				return nil, err
			}
			sum := t.State.Summary()
			return []any{
				ids[i], in.OrgID, in.PipelineID, in.VersionID, string(t.State.Status()), t.State.StartSkipped,
				sum.Total, sum.Finished, sum.InProgress, sum.Pending, input,
			}, nil
		}))
	return err
}

func (in CreateTasks) copyNodes(ctx context.Context, tx pgx.Tx, ids []int64, d *pipeline.Definition) error {
	nodes := make(map[string]pipeline.Node, len(d.Nodes))
	for _, n := range d.Nodes {
		nodes[n.Key] = n
	}
	each := len(in.Tasks[0].State.Nodes)
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"task_nodes"},
		[]string{"task_id", "key", "org_id", "pipeline_id", "kind", "status", "lease_seconds", "four_eyes", "sla_at", "passed"},
		pgx.CopyFromSlice(len(ids)*each, func(i int) ([]any, error) {
			n := in.Tasks[i/each].State.Nodes[i%each]
			def := nodes[n.Key]
			return []any{
				ids[i/each], n.Key, in.OrgID, in.PipelineID, string(def.Kind), string(n.Status),
				int(def.LeaseFor().Seconds()), def.FourEyes, nil, n.Passed,
			}, nil
		}))
	if err != nil {
		return err
	}
	return in.startSLAs(ctx, tx, ids, d)
}

// startSLAs sets the deadlines of entry nodes by the database's clock.
func (in CreateTasks) startSLAs(ctx context.Context, tx pgx.Tx, ids []int64, d *pipeline.Definition) error {
	for _, n := range d.Nodes {
		if n.SLA == 0 {
			continue
		}
		_, err := tx.Exec(ctx, `UPDATE task_nodes SET sla_at = now() + $3::bigint * interval '1 microsecond'
			WHERE task_id = ANY($1) AND key = $2 AND status = $4`, ids, n.Key, n.SLA.Microseconds(), task.NodeAvailable)
		if err != nil {
			return err
		}
	}
	return nil
}
