package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What creates tasks holds the pipeline's status and version from the statement before it
// reads them up to the end of its transaction. A change of either waits for those who hold
// them and has others wait; those then read what it left.
//
// It is an advisory lock (standing.go), because those stand in a line: a lock of the row
// that many may have goes to the next who wants it while somebody waits to change the row,
// so creations that overlap would keep a pipeline from being paused for as long as they
// come. Nor does a creation write the row, and a draft, which is in the same row, is saved
// beside creations.

// pipelineHold are the two numbers of the lock of pipeline $1, as standingKey are a
// person's.
const pipelineHold = `3, ($1::bigint % 2147483647)::int`

const holdPipelineSQL = `SELECT pg_advisory_xact_lock_shared(` + pipelineHold + `)`

// changePipeline waits for those who hold the pipeline, and has others wait up to the end
// of the transaction.
func changePipeline(ctx context.Context, tx pgx.Tx, pipelineID int64) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+pipelineHold+`)`, pipelineID); err != nil {
		return fmt.Errorf("hold off creations: %w", err)
	}
	return nil
}
