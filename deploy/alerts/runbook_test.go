package alerts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// runbook is what docs/alerts.md says of each alert.
func runbook(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(stacktest.Root(t), "docs", "alerts.md"))
	require.NoError(t, err)
	sections := map[string]string{}
	for _, s := range strings.Split(string(raw), "\n## ")[1:] {
		name, text, _ := strings.Cut(s, "\n")
		require.NotContains(t, sections, name, "two sections of one name")
		sections[name] = text
	}
	return sections
}

// questions are the statements of a section that only ask.
var questions = regexp.MustCompile("`(SELECT [^`]+ FROM [^`]+)`")

// Who looks something up while people wait has no time to mend a statement.
func TestWhatTheRunbookAsksCanBeAsked(t *testing.T) {
	t.Parallel()
	pool := dbtest.Store(t).Pool()
	asked := map[string]int{}
	for alert, text := range runbook(t) {
		for _, m := range questions.FindAllStringSubmatch(text, -1) {
			_, err := pool.Exec(t.Context(), m[1])
			require.NoError(t, err, "%s: %s", alert, m[1])
			asked[alert]++
		}
	}
	require.Equal(t, 4, asked["OldTransaction"], "sessions, prepared transactions, standbys and slots")
}

func TestTheRunbookFindsWhoseLeasesExpire(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	pool := w.Store.Pool()
	_, err := pool.Exec(t.Context(), `INSERT INTO task_events (task_id, seq, kind, actor, created_at) VALUES
		(7, 2, 'claim', $1, now()), (7, 3, 'expire', $1, now()), (7, 4, 'expire', $1, now()), (8, 3, 'expire', $1, now()),
		(8, 4, 'claim', $2, now()), (9, 3, 'expire', $2, now() - interval '1 day')`, w.Contributors[0], w.Contributors[1])
	require.NoError(t, err)
	shown := questions.FindStringSubmatch(runbook(t)["LeasesExpire"])
	require.NotNil(t, shown)
	rows, err := pool.Query(t.Context(), shown[1])
	require.NoError(t, err)
	type who struct {
		Email         string
		Leases, Tasks int64
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[who])
	require.NoError(t, err)
	require.Equal(t, []who{{w.Email("contributor1"), 3, 2}}, found)
}
