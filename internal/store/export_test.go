package store

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// OnPool is a Store on connections of a test's own.
func OnPool(pool *pgxpool.Pool) *Store {
	return &Store{
		pool: pool, versions: newVersionCache(), heads: newQueueHeads(), walks: newQueueWalks(), due: newOutboxHeads(),
		waits: newLockWaits(pool.Config().MaxConns),
	}
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
	HoldsSQL       = holdsSQL
	BlockersSQL    = blockersSQL
	HistorySQL     = historySQL
	SubmissionsSQL = submissionsSQL
	OpenTasksSQL   = openTasksSQL
	AnyFreeSQL     = anyFreeSQL
	EndOverdueSQL  = endOverdueSQL
	EndAloneSQL    = endAloneSQL
	RingLaggingSQL = ringLaggingSQL
	TotalSQL       = totalSQL
	HistoryEndSQL  = historyEndSQL
	FoldPage       = (*Store).foldPage
	EndOverdue     = (*Store).endOverdue
)

// How far those go.
const (
	OpenCounted = openCounted
	WalkFar     = walkFar
	HistoryFar  = historyFar
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

// InvariantQuestion is how an invariant is asked about all there is, with a grace of a
// minute. It is empty for what no SQL answers.
func InvariantQuestion(name string) (sql string, args []any) {
	for _, inv := range invariants {
		switch {
		case inv.Name != name || inv.sql == "":
		case inv.scope == ofUploads:
			return inv.question(), []any{uuid.Nil, uuid.Max, "1m"}
		default:
			return inv.question(), []any{0, math.MaxInt64, "1m"}
		}
	}
	return "", nil
}

// QuestionOf is how an invariant of this SQL, about tasks, would be asked.
func QuestionOf(sql string) string { return Invariant{sql: sql}.question() }

// WaitForLocked sets how long claims wait for a lock. It comes before them.
func (s *Store) WaitForLocked(d time.Duration) { s.waits.wait, s.waits.named = d, d }
