package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// progressDays is how many days Progress tells apart.
	progressDays = 14
	// TotalMost is how far it counts what somebody ever handed in: that is more every year,
	// and they ask every few seconds.
	TotalMost = 10_000
)

// Progress counts what a person handed in; what they took back does not count.
type Progress struct {
	Today, Week int
	// Total is of all days; TotalMost means that or more.
	Total int
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

// totalSQL counts all that user $1 handed in, in the organizations $2, to TotalMost.
var totalSQL = fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM submissions
    WHERE author = $1 AND org_id = ANY ($2) AND undone_at IS NULL ORDER BY created_at DESC LIMIT %d) s`, TotalMost)

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
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(totalSQL, userID, orgs).QueryRow(func(row pgx.Row) error { return row.Scan(&p.Total) })
	err = s.pool.SendBatch(ctx, b).Close()
	return p, translate(err)
}
