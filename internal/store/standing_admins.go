package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// What an admin asks for was let in by the role of when the request began, too. So what
// acts in their name asks again, in the transaction that acts, with their standing held
// (standing.go): a change of their role waits for it, or is seen by it. It goes before
// anything is locked, as changes of roles take the standing before tasks.

// errNoAdmin is behind the error of who is no admin any more, whatever that says.
var errNoAdmin = errors.New("no admin any more")

// stillPipelineAdmin refuses who is no admin of the pipeline's project now, as a request
// that begins now is refused.
func stillPipelineAdmin(ctx context.Context, tx pgx.Tx, userID, pipelineID int64) error {
	m, err := standingMember(ctx, tx, memberOfPipelineSQL, userID, pipelineID)
	return mayAdminister(m, err, "pipeline %d not found", pipelineID, "this is for admins of the pipeline's project")
}

// stillProjectAdmin is stillPipelineAdmin for a project.
func stillProjectAdmin(ctx context.Context, tx pgx.Tx, userID, projectID int64) error {
	m, err := standingMember(ctx, tx, memberOfProjectSQL, userID, projectID)
	return mayAdminister(m, err, "project %d not found", projectID, "this is for admins of the project")
}

// standingMember holds the person's standing, and finds them where the statement looks.
func standingMember(ctx context.Context, tx pgx.Tx, sql string, userID, id int64) (Member, error) {
	var m Member
	b := &pgx.Batch{}
	b.Queue(holdStandingSQL, userID)
	b.Queue(sql, userID, id).QueryRow(func(row pgx.Row) error { return scanMember(row, &m) })
	err := tx.SendBatch(ctx, b).Close()
	return m, err
}

func mayAdminister(m Member, err error, missing string, id int64, refusal string) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fault.New(fault.NotFound, missing, id).Because(errNoAdmin)
	case err != nil:
		return fmt.Errorf("ask for the role: %w", err)
	case !m.Admin():
		return fault.New(fault.Forbidden, "%s", refusal).Because(errNoAdmin)
	}
	return nil
}
