package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// warmLockTimeout is how long a new connection waits for a table. Locks that are held
// while people work are shorter; the longer ones (migrations, repairs) are not waited for.
const warmLockTimeout = 50 * time.Millisecond

// warm has a new connection run what people wait for most, for nobody: a claim and
// the numbers of a queue. The first of them on a connection takes ten times as long
// as any later one, because Postgres reads its catalog and makes the plans that are
// kept. When a shift begins, as many connections as there may be are made within
// seconds, and people would stand behind that. A worker's steps use the same tables.
//
// What Postgres refuses is no error here, for the tables may not be there yet. Nor is
// a lock that somebody holds on one waited for: the connection would be missing while
// they are needed most. Where nothing can be written nobody is asked, on a standby or a
// primary that is to be read only: it would refuse, and have the pool look for a
// primary (guard), which ends each connection at its first use when there is no other.
func warm(ctx context.Context, conn *pgx.Conn) error {
	var readOnly bool // a standby's transactions are
	if err := conn.QueryRow(ctx, `SELECT current_setting('transaction_read_only')::boolean`).Scan(&readOnly); err != nil || readOnly {
		return err
	}
	if _, err := conn.Exec(ctx, `SET lock_timeout = `+milliseconds(warmLockTimeout)); err != nil {
		return err
	}
	if err := warmPlans(ctx, conn); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, `RESET lock_timeout`)
	return err
}

func warmPlans(ctx context.Context, conn *pgx.Conn) error {
	const nothing = 0 // is no pipeline, organization or user
	_, err := takeIn(ctx, conn, claimFreshSQL, nothing, nothing, nothing, pipeline.KindSubtask, claimTail(), queueFront.Priority, queueFront.TaskID)
	if err == nil {
		b := &pgx.Batch{}
		genericPlan(b)
		b.Queue(countQueueSQL, []int64{nothing}, []int64{nothing}, nothing, []string{string(pipeline.KindSubtask)},
			[]int16{queueFront.Priority}, []int64{queueFront.TaskID})
		err = conn.SendBatch(ctx, b).Close()
	}
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && !conn.IsClosed() {
		return nil
	}
	return err
}
