package api_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// logs collects log lines.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write takes one line of the log.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// text is everything that was logged.
func (l *logs) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// lines decodes the log.
func (l *logs) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	dec := json.NewDecoder(bytes.NewReader([]byte(l.text())))
	for dec.More() {
		var line map[string]any
		require.NoError(t, dec.Decode(&line))
		out = append(out, line)
	}
	return out
}
