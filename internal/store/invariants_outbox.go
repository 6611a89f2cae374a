package store

import "strconv"

// waitsSQL tells of rows o of the outbox that they wait, shouldBeToldSQL whether
// nothing stands for one and a worker could tell it.
var (
	waitsSQL = `SELECT o.task_id, 'task ' || o.task_id || ' event ' || o.seq || ': waits since ' || date_trunc('second', o.created_at) ||
				', tried ' || o.attempts || ' times' || CASE o.last_error WHEN '' THEN '' ELSE ', last error: ' || left(o.last_error, 100) END
			FROM outbox o`
	shouldBeToldSQL = `NOT (` + coveredSQL + `) AND ` + workerTellsSQL
	workerTellsSQL  = `EXISTS (SELECT FROM worker_heartbeats h WHERE h.temporal_ok AND ` + heardSQL("interval '6 seconds'") + `)`
)

// outboxInvariants are promise I6: what Temporal must hear of is on its way.
var outboxInvariants = []Invariant{
	{
		Name: "outbox-has-event", Promise: "I6", Advice: adviceRestore,
		Says: "every outbox row tells an event that is in the journal",
		sql: `SELECT o.task_id, 'task ' || o.task_id || ': the outbox tells event ' || o.seq || ', which is not in the journal' FROM outbox o
			WHERE o.task_id > $1 AND o.task_id <= $2 AND o.topic = 'task_event'
				AND NOT EXISTS (SELECT FROM task_events e WHERE e.task_id = o.task_id AND e.seq = o.seq)`,
	},
	{
		// What a later row stands for waits for that one. The starts of tasks and claims
		// wait for their rate, claims not for ever, and a row that was tried and failed
		// waits on purpose; a start that was tried in vain waits for another reason.
		Name: "outbox-prompt", Promise: "I6",
		Advice: "look at the worker's log and at last_error of the row: Temporal refuses it, or the workers are too few",
		Says:   "while a worker reaches Temporal, what people hand in is tried within a minute, and what is tried, or claimed, is told within five, save starts that wait for their pace",
		scope:  ofWhole,
		sql: waitsSQL + ` WHERE (o.seq <> 1 OR o.attempts >= 5 AND o.next_attempt_at > now()) AND (o.priority < ` + strconv.Itoa(int(UrgencyClaimed)) + ` AND greatest(o.next_attempt_at, o.leased_until) < now() - $3::interval
				OR (o.attempts > 0 OR o.priority >= ` + strconv.Itoa(int(UrgencyClaimed)) + `) AND o.created_at < now() - 5 * $3::interval)
				AND $3::interval > interval '0' AND ` + shouldBeToldSQL,
	},
	{
		// The bound is that of the alert OutboxStartsWait, whatever the grace.
		Name: "starts-told", Promise: "I6",
		Advice: "if there are fewer by and by, a large import drains by itself (docs/alerts.md, OutboxStartsWait); else look at the worker's log and at last_error of the row",
		Says:   "while a worker reaches Temporal, it is told of the start of a new task within a quarter of an hour",
		scope:  ofWhole,
		sql:    waitsSQL + ` WHERE o.seq = 1 AND o.created_at < now() - interval '15 minutes' AND ` + shouldBeToldSQL,
	},
	{
		// Uploads are told through their own rows. What was taken is tried for as long as
		// its lease, and what failed waits on purpose; both are a time to come. How often
		// Temporal refuses it shows that only after a while: tries begin close together.
		Name: "uploads-told", Promise: "I6",
		Advice: "look at the worker's log and at ring_error of the upload: Temporal refuses it, or the workers do not come to it",
		Says:   "while a worker reaches Temporal, it is told of an upload within a minute, or within five where it was away",
		scope:  ofWhole,
		sql: `SELECT NULL::bigint, 'upload ' || u.id || ' (' || u.status || '): waits to be told since ' || date_trunc('second', u.ring_at) ||
				', tried ' || u.ring_attempts || ' times' || CASE u.ring_error WHEN '' THEN '' ELSE ', last error: ' || left(u.ring_error, 100) END
			FROM uploads u WHERE u.ring_at IS NOT NULL AND $3::interval > interval '0' AND ` + workerTellsSQL + `
				AND (u.ring_at < now() - $3::interval OR u.ring_attempts >= 5 AND u.ring_at > now()
					AND greatest(u.updated_at, u.rung_at) < now() - 5 * $3::interval)`,
	},
	{
		// While the outbox is behind, such tasks are left alone for longer (ringLagging).
		Name: "events-on-the-way", Promise: "I6", Heal: healRun,
		Says: "a task that lags for three minutes, or for a quarter of an hour while the outbox is behind, has what its run must hear of in the outbox",
		sql: `SELECT t.id, 'task ' || t.id || ': ' || t.applied_seq || ' of ' || t.seq || ' events are applied, nothing more is on its way, since ' ||
				date_trunc('second', t.updated_at)
			FROM tasks t WHERE t.id > $1 AND t.id <= $2 AND t.applied_seq < t.seq
				AND t.updated_at <= now() - greatest(3 * $3::interval, CASE WHEN ` + outboxBehindSQL + ` THEN ` + inSQL(lagDespiteBacklog) + ` END)
				AND NOT EXISTS (SELECT FROM outbox o WHERE o.task_id = t.id)`,
	},
	{
		Name: "outbox-empty", Promise: "I6", Drained: true,
		Advice: "start a worker, and see whether it reaches Temporal: taskloom doctor",
		Says:   "the outbox is empty",
		sql: `SELECT task_id, 'task ' || task_id || ' event ' || seq FROM outbox
			WHERE task_id > $1 AND task_id <= $2`,
	},
}
