package store

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// OnPool is a Store on connections of a test's own.
func OnPool(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, versions: newVersionCache(), heads: newQueueHeads(), due: newOutboxHeads(), waits: newLockWaits(pool.Config().MaxConns)}
}

// Translate is what every method does with an error of Postgres.
var Translate = translate

// What the plan tests look at.
var (
	PageSQL        = pageSQL
	ClaimFreshSQL  = claimFreshSQL
	TakeOutboxSQL  = takeOutboxSQL
	KeepPlanSQL    = keepPlanSQL
	ClaimLapsedSQL = claimLapsedSQL
	PassedOverSQL  = passedOverSQL
	LiveClaimSQL   = liveClaimSQL
	QueueFront     = queueFront
	HeadOfQueue    = (*Store).headOfQueue
	HeadOfOutbox   = (*Store).headOfOutbox
	ClaimTail      = claimTail
	TaskOfClaim    = taskOfClaim
	CountQueueSQL  = countQueueSQL
	BlockersSQL    = blockersSQL
	HistorySQL     = historySQL
	SubmissionsSQL = submissionsSQL
)

// QueuePosition is what HeadOfQueue returns.
type QueuePosition = queuePosition

// What the tests of lists look at, and in smaller steps than production takes.
var (
	SearchTasksIn     = (*Store).searchTasks
	ReviewQueueIn     = (*Store).reviewQueue
	KeptSQL           = keptSQL
	AheadSQL          = aheadSQL
	ReviewsByAgeSQL   = reviewsByAgeSQL
	ReviewsByActorSQL = reviewsByActorSQL
	ReviewsOfActorSQL = reviewsOfActorSQL
)

// SearchSQL is one step of a search: the walk, and the filter of what it came
// by.
func SearchSQL(orgID, pipelineID int64, q TaskSearch, step int) (walkSQL string, walkArgs []any, filterSQL func(ids []int64) (string, []any)) {
	w := walk{org: orgID, pipeline: pipelineID, q: q, before: q.Before, step: step}
	if w.before <= 0 {
		w.before = math.MaxInt64
	}
	w.stored = w.statuses()
	walkSQL, walkArgs = w.sql()
	return walkSQL, walkArgs, func(ids []int64) (string, []any) { return w.filterSQL(ids, q.Limit+1) }
}

// FoldCounts adds the kept counts up.
func (s *Store) FoldCounts(ctx context.Context) error { return s.foldCounts(ctx) }

// InvariantSQL is the statement of an invariant.
func InvariantSQL(name string) string {
	for _, inv := range invariants {
		if inv.Name == name {
			return inv.sql
		}
	}
	return ""
}

// InvariantQuestion is how an invariant is asked: after a task, up to one, with a grace.
func InvariantQuestion(name string) string {
	for _, inv := range invariants {
		if inv.Name == name {
			return inv.question()
		}
	}
	return ""
}

// WaitForLocked sets how long claims wait for a lock. It comes before them.
func (s *Store) WaitForLocked(d time.Duration) { s.waits.wait, s.waits.named = d, d }
