package api_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows of section 8.

func TestSpec8_TasksPerRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n, status := range map[int]int{0: 422, 1: 200, 5000: 200, 5001: 422} {
		a := b.create(t, questions(n))
		require.Equal(t, status, a.Status, n)
		if status == http.StatusUnprocessableEntity {
			fails(t, a, status, "validation_error")
			require.Contains(t, a.message(), "5000")
		}
	}
	require.Equal(t, 5001, b.count(t, `SELECT count(*) FROM tasks`))
}

// wide is a body of 5,000 items that fills most of 32 MB.
func wide() []byte {
	var sb strings.Builder
	sb.WriteString(`{"tasks": [`)
	filler := strings.Repeat("lorem ipsum ", 540)
	for i := range 5000 {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, `{"fields": {"question": "%d %s"}}`, i, filler)
	}
	sb.WriteString(`]}`)
	return []byte(sb.String())
}

func TestSpec8_FiveThousandTasksOf32MB(t *testing.T) {
	b := setup(t)
	body := wide()
	require.Greater(t, len(body), 31<<20)
	require.LessOrEqual(t, len(body), 32<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := b.create(t, body)
	runtime.ReadMemStats(&after)
	require.Equal(t, http.StatusOK, a.Status, "%.500s", a.Raw)
	require.InDelta(t, 5000, a.Body["success_count"], 0)
	require.Equal(t, 5000, b.count(t, `SELECT count(*) FROM tasks WHERE length(input ->> 'question') > 6000`))
	t.Logf("allocated %d MB for a body of %d MB", (after.TotalAlloc-before.TotalAlloc)>>20, len(body)>>20)
}

func TestSpec8_DeepBodiesDoNotHurt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deep := strings.Repeat(`{"a":[`, 4000) + strings.Repeat(`]}`, 4000)
	a := b.create(t, `{"tasks": [{"fields": {"question": `+deep+`}}]}`)
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	a = b.create(t, `{"tasks": `+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`)
	fails(t, a, http.StatusBadRequest, "invalid_request")
}
