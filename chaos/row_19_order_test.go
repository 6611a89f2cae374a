package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRow19MeetsARestart tells calls that met one from others.
func TestRow19MeetsARestart(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	d := &deploys{restarts: []restart{{"serve 0", at(10), at(12)}}}
	for want, times := range map[bool][][2]int64{
		true:  {{9, 10}, {9, 13}, {11, 11}, {12, 20}},
		false: {{8, 9}, {13, 14}},
	} {
		for _, w := range times {
			require.Equal(t, want, d.during(Op{Call: at(w[0]).UnixNano(), Return: at(w[1]).UnixNano()}), w)
		}
	}
}

// TestRow19EndsInOrder reads ends of logs.
func TestRow19EndsInOrder(t *testing.T) {
	t.Parallel()
	line := func(msg string) string { return `{"level":"INFO","msg":"` + msg + `"}` + "\n" }
	down, ended, request := line("Shutting down."), line("Requests have ended."), line("request")
	dispatcher, worker, pools, stopped := line("The dispatcher has stopped."), line("The worker has stopped."), line("Connections are closed."), line("Stopped.")
	require.Empty(t, endedInOrder(ofServe, down+request+ended+pools+stopped))
	require.Empty(t, endedInOrder(ofWorker, dispatcher+worker+pools+stopped))
	for _, bad := range []string{
		"", down, down + stopped, stopped + down, down + ended + stopped, down + pools + ended + stopped,
		down + line(cutOffSaid) + ended + pools + stopped, down + ended + request + pools + stopped, request + ended + pools + stopped,
	} {
		require.NotEmpty(t, endedInOrder(ofServe, bad), bad)
	}
	for _, bad := range []string{
		stopped + worker, worker + dispatcher + pools + stopped, dispatcher + pools + worker + stopped, worker + pools + stopped,
		dispatcher + worker + line("asked: "+closedPool) + pools + stopped,
	} {
		require.NotEmpty(t, endedInOrder(ofWorker, bad), bad)
	}
}
