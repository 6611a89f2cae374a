package main

import (
	"fmt"
	"strings"
)

// contract is what a system does for the same call. It is written here, beside
// the code that makes the call, and docs/benchmarks.md shows it.
type contract struct {
	key, name                                       string
	call, durable, auth, validation, journal        string
	idempotency, lease, recovery, batch, notCounted string
}

// contractOurs is the row of the product, however it is run.
const contractOurs = "taskloom"

var contracts = []contract{
	{
		key: contractOurs, name: "Taskloom", call: "HTTP, JSON; a claim, a submission and a verdict are one request and one transaction each",
		durable: "answered after commit with fsync", auth: "session or API key looked up on each request, role in the project",
		validation: "every field of the form, the state of the claim", journal: "a row for each event, and an outbox row for the run",
		idempotency: "Idempotency-Key with the stored answer, when sent (here in chaos only); a claim's id for submissions",
		lease:       "1 min to 24 h by node, for a person", recovery: "a dead worker's runs go on elsewhere in seconds; a vanished person's item when the lease ends",
		batch: "create takes 5,000; claim, submit and verdict one", notCounted: "–",
	},
	{
		key: "pg-boss", name: "pg-boss", call: "library: fetch(1) and complete, a statement each", durable: "commit with fsync", auth: "database role",
		validation: "none", journal: "none; finished jobs stay in the table", idempotency: "singleton keys, when used", lease: "15 min",
		recovery: "15 min by default", batch: "insert([…]) in one statement; fetch and complete take lists, here one", notCounted: "–",
	},
	{
		key: "river", name: "River", call: "library: its client fetches and completes for its workers", durable: "commit with fsync; a finished job is acknowledged to the worker before",
		auth: "database role", validation: "none", journal: "none; finished jobs stay for a day", idempotency: "unique jobs, when used", lease: "1 h",
		recovery: "1 h by default", batch: "fetches as many as workers are free, completes many in one statement; InsertManyFast is COPY",
		notCounted: "shown as a batch system, and its own two statements one at a time beside it",
	},
	{
		key: "graphile-worker", name: "graphile-worker", call: "library: its workers take and finish one job after the other, a statement each",
		durable: "commit with fsync", auth: "database role", validation: "none", journal: "none; finished jobs are deleted", idempotency: "job keys, when used",
		lease: "4 h", recovery: "4 h by default", batch: "add_jobs in one statement; version 0.16 has no batching of claims", notCounted: "–",
	},
	{
		key: "bare", name: "bare statement", call: "UPDATE … (SELECT … FOR UPDATE SKIP LOCKED LIMIT 1), UPDATE", durable: "commit with fsync", auth: "database role",
		validation: "none", journal: "none", idempotency: "none", lease: "none", recovery: "never", batch: "one", notCounted: "the floor: nobody could run on it",
	},
	{
		key: "copy", name: "COPY of our rows", call: "COPY in binary format into the four tables of a creation, one transaction", durable: "commit with fsync", auth: "database role",
		validation: "what the tables check", journal: "the very rows of ours", idempotency: "none", lease: "–", recovery: "–", batch: "5,000",
		notCounted: "rows are made before the clock starts",
	},
	{
		key: "temporal", name: "bare Temporal", call: "gRPC: start, three signals; four local activities that write a row", durable: "history in the same Postgres, fsync",
		auth: "none here", validation: "none", journal: "the run's history", idempotency: "workflow id; signals are delivered at least once", lease: "–",
		recovery: "10 s (workflow task timeout)", batch: "one", notCounted: "no queue: whoever signals knows the run",
	},
	{
		key: "dbos", name: "DBOS", call: "library: RunWorkflow, three Send; three Recv and four steps that write a row", durable: "commit with fsync, steps and messages in the same Postgres",
		auth: "database role", validation: "none", journal: "a row a step", idempotency: "workflow id", lease: "–", recovery: "when the executor starts again, or by its console",
		batch: "one", notCounted: "no queue: whoever sends knows the run",
	},
	{
		key: "restate", name: "Restate", call: "HTTP: one-way call, three awakeables resolved; four ctx.run that write a row", durable: "its own log and RocksDB, on local disk",
		auth: "none here", validation: "none", journal: "the invocation's journal", idempotency: "idempotency keys, when used", lease: "–",
		recovery: "seconds (the server calls the handler again)", batch: "one", notCounted: "no queue; ids of awakeables go through the row",
	},
	{
		key: "floor", name: "floor server", call: "HTTP: chi, pgx, encoding/json and the product's SQL", durable: "reads", auth: "none", validation: "none", journal: "no access log, no metrics",
		idempotency: "–", lease: "–", recovery: "–", batch: "one page", notCounted: "no rate limits, entity tags, cursors",
	},
	{
		key: "bare-copy", name: "bare copy", call: "S3: each file read from the bucket and written to it again, 16 at a time", durable: "as the object store does it",
		auth: "the bucket's key", validation: "none", journal: "none; no rows", idempotency: "–", lease: "–", recovery: "none", batch: "one file",
		notCounted: "the floor: the files lie unpacked in the bucket when it begins",
	},
	{
		key: "script", name: "script", call: "unzip, rclone copy, psql \\copy", durable: "commit with fsync; the object store's", auth: "the bucket's key, database role",
		validation: "none", journal: "none; name and size of a file", idempotency: "none", lease: "–", recovery: "from the beginning", batch: "16 files at a time, one \\copy",
		notCounted: "begins with the archive on the local disk; keeps no hash, type, task, node",
	},
	{
		key: "label-studio", name: "Label Studio", call: "HTTP, JSON; Django on PostgreSQL, 4 gunicorn processes; next task, annotation",
		durable: "commit with fsync, several for an annotation: no transaction is around it",
		auth:    "API token looked up on each request, organization", validation: "that an annotation's result is a list", journal: "counters of project and task; no history in the open source edition",
		idempotency: "none", lease: "a task's lock, dropped with the annotation", recovery: "lock expires", batch: "import takes 5,000; next and submit one",
		notCounted: "no Redis and no background queue: imports run in the request; a new connection to Postgres for each request (CONN_MAX_AGE 0), and from the client (sync workers know no keep-alive)",
	},
}

// contractRows are the lines of the table, by what they tell.
var contractRows = []struct {
	title string
	of    func(contract) string
}{
	{"the call", func(c contract) string { return c.call }},
	{"durability", func(c contract) string { return c.durable }},
	{"authentication", func(c contract) string { return c.auth }},
	{"validation", func(c contract) string { return c.validation }},
	{"journal", func(c contract) string { return c.journal }},
	{"idempotency", func(c contract) string { return c.idempotency }},
	{"lease", func(c contract) string { return c.lease }},
	{"recovery by default", func(c contract) string { return c.recovery }},
	{"batches", func(c contract) string { return c.batch }},
	{"note", func(c contract) string { return c.notCounted }},
}

// raceContracts says who is side by side in which race.
var raceContracts = []struct {
	title string
	keys  []string
}{
	{"Queues (claims, held, create, chaos)", []string{contractOurs, "pg-boss", "river", "graphile-worker", "bare", "copy"}},
	{"Durable flows", []string{contractOurs, "temporal", "dbos", "restate"}},
	{"Reading and labelling", []string{contractOurs, "floor", "label-studio"}},
	{"ZIP ingestion", []string{contractOurs, "bare-copy", "script"}},
}

// contractTables are the contracts side by side, in Markdown.
func contractTables() string {
	byKey := map[string]contract{}
	for _, c := range contracts {
		byKey[c.key] = c
	}
	var b strings.Builder
	for _, t := range raceContracts {
		fmt.Fprintf(&b, "### %s\n\n|", t.title)
		for _, key := range t.keys {
			fmt.Fprintf(&b, " | %s", byKey[key].name)
		}
		b.WriteString(" |\n|---|" + strings.Repeat("---|", len(t.keys)) + "\n")
		for _, row := range contractRows {
			fmt.Fprintf(&b, "| %s", row.title)
			for _, key := range t.keys {
				fmt.Fprintf(&b, " | %s", row.of(byKey[key]))
			}
			b.WriteString(" |\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}
