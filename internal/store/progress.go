package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// progressDays is how many days Progress tells apart.
const progressDays = 14

// Progress counts what a person handed in; what they took back does not count.
type Progress struct {
	Today, Week, Total int
	// Accepted and Returned are of the submissions of Days.
	Accepted, Returned int
	// Days are the last progressDays, oldest first.
	Days []DayCount
}

// DayCount is one day of it.
type DayCount struct {
	Date     time.Time `db:"date"`
	Count    int       `db:"count"`
	Accepted int       `db:"accepted"`
	Returned int       `db:"returned"`
}

// progressSQL counts the last days of user $1, whose clock is $2 ahead of UTC.
// A day without work has a row, too.
const progressSQL = `WITH day AS (
    SELECT d::date AS date, (d - $2::interval) AT TIME ZONE 'UTC' AS begins
    FROM (SELECT date_trunc('day', now() AT TIME ZONE 'UTC' + $2::interval) AS today) n,
        generate_series(n.today - ($3 - 1) * interval '1 day', n.today, interval '1 day') d
)
SELECT day.date, count(s.claim_id) AS count,
    count(s.claim_id) FILTER (WHERE n.status = 'finished' AND n.iteration = s.iteration) AS accepted,
    count(s.claim_id) FILTER (WHERE n.iteration > s.iteration AND s.verdict <> 'reject') AS returned
FROM day LEFT JOIN submissions s ON s.author = $1 AND s.undone_at IS NULL
        AND s.created_at >= day.begins AND s.created_at < day.begins + interval '1 day' AND s.org_id = ANY ($4)
    LEFT JOIN task_nodes n ON n.task_id = s.task_id AND n.key = s.node_key
GROUP BY day.date ORDER BY day.date`

// Progress counts what the person handed in, in the organizations that they
// belong to. Days begin where a clock does that is offset ahead of UTC.
func (s *Store) Progress(ctx context.Context, userID int64, offset time.Duration) (Progress, error) {
	var p Progress
	rows, _ := s.pool.Query(ctx, `SELECT org_id FROM org_members WHERE user_id = $1 AND removed_at IS NULL`, userID)
	orgs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return p, translate(err)
	}
	rows, _ = s.pool.Query(ctx, progressSQL, userID, offset, progressDays, orgs)
	if p.Days, err = pgx.CollectRows(rows, pgx.RowToStructByName[DayCount]); err != nil {
		return p, translate(err)
	}
	for i, d := range p.Days {
		p.Accepted += d.Accepted
		p.Returned += d.Returned
		if i >= progressDays-7 {
			p.Week += d.Count
		}
		p.Today = d.Count
	}
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM submissions WHERE author = $1 AND org_id = ANY ($2) AND undone_at IS NULL`,
		userID, orgs).Scan(&p.Total)
	return p, translate(err)
}
