package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// durable looks whether this Postgres keeps what it has acknowledged. A role, a
// database and a URL may change synchronous_commit: what is judged is what a
// session of this DATABASE_URL has, which serve and worker have, too.
func (d *doctor) durable(ctx context.Context) finding {
	rows, _ := d.store.Pool().Query(ctx, `SELECT name, setting, source FROM pg_settings
		WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`)
	s := durability{}
	var name string
	var is setting
	_, err := pgx.ForEachRow(rows, []any{&name, &is.value, &is.source}, func() error {
		s[name] = is
		return nil
	})
	if err != nil {
		return finding{verdict: skipped, text: "the database does not tell: " + oneLine(err)}
	}
	return s.judge()
}

// durability has the settings that decide whether Postgres keeps what it has
// acknowledged.
type durability map[string]setting

// setting is a value, and where that was set, in the words of pg_settings.
type setting struct{ value, source string }

func (s durability) judge() finding {
	f := finding{verdict: fine}
	var at, out []string
	bad := func(v verdict, stake, wayOut string) {
		if f.verdict != failure {
			f.verdict = v
		}
		at, out = append(at, stake), append(out, wayOut)
	}
	if s["fsync"].value != "on" {
		bad(failure, "fsync is off: when the machine of Postgres crashes, the database may be broken and all of it lost",
			s.turnOn("fsync")+", then run sync on its machine, for what was written before")
	}
	if s["full_page_writes"].value != "on" {
		bad(warning, "full_page_writes is off: a crash of the machine of Postgres may leave pages that are written in part, which nothing mends",
			s.turnOn("full_page_writes")+", unless its file system never writes a part of 8 kB (as ZFS does not)")
	}
	commit, standbys := s["synchronous_commit"].value, strings.TrimSpace(s["synchronous_standby_names"].value)
	switch {
	case commit == "off":
		bad(failure, "synchronous_commit is off: a crash of Postgres loses what was acknowledged in the last second", s.turnOn("synchronous_commit"))
	case commit == "local" && standbys != "":
		bad(failure, "synchronous_commit is local: no commit waits for the standbys in synchronous_standby_names, and a failover to one "+
			"loses what it had not heard", s.turnOn("synchronous_commit"))
	case commit == "remote_write" && standbys != "":
		bad(warning, "synchronous_commit is remote_write: a standby may have acknowledged work in memory only, which is lost when its machine "+
			"crashes together with that of Postgres", s.turnOn("synchronous_commit"))
	}
	if len(at) > 0 {
		f.text, f.wayOut = strings.Join(at, "; "), strings.Join(out, "; ")
		return f
	}
	f.text = "what is acknowledged is on disk (fsync, full_page_writes and synchronous_commit)"
	if standbys != "" {
		f.text = "what is acknowledged is on disk, and on that of standbys as synchronous_standby_names says: " + standbys
	}
	return f
}

// turnOn says where to turn a setting on that was changed: what the files of Postgres say
// counts for nothing where another place wins, nor does postgresql.conf where ALTER SYSTEM
// has said something else, which has the same source.
func (s durability) turnOn(name string) string {
	switch source := s[name].source; source {
	case "client":
		return fmt.Sprintf("take %s out of DATABASE_URL (or PGOPTIONS)", name)
	case "user", "database", "database user":
		return fmt.Sprintf("it was set for the %s: take it back with ALTER ROLE or ALTER DATABASE … RESET %s, and restart serve and worker", source, name)
	case "command line":
		return fmt.Sprintf("take %s out of the command line of Postgres, and restart it", name)
	}
	return fmt.Sprintf("ALTER SYSTEM SET %s = on and SELECT pg_reload_conf()", name)
}
