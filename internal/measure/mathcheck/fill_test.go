package mathcheck

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
)

func TestMix(t *testing.T) {
	t.Parallel()
	require.Equal(t, Mix{Free: 20_000, Claimed: 500, Escalated: 500}, Usual(1_000_000))
	require.Equal(t, Mix{Free: 100, Claimed: 50, Escalated: 50}, Usual(1000))
	for name, c := range map[string]struct {
		mix, want Mix
		n         int
	}{
		"fits":          {Mix{Free: 5, Claimed: 3, Escalated: 2}, Mix{Free: 5, Claimed: 3, Escalated: 2}, 10},
		"fewer free":    {Mix{Free: 50, Claimed: 3, Escalated: 2}, Mix{Free: 5, Claimed: 3, Escalated: 2}, 10},
		"claimed alone": {Mix{Free: 50, Claimed: 30, Escalated: 2}, Mix{Claimed: 10}, 10},
		"nothing":       {Mix{Free: 5, Claimed: 3, Escalated: 2}, Mix{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.mix.within(c.n))
		})
	}
}

// TestFill counts what a mix became, and looks where it lies.
func TestFill(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	at := Place{Org: w.OrgID, Pipeline: w.PipelineID, Version: w.VersionID, Actor: w.Admin, Holders: w.Contributors}
	pool := w.Store.Pool()
	count := func(sql string) map[string]int {
		rows, _ := pool.Query(t.Context(), sql)
		type line struct {
			What string
			N    int
		}
		lines, err := pgx.CollectRows(rows, pgx.RowToStructByPos[line])
		require.NoError(t, err)
		out := map[string]int{}
		for _, l := range lines {
			out[l.What] = l.N
		}
		return out
	}
	require.NoError(t, FillMix(t.Context(), pool, at, 2000, Mix{Free: 70, Claimed: 20, Escalated: 10}))
	require.Equal(t, map[string]int{"finished": 1900, "pending": 70, "in_progress": 20, "escalated": 10},
		count(`SELECT status, count(*) FROM tasks GROUP BY 1`))
	require.Equal(t, map[string]int{"finished": 3800, "available": 70, "claimed": 20, "escalated": 10, "pending": 100},
		count(`SELECT status, count(*) FROM task_nodes GROUP BY 1`))
	require.Equal(t, map[string]int{"create": 2000}, count(`SELECT kind, count(*) FROM task_events GROUP BY 1`))
	holders := count(`SELECT claimed_by::text, count(*) FROM task_nodes WHERE status = 'claimed' GROUP BY 1`)
	require.Len(t, holders, len(w.Contributors), "everybody holds some of them")
	halves := count(`SELECT (id > (SELECT min(id) + 999 FROM tasks))::text, count(*) FROM tasks WHERE status = 'pending' GROUP BY 1`)
	require.InDelta(t, halves["true"], halves["false"], 10)

	require.NoError(t, FillNew(t.Context(), pool, at, 30))
	require.Equal(t, 100, count(`SELECT status, count(*) FROM tasks GROUP BY 1`)["pending"])
	require.NoError(t, FillMix(t.Context(), pool, at, 30, Mix{}))
	require.Equal(t, 1930, count(`SELECT status, count(*) FROM tasks GROUP BY 1`)["finished"])
}
