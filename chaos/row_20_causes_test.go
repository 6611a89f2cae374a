package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// told is what its client was told of a call that failed: a full server says it
// in other words than one without its database.
func (op Op) told() string {
	var body struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(op.Error), &body) != nil || body.Message == "" {
		return fmt.Sprintf("%d %s", op.Status, op.Error)
	}
	return fmt.Sprintf("%d %s: %s", op.Status, body.Error, body.Message)
}

// causesOf503 counts in the log of a server why it told its clients to come
// again between two moments. Clients are told the same of a pool without a free
// connection as of a lock that was waited for; the log has both. Those that are
// turned away at the door leave no line.
func causesOf503(log string, from, to time.Time, into map[string]int) {
	status := fmt.Sprintf(`"status":%d`, http.StatusServiceUnavailable)
	for line := range strings.Lines(log) {
		if !strings.Contains(line, status) {
			continue
		}
		var said struct {
			Time  time.Time     `json:"time"`
			Took  time.Duration `json:"took"`
			Error string        `json:"error"`
		}
		if json.Unmarshal([]byte(line), &said) != nil || said.Time.Before(from) || said.Time.Add(-said.Took).After(to) {
			continue
		}
		into[fmt.Sprintf("after %s: %.200s", said.Took.Round(100*time.Millisecond), said.Error)]++
	}
}

// TestRow20CausesAreRead reads a log as `serve` writes it.
func TestRow20CausesAreRead(t *testing.T) {
	t.Parallel()
	line := func(second, status int, took time.Duration, cause string) string {
		return fmt.Sprintf(`{"time":"2026-11-22T06:20:%02dZ","msg":"request","status":%d,"took":%d,"error":%q}`+"\n", second, status, took, cause)
	}
	at := func(second int) time.Time { return time.Date(2026, 11, 22, 6, 20, second, 0, time.UTC) }
	got := map[string]int{}
	causesOf503("no JSON \"status\":503\n"+line(9, 503, 0, "before")+line(11, 503, 10*time.Second, "lock")+line(12, 503, 2*time.Second, "pool")+
		line(12, 500, 0, "other")+line(13, 503, 2*time.Second, "pool")+line(22, 503, time.Second, "after"), at(10), at(20), got)
	require.Equal(t, map[string]int{"after 10s: lock": 1, "after 2s: pool": 2}, got)
	require.Equal(t, "503 service_unavailable: wait", Op{Status: 503, Error: `{"error":"service_unavailable","message":"wait"}`}.told())
	require.Equal(t, "0 EOF", Op{Error: "EOF"}.told())
}
