package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A person's standing is where they may work now. Whoever asks for work was let in by
// the role that they had when their request began, which may be minutes ago: its body
// was still on the way. So what gives work to somebody asks for their standing in the
// statement that does so, by the same rule by which a change of roles ends what is not
// allowed any more.
//
// That leaves the moment in which both are on their way: the statement has seen the old
// role, the change sees no claim yet, and both commit. Therefore one waits for the
// other. What gives work to a person holds their standing up to the end of its
// transaction, before the statement that looks; a change holds off such transactions,
// when it has written the new role and before it looks for what to end. It then sees
// what those before it gave, and those behind it see the role.
//
// It is an advisory lock, which is in memory alone: the membership's own row could be
// locked for the same, but each claim would write it, and the log, for something that
// happens a few times a year. A second look for claims after the commit would not do: a
// claim that waits for a task or for the disk meanwhile comes after any look.

// mayWorkSQL is the condition that a person may, by their role of now, work on nodes of
// a kind in pipeline p of an organization. Each is an expression of SQL.
func mayWorkSQL(org, user, kind string) string {
	return fmt.Sprintf(`EXISTS (SELECT FROM org_members om
	LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.project_id = p.project_id
	WHERE om.org_id = %[1]s AND om.user_id = %[2]s AND om.removed_at IS NULL AND (om.role = 'org_admin'
		OR pm.role IN ('project_admin', CASE %[3]s WHEN 'subtask' THEN 'contributor' ELSE 'reviewer' END)))`, org, user, kind)
}

// standingKey are the two numbers of the lock of user $1. Users who share one, of 2^31
// users, wait for each other at most.
const standingKey = `1, ($1::bigint % 2147483647)::int`

// claimBeginSQL is what a claim begins with, in one statement: that it keeps its plan,
// and that it holds the standing of user $1.
const claimBeginSQL = keepPlanSQL + `, pg_advisory_xact_lock_shared(` + standingKey + `)`

// holdStandingSQL keeps changes of the roles of user $1 waiting up to the end of the
// transaction. Statements behind it see those before. A transaction that holds a task
// locked may meet a change that waits for the task: Postgres ends one of them, and inTx
// runs it again.
const holdStandingSQL = `SELECT pg_advisory_xact_lock_shared(` + standingKey + `)`

func holdStanding(ctx context.Context, tx pgx.Tx, userID int64) error {
	if _, err := tx.Exec(ctx, holdStandingSQL, userID); err != nil {
		return fmt.Errorf("hold the standing: %w", err)
	}
	return nil
}

// changeStanding waits for those who hold the user's standing, and has others wait up
// to the end of the transaction.
func changeStanding(ctx context.Context, tx pgx.Tx, userID int64) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+standingKey+`)`, userID); err != nil {
		return fmt.Errorf("change the standing: %w", err)
	}
	return nil
}
