package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// While somebody holds an old snapshot, Postgres keeps every node that has left a
// queue since then in the index of the queue, where each claim comes by all of them
// first: after ten minutes of work at 50 a second a claim took four times as much as
// before. Thousands of tasks that an admin holds are in the way alike. So a process
// looks once in a while where its queues really begin, and what it costs to find out.
// Where that is little, as nearly always, claims begin at the front, and the order of
// service is exact. Where it is much, they begin there: what comes in before it
// meanwhile, because it was given back, is held no more or got another priority, is
// found by the next look that does not fail, or when there is nothing behind.

// queuePosition is a place in a queue's order of service.
type queuePosition struct {
	Priority int16
	TaskID   int64
}

// before reports whether p is served before o.
func (p queuePosition) before(o queuePosition) bool {
	return p.Priority < o.Priority || p.Priority == o.Priority && p.TaskID < o.TaskID
}

// queueFront is before everything, queueEnd behind it.
var (
	queueFront = queuePosition{Priority: math.MinInt16}
	queueEnd   = queuePosition{Priority: math.MaxInt16, TaskID: math.MaxInt64}
)

type queueName struct {
	pipelineID int64
	kind       pipeline.Kind
}

func newQueueHeads() *heads[queueName, queuePosition] { return newHeads[queueName](queueFront) }

// headOfQueue returns where claims in a queue begin.
func (s *Store) headOfQueue(ctx context.Context, m Member, kind pipeline.Kind) queuePosition {
	q := queueName{m.PipelineID, kind}
	at, look := s.heads.begin(q)
	if !look {
		return at
	}
	// Others go by what is found, when this caller is gone, too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	found, err := s.lookForHead(ctx, m, kind)
	if err != nil {
		return s.heads.looked(q, nil)
	}
	return s.heads.looked(q, &found)
}

// heldSQL is whether a task, by its name in the statement, waits because an admin holds
// it. One that has ended waits for nothing, though its row says held as its journal does.
func heldSQL(task string) string {
	return `(` + task + `.held AND ` + task + `.status NOT IN ('finished', 'failed'))`
}

// someHeldSQL is false where no task of a pipeline is held, so that none need be looked at.
// Tasks that ended while they were held stay in the index: with a hundred of them, it does
// not look further, and says true.
func someHeldSQL(pipeline string) string {
	return `(SELECT count(*) = 100 OR count(*) FILTER (WHERE h.status NOT IN ('finished', 'failed')) > 0
		FROM (SELECT h.status FROM tasks h WHERE h.pipeline_id = ` + pipeline + ` AND h.held ORDER BY -h.id LIMIT 100) h)`
}

// notHeldSQL leaves out nodes of tasks that an admin holds. Mostly there is none in a
// pipeline (%s), and no task is looked at.
var notHeldSQL = `(NOT ` + someHeldSQL("%s") + ` OR NOT (SELECT t.held FROM tasks t WHERE t.id = n.task_id))`

// lookForHead is the front, unless it is far from the first node that is free, or,
// where there is none, from the end.
func (s *Store) lookForHead(ctx context.Context, m Member, kind pipeline.Kind) (queuePosition, error) {
	at := queueEnd
	var before, after int64
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(blocksReadSQL, "task_nodes").QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
	b.Queue(`SELECT n.priority, n.task_id FROM task_nodes n
		WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $3 AND n.status = 'available' AND n.reserved_for IS NULL
			AND `+fmt.Sprintf(notHeldSQL, "$1")+`
		ORDER BY n.priority, n.task_id LIMIT 1`, m.PipelineID, m.OrgID, kind).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&at.Priority, &at.TaskID); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	b.Queue(blocksReadSQL, "task_nodes").QueryRow(func(row pgx.Row) error { return row.Scan(&after) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return queueFront, err
	}
	if after-before <= littleRead {
		return queueFront, nil
	}
	return at, nil
}
