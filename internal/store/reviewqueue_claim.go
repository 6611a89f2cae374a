package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// claimTries is how many reviews of a person's work are tried before the
// caller hears that there is none: others may be taking them at that moment.
const claimTries = 50

// ClaimReviewOf gives the member the next review of one contributor's work,
// oldest task first, or nil when there is none for them. Conflict when the
// pipeline is not ACTIVE, Forbidden or NotFound when they may not work there any more.
// What the member skipped is left out.
func (s *Store) ClaimReviewOf(ctx context.Context, m Member, contributor int64) (*Claim, error) {
	skipped, err := s.skipped(ctx, m)
	if err != nil {
		return nil, translate(err)
	}
	q, tried := ReviewQuery{Contributor: contributor, Limit: claimTries}, 0
	var passed []taskNode
	for tried < claimTries {
		page, err := s.ReviewQueue(ctx, m, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Reviews {
			if r.Held || r.With != 0 && r.With != m.UserID || skipped[taskNode{r.TaskID, r.Node}] {
				continue
			}
			tried++
			c, err := s.take(ctx, claimNamedFreeSQL, m.PipelineID, m.OrgID, m.UserID, pipeline.KindReview, claimTail(), r.TaskID, r.Node)
			if c != nil || err != nil {
				return c, err
			}
			passed = append(passed, taskNode{r.TaskID, r.Node})
		}
		if page.Next == nil {
			break
		}
		q.After = *page.Next
	}
	if err := s.claimsOpen(ctx, m, pipeline.KindReview); err != nil {
		return nil, err
	}
	return s.takeLocked(ctx, m, pipeline.KindReview, passed) // what was passed over may only be locked
}

// skipped is what the member skipped in the pipeline: at most maxSkips nodes.
func (s *Store) skipped(ctx context.Context, m Member) (map[taskNode]bool, error) {
	rows, _ := s.pool.Query(ctx, `SELECT task_id, node_key FROM skips WHERE user_id = $1 AND org_id = $2 AND pipeline_id = $3`,
		m.UserID, m.OrgID, m.PipelineID)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[taskNode])
	out := map[taskNode]bool{}
	for _, n := range found {
		out[n] = true
	}
	return out, err
}
