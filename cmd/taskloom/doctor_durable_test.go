package main

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// What is at stake is told of each setting by itself, and nothing of settings that
// come to the same.
func TestWhatDurabilityComesTo(t *testing.T) {
	t.Parallel()
	on, off := setting{"on", "default"}, setting{"off", "configuration file"}
	for name, c := range map[string]struct {
		changed durability
		want    verdict
		says    []string
	}{
		"as it comes":         {nil, fine, []string{"what is acknowledged is on disk"}},
		"fsync off":           {durability{"fsync": off}, failure, []string{"all of it lost", "ALTER SYSTEM SET fsync = on and SELECT pg_reload_conf()", "run sync"}},
		"pages torn":          {durability{"full_page_writes": off}, warning, []string{"written in part", "ALTER SYSTEM SET full_page_writes = on"}},
		"no wait for the log": {durability{"synchronous_commit": off}, failure, []string{"the last second", "ALTER SYSTEM SET synchronous_commit = on"}},
		"two of them": {
			durability{"synchronous_commit": off, "full_page_writes": off}, failure, []string{"the last second", "; ", "written in part"},
		},
		"the worse one first": {durability{"fsync": off, "full_page_writes": off}, failure, []string{"all of it lost"}},

		// Without a standby to wait for, these wait for the disk as on does.
		"local, alone":        {committing("local", ""), fine, nil},
		"remote_write, alone": {committing("remote_write", " "), fine, nil},
		"remote_apply, alone": {committing("remote_apply", ""), fine, nil},

		"with a standby":         {committing("on", "ANY 1 (b, c)"), fine, []string{"standbys", "ANY 1 (b, c)"}},
		"off, with a standby":    {committing("off", "b"), failure, []string{"the last second"}},
		"local, with one":        {committing("local", "b"), failure, []string{"a failover to one"}},
		"remote_write, with one": {committing("remote_write", "b"), warning, []string{"in memory only"}},
		"remote_apply, with one": {committing("remote_apply", "b"), fine, nil},

		"by the URL":          {durability{"synchronous_commit": {"off", "client"}}, failure, []string{"take synchronous_commit out of DATABASE_URL"}},
		"by a role":           {durability{"synchronous_commit": {"off", "user"}}, failure, []string{"set for the user", "ALTER ROLE"}},
		"by the command line": {durability{"fsync": {"off", "command line"}}, failure, []string{"take fsync out of the command line"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := durability{"fsync": on, "full_page_writes": on, "synchronous_commit": on, "synchronous_standby_names": {"", "default"}}
			maps.Copy(s, c.changed)
			f := s.judge()
			require.Equal(t, c.want, f.verdict)
			require.Equal(t, c.want != fine, f.wayOut != "", "what is not fine has a way out")
			for _, words := range c.says {
				require.Contains(t, f.text+" → "+f.wayOut, words)
			}
		})
	}
}

// committing waits as one says for the standbys that one names.
func committing(commit, standbys string) durability {
	return durability{"synchronous_commit": {commit, "configuration file"}, "synchronous_standby_names": {standbys, "configuration file"}}
}

// The doctor sees the settings of sessions like those of serve, whoever set them:
// the databases of tests are named by URLs that do not wait for the log.
func TestTheDoctorReadsHowPostgresIsSetUp(t *testing.T) {
	t.Parallel()
	given := dbtest.URL(t)
	at := func(address string) *doctor {
		st, err := store.Open(t.Context(), address, store.Options{MaxConns: 1})
		require.NoError(t, err)
		t.Cleanup(st.Close)
		return &doctor{store: st}
	}
	f := at(given).durable(t.Context())
	require.Equal(t, failure, f.verdict, f.text)
	require.Contains(t, f.text, "synchronous_commit is off")
	require.Contains(t, f.wayOut, "out of DATABASE_URL")

	u, err := url.Parse(given)
	require.NoError(t, err)
	u.RawQuery = ""
	plain := at(u.String())
	f = plain.durable(t.Context())
	require.Equal(t, fine, f.verdict, f.text)

	_, err = plain.store.Pool().Exec(t.Context(), `ALTER DATABASE `+strings.TrimPrefix(u.Path, "/")+` SET synchronous_commit = off`)
	require.NoError(t, err)
	f = at(u.String()).durable(t.Context())
	require.Equal(t, failure, f.verdict, f.text)
	require.Contains(t, f.wayOut, "it was set for the database")

	require.Equal(t, skipped, at("postgres://u@127.0.0.1:1/db").durable(t.Context()).verdict)
}
