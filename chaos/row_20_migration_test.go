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

// unsafe are statements that break the old binary, or hold a lock for as long
// as a table is large, when the table is not made by the same file.
var unsafe = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN|VIEW|TYPE)\b`), "the old binary still uses it: drop it one release later"},
	{regexp.MustCompile(`(?i)\bRENAME\b`), "the old binary knows the old name: add the new one and copy"},
	{regexp.MustCompile(`(?i)\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b`), "it writes the whole table anew under a lock: add another column"},
	{regexp.MustCompile(`(?i)\bALTER\s+(COLUMN\s+)?\w+\s+SET\s+NOT\s+NULL\b`), "the old binary does not fill it, and the whole table is read under a lock"},
	{regexp.MustCompile(`(?i)\b(TRUNCATE|VACUUM\s+FULL|CLUSTER|LOCK\s+TABLE)\b`), "it locks everybody out"},
}

var (
	comments   = regexp.MustCompile(`(?m)--.*$`)
	bodies     = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$\w*\$`)
	makesTable = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)`)
	altersOne  = regexp.MustCompile(`(?i)\b(?:ALTER\s+TABLE|DROP\s+TABLE)\s+(?:IF\s+EXISTS\s+|ONLY\s+)*([\w.]+)`)
	indexesOne = regexp.MustCompile(`(?is)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?(?:\w+\s+)?ON\s+(?:ONLY\s+)?([\w.]+)`)
	concurrent = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(\w+)`)
	addsColumn = regexp.MustCompile(`(?is)\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+[^,;]*`)
)

// noTransaction is tern's mark of a file whose statements run one by one.
const noTransaction = "---- tern: disable-tx ----"

// lint names what is wrong with a migration.
func lint(text string) (found []string) {
	for _, m := range concurrent.FindAllStringSubmatch(text, -1) {
		before, _, _ := strings.Cut(text, m[0])
		if !strings.Contains(text, noTransaction) || !strings.Contains(before, "DROP INDEX CONCURRENTLY IF EXISTS "+m[1]+";") {
			found = append(found, fmt.Sprintf("%s: a try that gives up leaves half an index: begin the file with %q and DROP INDEX CONCURRENTLY IF EXISTS %s;", m[0], noTransaction, m[1]))
		}
	}
	text = bodies.ReplaceAllString(comments.ReplaceAllString(text, ""), "")
	own := map[string]bool{}
	for _, m := range makesTable.FindAllStringSubmatch(text, -1) {
		own[strings.ToLower(m[1])] = true
	}
	for statement := range strings.SplitSeq(text, ";") {
		statement = short(statement)
		if m := indexesOne.FindStringSubmatch(statement); len(m) > 0 && m[1] == "" && !own[strings.ToLower(m[2])] {
			found = append(found, fmt.Sprintf("%s: it keeps writers out while it is built: CONCURRENTLY, in a file of its own without a transaction", statement))
		}
		m := altersOne.FindStringSubmatch(statement)
		if len(m) == 0 || own[strings.ToLower(m[1])] {
			continue
		}
		for _, u := range unsafe {
			if u.pattern.MatchString(statement) {
				found = append(found, statement+": "+u.why)
			}
		}
		for _, add := range addsColumn.FindAllString(statement, -1) {
			upper := strings.ToUpper(add)
			if strings.Contains(upper, "NOT NULL") && !strings.Contains(upper, "DEFAULT") && !strings.Contains(upper, "CHECK") {
				found = append(found, add+": the old binary does not fill it: give it a default")
			}
		}
	}
	return found
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
	for _, name := range names {
		text, err := fs.ReadFile(schema.Migrations, name)
		require.NoError(t, err)
		found := lint(string(text))
		if strings.TrimPrefix(name, "migrations/") < firstLinted {
			// Indexes on tables that were empty then.
			found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, "CONCURRENTLY") })
		}
		require.Empty(t, found, name)
	}
}

// TestRow20LinterFindsWhatIsUnsafe shows that the linter is not blind.
func TestRow20LinterFindsWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`ALTER TABLE tasks DROP COLUMN title`, `DROP TABLE tasks`, `ALTER TABLE tasks RENAME COLUMN a TO b`,
		`ALTER TABLE tasks ALTER COLUMN a TYPE bigint`, `ALTER TABLE tasks ALTER a SET NOT NULL`,
		`CREATE INDEX CONCURRENTLY i ON tasks (a)`, noTransaction + "\nCREATE INDEX CONCURRENTLY i ON tasks (a)",
		`ALTER TABLE tasks ADD COLUMN a int NOT NULL`, `CREATE INDEX i ON tasks (a)`, "create unique index i\n on tasks (a)",
	} {
		require.NotEmpty(t, lint(bad+";"), bad)
	}
	for _, good := range []string{
		`ALTER TABLE tasks ADD COLUMN a int`, `ALTER TABLE tasks ADD COLUMN a int NOT NULL DEFAULT 0`,
		noTransaction + "\nDROP INDEX CONCURRENTLY IF EXISTS i;\nCREATE INDEX CONCURRENTLY i ON tasks (a)", `CREATE TABLE n (a int NOT NULL); CREATE INDEX i ON n (a)`,
		`-- DROP TABLE tasks`, `CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE tasks; END $$`,
	} {
		require.Empty(t, lint(good+";"), good)
	}
}
