package store

// Ways out where no command can know what is right.
const (
	// adviceIncident goes with what no fault of the machines explains.
	adviceIncident = "stop and find out what wrote this: keep a dump of the database, look at the task's timeline, and report it " +
		"as a bug with both; a person decides which of the two pieces of work stands: while the task is open, an admin can quarantine the node " +
		"and requeue it, and what is finished is done again as a new task"
	adviceRestore = "rows were lost or changed past the product: compare with a backup of the time before, and restore from it " +
		"(docs/operations.md, Backup and restore)"
)

const (
	healTask = "taskloom repair task --task ID --apply"
	healRun  = "taskloom repair run --task ID --apply"
	// healCounts also comes after a repair that adds nodes or takes some away: the kept
	// counts follow only what changes.
	healCounts = "taskloom repair counts --apply"
)

// claimInvariants are promise I2: a node has one live claim, and one
// submission a round, by a claim that held the lease.
var claimInvariants = []Invariant{
	{
		Name: "claim-in-journal", Promise: "I2", Heal: healTask,
		Says: "a node that somebody holds was claimed by them, and by nobody since",
		sql: `SELECT n.task_id, 'task ' || n.task_id || ' node ' || n.key || ': held by user ' || n.claimed_by || ' under claim ' || n.claim_id ||
				', which is not the last event of the node in the journal'
			FROM task_nodes n WHERE n.task_id > $1 AND n.task_id <= $2 AND n.status = 'claimed' AND NOT EXISTS (
				SELECT FROM task_events e WHERE e.task_id = n.task_id AND e.seq = n.last_seq AND e.kind = 'claim'
					AND e.claim_id = n.claim_id AND e.actor = n.claimed_by)`,
	},
	{
		Name: "claim-id-once", Promise: "I2", Advice: adviceIncident,
		Says: "a claim id was given out once",
		sql: `SELECT task_id, 'task ' || task_id || ' claim ' || coalesce(claim_id::text, '-') || ': given out ' || count(*) || ' times'
			FROM task_events WHERE task_id > $1 AND task_id <= $2 AND kind = 'claim' GROUP BY task_id, claim_id HAVING count(*) > 1`,
	},
	{
		Name: "one-submission", Promise: "I2", Advice: adviceIncident,
		Says: "a node has at most one submission a round",
		sql: `SELECT task_id, 'task ' || task_id || ' node ' || node_key || ' round ' || iteration || ': ' || count(*) || ' submissions, under the claims ' ||
				string_agg(claim_id::text, ', ')
			FROM submissions WHERE task_id > $1 AND task_id <= $2 GROUP BY task_id, node_key, iteration HAVING count(*) > 1`,
	},
	{
		Name: "submission-by-holder", Promise: "I2", Advice: adviceIncident,
		Says: "every submission was made under its author's claim, and nobody had the node between that claim and it",
		sql: `SELECT s.task_id, 'task ' || s.task_id || ' node ' || s.node_key || ' round ' || s.iteration || ': submitted by user ' || s.author ||
				' under claim ' || s.claim_id || ', which did not hold the node then'
			FROM submissions s WHERE s.task_id > $1 AND s.task_id <= $2 AND NOT EXISTS (
				SELECT FROM task_events c WHERE c.task_id = s.task_id AND c.kind = 'claim' AND c.claim_id = s.claim_id
					AND c.actor = s.author AND c.node_key = s.node_key AND c.iteration = s.iteration AND c.seq < s.seq
					AND NOT EXISTS (SELECT FROM task_events x WHERE x.task_id = c.task_id AND x.node_key = c.node_key
						AND x.seq > c.seq AND x.seq < s.seq))`,
	},
	{
		Name: "submission-in-journal", Promise: "I2", Advice: adviceIncident,
		Says: "every submission and verdict stands in the journal, and every one of the journal is there",
		sql: `SELECT s.task_id, 'task ' || s.task_id || ' node ' || s.node_key || ' round ' || s.iteration || ': claim ' || s.claim_id ||
				' handed in, but event ' || s.seq || ' does not say so'
			FROM submissions s WHERE s.task_id > $1 AND s.task_id <= $2 AND NOT EXISTS (
				SELECT FROM task_events e WHERE e.task_id = s.task_id AND e.seq = s.seq AND e.kind IN ('submit', 'review')
					AND e.claim_id = s.claim_id AND e.node_key = s.node_key AND e.iteration = s.iteration AND e.actor = s.author)
			UNION ALL SELECT e.task_id, 'task ' || e.task_id || ' event ' || e.seq || ': ' || e.kind || ' under claim ' ||
				coalesce(e.claim_id::text, '-') || ', but nothing is there'
			FROM task_events e WHERE e.task_id > $1 AND e.task_id <= $2 AND e.kind IN ('submit', 'review')
				AND NOT EXISTS (SELECT FROM submissions s WHERE s.claim_id = e.claim_id AND s.task_id = e.task_id AND s.seq = e.seq)`,
	},
	{
		Name: "nothing-done-twice", Promise: "I2", Heal: healTask,
		Says: "nothing that is still to do was handed in this round",
		sql: `SELECT n.task_id, 'task ' || n.task_id || ' node ' || n.key || ' round ' || n.iteration || ': ' || n.status || ', but claim ' || s.claim_id || ' handed it in'
			FROM task_nodes n JOIN submissions s ON s.task_id = n.task_id AND s.node_key = n.key AND s.iteration = n.iteration
			WHERE n.task_id > $1 AND n.task_id <= $2 AND n.status IN ('pending', 'deferred', 'available', 'claimed')`,
	},
}
