package cluster

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestABackupIsPutBack(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{})
	run(t, c, `CREATE TABLE rows (n int)`, `INSERT INTO rows VALUES (1)`)
	backup := c.Backup()
	run(t, c, `INSERT INTO rows VALUES (2)`)
	require.Equal(t, 2, count(t, c))
	c.Restore(backup)
	require.Equal(t, 1, count(t, c))
}

func TestAStandbyTakesOver(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{})
	s := c.Standby("other")
	c.Set("synchronous_standby_names", "other")
	require.Eventually(t, func() bool {
		n, err := c.Count(t.Context(), `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`)
		return err == nil && n == 1
	}, 20*time.Second, 100*time.Millisecond)
	run(t, c, `CREATE TABLE rows (n int)`, `INSERT INTO rows VALUES (1)`)
	c.Stop(Immediate)
	s.Promote()
	require.Equal(t, 1, count(t, s))
	conn, err := pgx.Connect(t.Context(), c.URL2(s))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `INSERT INTO rows VALUES (2)`)
	require.NoError(t, err)
}

func run(t *testing.T, c *Cluster, statements ...string) {
	t.Helper()
	conn := c.Connect(Database)
	for _, s := range statements {
		_, err := conn.Exec(t.Context(), s)
		require.NoError(t, err)
	}
}

func count(t *testing.T, c *Cluster) (n int) {
	t.Helper()
	require.NoError(t, c.Connect(Database).QueryRow(t.Context(), `SELECT count(*) FROM rows`).Scan(&n))
	return n
}
