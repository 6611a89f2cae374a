package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
)

// This file is in no build that runs anywhere: each function is a bug of
// internal/planted, called behind planted.Enabled, which is a constant.

// unlocked is a claim's statement without its lock.
func unlocked(sql string) string {
	return strings.ReplaceAll(sql, "FOR UPDATE OF n, t SKIP LOCKED", "")
}

// letOthersClaim waits between the look at a claim and the lock for longer than the
// leases of the scene hold.
func letOthersClaim(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(2500 * time.Millisecond):
	}
}

// anyClaim takes a claim for held when its node is, by whomever.
func anyClaim(ctx context.Context, q querier, userID int64, claimID string) (Claim, error) {
	taskID, ok := taskOfClaim(claimID)
	if !ok {
		return Claim{}, claimNotFound(claimID)
	}
	c, err := pastClaim(ctx, q, userID, taskID, claimID)
	if err != nil {
		return c, err
	}
	var held bool
	err = q.QueryRow(ctx, `SELECT status = 'claimed' FROM task_nodes WHERE task_id = $1 AND key = $2`, c.TaskID, c.Node).Scan(&held)
	if err == nil && !held {
		err = lostClaim(ctx, q, userID, taskID, claimID)
	}
	return c, err
}

// saveUnguarded is SaveDraft by reading first and writing after.
func (s *Store) saveUnguarded(ctx context.Context, c Claim, values form.Values, revision int64) (int64, error) {
	d, err := s.draft(ctx, c)
	if err != nil {
		return 0, err
	}
	have := int64(0)
	if d != nil {
		have = d.Revision
	}
	if have != revision {
		return 0, fault.New(fault.Conflict, "the draft is at revision %d, not %d", have, revision)
	}
	_, err = s.pool.Exec(ctx, `INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (task_id, node_key, user_id) DO UPDATE SET values = excluded.values, revision = excluded.revision, updated_at = now()`,
		c.TaskID, c.Node, c.UserID, c.OrgID, values, revision+1)
	return revision + 1, err
}

// taskAnyOrg reads a task by its id alone.
func (s *Store) taskAnyOrg(ctx context.Context, taskID int64) (Task, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+taskColumns+` FROM tasks t WHERE t.id = $1`, taskID)
	t, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Task, error) { return scanTask(row, false) })
	if errors.Is(err, pgx.ErrNoRows) {
		return t, taskNotFound(taskID)
	}
	return t, err
}
