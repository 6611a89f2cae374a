package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	got := command(t, append(database(t), "TEMPORAL_ADDRESS=127.0.0.1:1"), "", "doctor")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "ok    database")
	require.Contains(t, got.out, "ok    schema")
	require.Contains(t, got.out, "fail  temporal")
	require.Contains(t, got.out, "→ check that Temporal runs there")
	require.Regexp(t, `skip  pollers +not looked at: the line on temporal says why`, got.out)
	require.Contains(t, got.out, "skip  s3")

	got = command(t, []string{"DATABASE_URL=" + dbtest.EmptyURL(t)}, "", "doctor")
	require.Contains(t, got.out, "fail  schema")
	require.Contains(t, got.out, "run: taskloom migrate")

	got = command(t, []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/db"}, "", "doctor")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "fail  database")
	require.NotContains(t, got.out, "hunter2")
}

func TestDoctorJudges(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]verdict{
		0: fine, 999 * time.Millisecond: fine, -time.Second: warning, 29 * time.Second: warning,
		30 * time.Second: failure, -time.Hour: failure,
	} {
		require.Equal(t, want, clockFinding(ahead).verdict, ahead)
	}
	outbox := func(oldest time.Duration) finding { return outboxFinding(store.OutboxStats{Rows: 9, Oldest: oldest}) }
	require.Equal(t, fine, outboxFinding(store.OutboxStats{}).verdict)
	require.Contains(t, outboxFinding(store.OutboxStats{Rows: 9_999}).text, "9999 events wait")
	require.Contains(t, outboxFinding(store.OutboxStats{Rows: store.VitalsLimit}).text, "10000 or more events wait")
	require.Equal(t, fine, outbox(29*time.Second).verdict)
	require.Equal(t, warning, outbox(30*time.Second).verdict)
	require.Equal(t, warning, outbox(14*time.Minute).verdict, "as the starts of an import do")
	require.Equal(t, failure, outbox(15*time.Minute).verdict)
	handed := func(oldest time.Duration) finding {
		return outboxFinding(store.OutboxStats{Rows: 9, Oldest: 10 * time.Minute, Urgent: oldest})
	}
	require.Equal(t, warning, handed(4*time.Minute).verdict)
	require.Equal(t, failure, handed(5*time.Minute).verdict, "somebody waits for what follows")
	vain := store.OutboxStats{Rows: 9, Oldest: time.Minute, Tried: 4, LastError: "Temporal does not like it"}
	require.NotContains(t, outboxFinding(vain).text, "like")
	vain.Tried = 5
	require.Contains(t, outboxFinding(vain).text, "one was tried 5 times: Temporal does not like it")
}
