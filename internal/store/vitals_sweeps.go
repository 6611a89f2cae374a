package store

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// vitalsSweepsSQL is how late each sweep is, by what it should have taken: a measure
// that needs no note of when one ran last, and that sees what keeps failing as well as
// one that does not run. It reads by the index that the sweep reads by, and next to
// nothing while that is on time. An upload that ended late is due no earlier than that.
// A file that is given up is due by its thirtieth day, also where a draft kept it for
// longer: until its sweep, which follows at once, it is told as late by that.
var vitalsSweepsSQL = `SELECT 'uploads', coalesce(now() - min(due), interval '0') FROM (
		SELECT greatest(expires_at + ` + inSQL(putGrace) + `, finished_at) AS due FROM uploads
		WHERE finished_at IS NOT NULL AND swept_at IS NULL AND expires_at < now() - ` + inSQL(putGrace) + ` ORDER BY expires_at LIMIT $1) u
	UNION ALL SELECT 'files', coalesce(now() - min(due), interval '0') FROM (
		SELECT created_at + CASE WHEN completed_at IS NULL AND object_key IS NOT NULL THEN ` + taskFileKept + ` ELSE ` + taskFileSwept + ` END AS due
		FROM task_files WHERE NOT swept AND created_at < now() - ` + taskFileSwept + ` ORDER BY created_at LIMIT $1) f
	UNION ALL SELECT 'answers', greatest(now() - min(created_at) - ` + inSQL(IdempotencyTTL) + `, interval '0') FROM idempotency_keys`

func (v *Vitals) scanSweeps(rows pgx.Rows) error {
	var sweep string
	var overdue time.Duration
	_, err := pgx.ForEachRow(rows, []any{&sweep, &overdue}, func() error {
		v.SweepsOverdue[sweep] = overdue
		return nil
	})
	return err
}
