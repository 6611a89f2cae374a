package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// What creates tasks holds the pipeline's status and version from the statement before it
// reads them up to the end of its transaction. A change of either waits for those who hold
// them and has others wait; those then read what it left.
//
// It is an advisory lock (standing.go), because those stand in a line: a lock of the row
// that many may have goes to the next who wants it while somebody waits to change the row,
// so creations that overlap would keep a pipeline from being paused for as long as they
// come. Nor does a creation write the row, and a draft, which is in the same row, is saved
// beside creations, unless such a change waits and holds the row.

// pipelineHold are the two numbers of the lock of pipeline $1, as standingKey are a
// person's.
const pipelineHold = `3, ($1::bigint % 2147483647)::int`

const holdPipelineSQL = `SELECT pg_advisory_xact_lock_shared(` + pipelineHold + `)`

// changeWait is how long a change of a pipeline waits for the creations before it. Those
// behind it wait as long, each with a connection and a place for requests in its hands,
// so it is less than they may wait for a lock (lockTimeout), and more than a creation of
// 5,000 tasks takes beside a busy hour (docs/load.md).
const changeWait = 4 * time.Second

// changePipeline waits for those who hold the pipeline, and has others wait up to the end
// of the transaction. It fails with Unavailable when one of them takes longer than
// changeWait.
func changePipeline(ctx context.Context, tx pgx.Tx, pipelineID int64) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config('lock_timeout', $1, true)`, milliseconds(changeWait))
	b.Queue(`SELECT pg_advisory_xact_lock(`+pipelineHold+`)`, pipelineID)
	b.Queue(`SET LOCAL lock_timeout TO DEFAULT`)
	err := tx.SendBatch(ctx, b).Close()
	if lockedTooLong(err) {
		return fault.New(fault.Unavailable, "tasks are being created in pipeline %d for more than %v; try again", pipelineID, changeWait)
	}
	if err != nil {
		return fmt.Errorf("hold off creations: %w", err)
	}
	return nil
}
