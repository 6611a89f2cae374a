package chaos

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/schema"
)

// Migrations are forward-only, so there is no way down to run. What makes them
// safe beside an old binary under load is their text, which
// TestRow20MigrationsExpand reads, and how they wait for locks, which
// TestRow20MigrationUnderLoad and internal/store's TestMigrateDoesNotBlockTheProduct break.

// tableName is the table that a statement begins to speak of.
const tableName = `(?:IF\s+EXISTS\s+|ONLY\s+)*([\w.]+)`

// unsafe are statements that break the old binary, or hold a lock for as long
// as a table is large. Where the pattern names a table, one that the same file
// makes may have it done to it.
var unsafe = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(?i)^DROP\s+TABLE\s+` + tableName), "the old binary still uses it: drop it one release later"},
	{regexp.MustCompile(`(?i)^DROP\s+(?:MATERIALIZED\s+)?(?:VIEW|TYPE)\b`), "the old binary still uses it: drop it one release later"},
	{regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName + `.*\bDROP\s+COLUMN\b`), "the old binary still uses it: drop it one release later"},
	{regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName + `.*\bRENAME\b`), "the old binary knows the old name: add the new one and copy"},
	{regexp.MustCompile(`(?i)^ALTER\s+(?:MATERIALIZED\s+)?(?:VIEW|TYPE)\b.*\bRENAME\b`), "the old binary knows the old name: add the new one and copy"},
	{regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName + `.*\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b`), "it writes the whole table anew under a lock: add another column"},
	{regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName + `.*\bALTER\s+(?:COLUMN\s+)?\w+\s+SET\s+NOT\s+NULL\b`), "the old binary does not fill it, and the whole table is read under a lock"},
	{regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName + `.*\bALTER\s+(?:COLUMN\s+)?\w+\s+DROP\s+DEFAULT\b`), "the old binary leaves it to the default: drop that one release later"},
	{regexp.MustCompile(`(?i)^(?:TRUNCATE|LOCK|CLUSTER|VACUUM\s+\(?\s*FULL)\b`), "it locks everybody out"},
}

// allowed are statements that would be found, each with its reason.
var allowed = map[string]string{
	"DROP INDEX tasks_lagging": "the last statement of the transaction that makes what takes its place: its lock lasts for a moment, and migrate gives up its place in the queue for it after 200 ms",
}

var (
	comments   = regexp.MustCompile(`(?m)--.*$`)
	bodies     = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$\w*\$`)
	makesTable = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)`)
	altersOne  = regexp.MustCompile(`(?i)^ALTER\s+TABLE\s+` + tableName)
	indexesOne = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?:(\w+)\s+)?ON\s+(?:ONLY\s+)?([\w.]+)`)
	concurrent = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(\w+)`)
	dropsIndex = regexp.MustCompile(`(?i)^DROP\s+INDEX\s+(CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?([\w.]+)`)
	addsColumn = regexp.MustCompile(`(?i)\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+(.+)`)
	tableRule  = regexp.MustCompile(`(?i)^(?:CONSTRAINT|UNIQUE|PRIMARY|FOREIGN|EXCLUDE|CHECK)$`)
	addsIndex  = regexp.MustCompile(`(?i)\bADD\s+(?:CONSTRAINT\s+\S+\s+)?(?:UNIQUE|PRIMARY\s+KEY|EXCLUDE)\b`)
	takesIndex = regexp.MustCompile(`(?i)\b(?:UNIQUE|PRIMARY\s+KEY)\s+USING\s+INDEX\b`)
	unique     = regexp.MustCompile(`(?i)\b(?:UNIQUE|PRIMARY\s+KEY)\b`)
	hasDefault = regexp.MustCompile(`(?i)\bDEFAULT\b`)
	addsCheck  = regexp.MustCompile(`(?i)\bADD\s+(?:CONSTRAINT\s+\S+\s+)?(?:FOREIGN\s+KEY|CHECK)\b`)
	notValid   = regexp.MustCompile(`(?i)\bNOT\s+VALID\b`)
	updates    = regexp.MustCompile(`(?i)^(?:WITH\b.*\)\s*)?UPDATE\s+(?:ONLY\s+)?([\w.]+)`)
	deletes    = regexp.MustCompile(`(?i)^(?:WITH\b.*\)\s*)?DELETE\s+FROM\s+(?:ONLY\s+)?([\w.]+)`)

	// fixedDefault is one that is the same for all rows, so that Postgres writes none of
	// them: a constant, or the time at which the migration began.
	fixedDefault = regexp.MustCompile(`(?i)\bDEFAULT\s+(?:[-+]?[\d.]+|'[^']*'|TRUE|FALSE|NULL|NOW\(\)|CURRENT_TIMESTAMP)(?:::[\w\[\]]+)?` +
		`(?:\s+(?:NOT|NULL|CHECK|REFERENCES|CONSTRAINT|UNIQUE|PRIMARY)\b|\s*$)`)
	// computed is a column whose values Postgres works out, row by row.
	computed = regexp.MustCompile(`(?i)^(?:SMALL|BIG)?SERIAL\b|\bGENERATED\b.*\bAS\s+IDENTITY\b|\bGENERATED\b.*\)\s*STORED\b`)
	// someRows is a condition by which rows are named one by one. Of any other nobody sees
	// here how many rows it takes.
	someRows = regexp.MustCompile(`(?i)\bWHERE\s+(?:\w+\.)?id\s*(?:=\s*\d+|IN\s*\([\d, ]+\))$`)
)

// noTransaction is tern's mark of a file whose statements run one by one.
const noTransaction = "---- tern: disable-tx ----"

// finding is something that is wrong with a migration.
type finding struct {
	text string
	// large says that it is wrong only where the table has rows.
	large bool
}

// made is what a migration makes itself: nobody uses it yet.
type made struct{ tables, indexes map[string]bool }

func madeBy(text string) made {
	m := made{map[string]bool{}, map[string]bool{}}
	for _, t := range makesTable.FindAllStringSubmatch(text, -1) {
		m.tables[strings.ToLower(t[1])] = true
	}
	for _, i := range indexesOne.FindAllStringSubmatch(text, -1) {
		m.indexes[strings.ToLower(i[2])] = m.table(i[3])
	}
	return m
}

func (m made) table(name string) bool { return m.tables[strings.ToLower(name)] }

// lint names what is wrong with a migration.
func lint(text string) (found []finding) {
	for _, m := range concurrent.FindAllStringSubmatch(text, -1) {
		before, _, _ := strings.Cut(text, m[0])
		if !strings.Contains(text, noTransaction) || !strings.Contains(before, "DROP INDEX CONCURRENTLY IF EXISTS "+m[1]+";") {
			found = append(found, finding{text: fmt.Sprintf("%s: a try that gives up leaves half an index: begin the file with %q and DROP INDEX CONCURRENTLY IF EXISTS %s;", m[0], noTransaction, m[1])})
		}
	}
	text = bodies.ReplaceAllString(comments.ReplaceAllString(text, ""), "")
	own := madeBy(text)
	for statement := range strings.SplitSeq(text, ";") {
		statement = short(statement)
		if allowed[statement] != "" {
			continue
		}
		for _, u := range unsafe {
			if m := u.pattern.FindStringSubmatch(statement); len(m) == 1 || len(m) > 1 && !own.table(m[1]) {
				found = append(found, finding{text: statement + ": " + u.why})
			}
		}
		found = append(found, own.lintRows(statement)...)
		found = append(found, own.lintColumns(statement)...)
	}
	return found
}

// lintRows finds what takes as long as a table has rows, while others wait.
func (m made) lintRows(statement string) (found []finding) {
	note := func(why string) { found = append(found, finding{statement + ": " + why, true}) }
	if i := indexesOne.FindStringSubmatch(statement); len(i) > 0 && i[1] == "" && !m.table(i[3]) {
		note("it keeps writers out while it is built: CONCURRENTLY, in a file of its own without a transaction")
	}
	if d := dropsIndex.FindStringSubmatch(statement); len(d) > 0 && d[1] == "" && !m.indexes[strings.ToLower(d[2])] {
		note("it locks everybody out and waits for all who read: CONCURRENTLY, in a file of its own without a transaction")
	}
	if u := updates.FindStringSubmatch(statement); len(u) > 0 && !m.table(u[1]) && !someRows.MatchString(statement) {
		note("it locks all rows that it takes until it is over, perhaps every one: fill it in by batches, outside of migrations")
	}
	if d := deletes.FindStringSubmatch(statement); len(d) > 0 && !m.table(d[1]) {
		note("it locks all rows that it takes until it is over, perhaps every one: delete by batches, outside of migrations")
	}
	if a := altersOne.FindStringSubmatch(statement); len(a) == 0 || m.table(a[1]) {
		return found
	}
	if len(addsCheck.FindAllString(statement, -1)) > len(notValid.FindAllString(statement, -1)) {
		note("it reads the whole table under a lock: NOT VALID, and VALIDATE CONSTRAINT in a migration of its own")
	}
	if len(addsIndex.FindAllString(statement, -1)) > len(takesIndex.FindAllString(statement, -1)) {
		note("it keeps everybody out while its index is built: build that CONCURRENTLY before, and add the constraint USING INDEX")
	}
	for _, c := range columnsOf(statement) {
		varies := hasDefault.MatchString(c.is) && !fixedDefault.MatchString(c.is)
		if varies || computed.MatchString(c.is) {
			note("it writes the whole table anew under a lock: add the column without, and fill it in by batches, outside of migrations")
		}
		if unique.MatchString(c.is) {
			note("it keeps everybody out while its index is built: add the column, build the index CONCURRENTLY, and add the constraint USING INDEX")
		}
	}
	return found
}

// lintColumns finds new columns that the old binary does not fill.
func (m made) lintColumns(statement string) (found []finding) {
	if a := altersOne.FindStringSubmatch(statement); len(a) == 0 || m.table(a[1]) {
		return nil
	}
	for _, c := range columnsOf(statement) {
		upper := strings.ToUpper(c.is)
		if strings.Contains(upper, "NOT NULL") && !strings.Contains(upper, "DEFAULT") {
			found = append(found, finding{text: c.added + ": the old binary does not fill it: give it a default"})
		}
	}
	return found
}

// column is one that a statement adds: the words that do it, and of these its type with
// all that is said of it.
type column struct{ added, is string }

func columnsOf(statement string) (out []column) {
	for _, action := range actions(statement) {
		if c := addsColumn.FindStringSubmatch(action); len(c) > 0 && !tableRule.MatchString(c[1]) {
			out = append(out, column{c[0], c[2]})
		}
	}
	return out
}

// actions are what an ALTER TABLE does: what stands between its commas, but for those in
// parentheses and in texts.
func actions(statement string) (out []string) {
	depth, from, text := 0, 0, false
	for i, c := range statement {
		switch {
		case c == '\'':
			text = !text
		case text:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, statement[from:i]), i+1
		}
	}
	return append(out, statement[from:])
}

// firstLinted is the first migration that may find rows in the tables: those
// before it were written before the first release.
const firstLinted = "0007"

// TestRow20MigrationsExpand reads every migration: the old binary works on the
// new schema, and no lock is held for as long as a table is large.
func TestRow20MigrationsExpand(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(schema.Migrations, "migrations/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	slices.Sort(names)
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(schema.Migrations, name)
		require.NoError(t, err)
		all.Write(text)
		found := lint(string(text))
		if strings.TrimPrefix(name, "migrations/") < firstLinted {
			found = slices.DeleteFunc(found, func(f finding) bool { return f.large })
		}
		require.Empty(t, found, name)
	}
	for statement := range allowed {
		require.Contains(t, all.String(), statement+";", "nothing needs to be allowed that is not there")
	}
	// What the next version of TestRow20MigrationUnderLoad does keeps the rules.
	require.Empty(t, lint(nextUp))
	require.Empty(t, lint(nextIndex))
	require.NotEmpty(t, lint(nextDown), "that is for the version after the next")
}

// TestRow20LinterFindsWhatIsUnsafe shows that the linter is not blind.
func TestRow20LinterFindsWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`ALTER TABLE tasks DROP COLUMN title`, `DROP TABLE tasks`, `DROP TABLE IF EXISTS tasks`, `ALTER TABLE tasks RENAME COLUMN a TO b`,
		`ALTER TABLE tasks ALTER COLUMN a TYPE bigint`, `ALTER TABLE tasks ALTER a SET NOT NULL`,
		`CREATE INDEX CONCURRENTLY i ON tasks (a)`, noTransaction + "\nCREATE INDEX CONCURRENTLY i ON tasks (a)",
		`ALTER TABLE tasks ADD COLUMN a int NOT NULL`, `CREATE INDEX i ON tasks (a)`, "create unique index i\n on tasks (a)",
		`CREATE INDEX IF NOT EXISTS i ON tasks (a)`, `TRUNCATE tasks`, `truncate table tasks`, `LOCK TABLE tasks IN SHARE MODE`, `LOCK tasks`, `VACUUM FULL tasks`,
		`VACUUM (FULL) tasks`, `CLUSTER tasks USING i`, `DROP VIEW v`, `DROP MATERIALIZED VIEW v`, `DROP TYPE t`, `ALTER TYPE t RENAME TO u`,
		`ALTER TABLE tasks ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES users (id)`, `ALTER TABLE tasks ADD FOREIGN KEY (a) REFERENCES users (id)`,
		`ALTER TABLE tasks ADD CONSTRAINT c CHECK (a > 0)`,
		`ALTER TABLE tasks ADD CONSTRAINT c CHECK (a > 0) NOT VALID, ADD CONSTRAINT d CHECK (b > 0)`,
		`DROP INDEX i`, `DROP INDEX IF EXISTS i`, `CREATE INDEX i ON tasks (a); DROP INDEX i`,
		`UPDATE tasks SET a = 1`, "-- fill it\nupdate only tasks\nset a = 1", `WITH w AS (SELECT 1 WHERE true) UPDATE tasks SET a = 1`,
		`CREATE TABLE n (a int); DROP TABLE tasks`, `CREATE TABLE n (a int); UPDATE tasks SET a = 1`,
		`ALTER TABLE tasks ADD CONSTRAINT u UNIQUE (a)`, `ALTER TABLE tasks ADD UNIQUE (a)`, `ALTER TABLE tasks ADD PRIMARY KEY (a)`,
		`ALTER TABLE tasks ADD CONSTRAINT e EXCLUDE USING gist (a WITH &&)`, `ALTER TABLE tasks ADD UNIQUE (a) USING INDEX TABLESPACE t`,
		`ALTER TABLE tasks ADD CONSTRAINT u UNIQUE USING INDEX i, ADD UNIQUE (b)`,
		`ALTER TABLE tasks ADD COLUMN a int UNIQUE`, `ALTER TABLE tasks ADD a int PRIMARY KEY DEFAULT 0`, "alter table tasks\n add column a int,\n add column b int unique",
		`ALTER TABLE tasks ADD COLUMN a uuid DEFAULT gen_random_uuid()`, `ALTER TABLE tasks ADD COLUMN a uuid NOT NULL DEFAULT gen_random_uuid()`,
		`ALTER TABLE tasks ADD COLUMN a int, ADD COLUMN b timestamptz DEFAULT clock_timestamp()`, `ALTER TABLE tasks ADD COLUMN a int DEFAULT (10 * random())`,
		`ALTER TABLE tasks ADD COLUMN a timestamptz DEFAULT now() + random() * '1 day'::interval`, `ALTER TABLE tasks ADD COLUMN a numeric(10, 2) DEFAULT random()`,
		`ALTER TABLE tasks ADD COLUMN a bigint GENERATED ALWAYS AS IDENTITY`, `ALTER TABLE tasks ADD COLUMN a bigint GENERATED BY DEFAULT AS IDENTITY`,
		`ALTER TABLE tasks ADD COLUMN a text GENERATED ALWAYS AS (md5(b)) STORED`, `ALTER TABLE tasks ADD COLUMN a bigserial`,
		`UPDATE tasks SET a = 1 WHERE true`, `UPDATE tasks SET a = b WHERE a IS NULL`, `UPDATE tasks SET a = 1 WHERE id = 7 OR true`,
		`UPDATE tasks SET a = (SELECT b FROM users WHERE id = 7)`,
		`UPDATE tasks SET a = 1 WHERE org_id = 7`, `UPDATE tasks t SET a = 1 WHERE t.pipeline_id IN (7, 8)`,
		`DELETE FROM tasks`, `DELETE FROM ONLY tasks WHERE a IS NULL`, `WITH w AS (SELECT 1) DELETE FROM tasks WHERE id IN (SELECT 1)`, `CREATE TABLE n (a int); DELETE FROM tasks`,
		`ALTER TABLE tasks ALTER COLUMN a DROP DEFAULT`, `ALTER TABLE tasks ADD COLUMN b int, ALTER a DROP DEFAULT`,
	} {
		require.NotEmpty(t, lint(bad+";"), bad)
	}
	for _, good := range []string{
		`ALTER TABLE tasks ADD COLUMN a int`, `ALTER TABLE tasks ADD COLUMN a int NOT NULL DEFAULT 0`,
		noTransaction + "\nDROP INDEX CONCURRENTLY IF EXISTS i;\nCREATE INDEX CONCURRENTLY i ON tasks (a)", `CREATE TABLE n (a int NOT NULL); CREATE INDEX i ON n (a)`,
		`-- DROP TABLE tasks`, `CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE tasks; END $$`,
		noTransaction + "\nDROP INDEX CONCURRENTLY i", `CREATE TABLE n (a int); CREATE INDEX i ON n (a); DROP INDEX i`, `CREATE TABLE n (a int); DROP TABLE n`,
		`ALTER TABLE tasks ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES users (id) NOT VALID`, `ALTER TABLE tasks ADD CONSTRAINT c CHECK (a > 0) NOT VALID`,
		`ALTER TABLE tasks VALIDATE CONSTRAINT c`, `CREATE TABLE n (a int); ALTER TABLE n ADD CONSTRAINT c CHECK (a > 0)`,
		`UPDATE tasks SET a = 1 WHERE id = 7`, `CREATE TABLE n (a int); UPDATE n SET a = 1`, `SELECT 1 FROM tasks FOR UPDATE`,
		`CREATE TRIGGER g AFTER INSERT OR UPDATE OF a ON tasks FOR EACH ROW EXECUTE FUNCTION f()`,
		`INSERT INTO n SELECT a FROM tasks ON CONFLICT (a) DO UPDATE SET a = 1`,
		`ALTER TABLE tasks ADD CONSTRAINT u UNIQUE USING INDEX i`, `ALTER TABLE tasks ADD CONSTRAINT p PRIMARY KEY USING INDEX i, ADD UNIQUE USING INDEX j`,
		`CREATE TABLE n (a int UNIQUE, b uuid DEFAULT gen_random_uuid(), c bigint GENERATED ALWAYS AS IDENTITY)`,
		`CREATE TABLE n (a int); ALTER TABLE n ADD UNIQUE (a), ADD COLUMN b bigserial, ALTER a DROP DEFAULT`, `CREATE TABLE n (a int); DELETE FROM n`,
		`ALTER TABLE tasks ADD COLUMN a timestamptz NOT NULL DEFAULT now()`, `ALTER TABLE tasks ADD COLUMN a timestamptz DEFAULT CURRENT_TIMESTAMP NOT NULL`,
		`ALTER TABLE tasks ADD COLUMN a text NOT NULL DEFAULT 'a, (b'`, `ALTER TABLE tasks ADD COLUMN a jsonb NOT NULL DEFAULT '{}'::jsonb`,
		`ALTER TABLE tasks ADD COLUMN a boolean DEFAULT false NOT NULL, ADD COLUMN b numeric(10, 2) DEFAULT -1.5`, `ALTER TABLE tasks ADD COLUMN stored int DEFAULT NULL`,
		`ALTER TABLE tasks ALTER COLUMN a SET DEFAULT gen_random_uuid()`, `UPDATE tasks t SET a = 1 WHERE t.id IN (7, 8)`,
	} {
		require.Empty(t, lint(good+";"), good)
	}
}
