package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/task"
)

// page lists one page and returns its ids.
func (b *bench) page(t *testing.T, query string) (ids []int64, next string) {
	t.Helper()
	a := b.v1(t, http.MethodGet, b.workflow("/tasks")+query, nil)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	for _, item := range a.Body["tasks"].([]any) {
		ids = append(ids, int64(item.(map[string]any)["id"].(float64)))
	}
	next, more := a.Body["next_cursor"].(string)
	require.Equal(t, a.Body["has_more"], more, "next_cursor is null exactly when has_more is false")
	return ids, next
}

func TestSpec43_Limit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 201)
	for query, want := range map[string]int{"": 50, "?limit=1": 1, "?limit=200": 200} {
		ids, next := b.page(t, query)
		require.Len(t, ids, want, query)
		require.NotEmpty(t, next)
	}
	for _, bad := range []string{"0", "201", "-1", "abc", "1.5", "", "99999999999999999999", "1&limit=2"} {
		a := b.v1(t, http.MethodGet, b.workflow("/tasks?limit=")+bad, nil)
		fails(t, a, http.StatusBadRequest, "invalid_request")
		require.Contains(t, a.message(), "limit")
	}
}

func TestSpec43_NewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 5)
	ids, _ := b.page(t, "")
	for i := 1; i < len(ids); i++ {
		require.Greater(t, ids[i-1], ids[i])
	}
}

func TestSpec43_Status(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 6)
	b.exec(t, `UPDATE tasks SET status = 'finished' WHERE id % 2 = 0`)
	ids, _ := b.page(t, "?status=finished")
	require.Len(t, ids, 3)
	for _, status := range task.Statuses() {
		b.page(t, "?status="+string(status))
	}
	for _, bad := range []string{"done", "PENDING", "", "pending,finished", "pending&status=finished"} {
		a := b.v1(t, http.MethodGet, b.workflow("/tasks?status=")+bad, nil)
		fails(t, a, http.StatusBadRequest, "invalid_request")
	}
	a := b.v1(t, http.MethodGet, b.workflow("/tasks?status=done"), nil)
	for _, status := range task.Statuses() {
		require.Contains(t, a.message(), string(status), "accepted values are in the message")
	}
}

func TestSpec43_StatusIsTheOneThatCallersSee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 3)
	b.exec(t, `UPDATE pipelines SET status = 'PAUSED'`)
	ids, _ := b.page(t, "?status=paused")
	require.Len(t, ids, 3)
	ids, _ = b.page(t, "?status=pending")
	require.Empty(t, ids)
}

func TestSpec43_CursorMalformed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 3)
	second, _ := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	_, cursor := b.page(t, "?limit=1")
	for name, path := range map[string]string{
		"garbage":          b.workflow("/tasks?cursor=garbage"),
		"changed":          b.workflow("/tasks?cursor=") + cursor[:len(cursor)-2] + "AA",
		"longer":           b.workflow("/tasks?cursor=") + cursor + cursor,
		"huge":             b.workflow("/tasks?cursor=") + strings.Repeat("A", 100_000),
		"other filter":     b.workflow("/tasks?status=pending&cursor=") + cursor,
		"other workflow":   fmt.Sprintf("/workflows/%d/tasks?cursor=%s", second, cursor),
		"not UTF-8":        b.workflow("/tasks?cursor=%%ff%%fe"),
		"broken escape":    b.workflow("/tasks?cursor=") + "%zz",
		"given twice":      b.workflow("/tasks?cursor=") + cursor + "&cursor=" + cursor,
		"a console cursor": b.workflow("/tasks?cursor=") + url.QueryEscape("AQAAAAAAAAAB"),
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, b.v1(t, http.MethodGet, path, nil), http.StatusBadRequest, "invalid_request")
		})
	}
	ids, _ := b.page(t, "?cursor=")
	require.Len(t, ids, 3, "an empty cursor is the first page")
}

func TestSpec43_CursorKeepsItsPlaceWhileTasksAreCreated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := map[int64]bool{}
	for _, id := range b.created(t, 1000) {
		want[int64(id.(float64))] = true
	}
	query, pages := "?limit=97", 0
	for {
		ids, next := b.page(t, query)
		pages++
		for _, id := range ids {
			require.True(t, want[id], "task %d came twice or was created later", id)
			delete(want, id)
		}
		if next == "" {
			break
		}
		require.Equal(t, http.StatusOK, b.create(t, questions(7)).Status)
		query = "?limit=97&cursor=" + next
	}
	require.Empty(t, want, "none is missed")
	require.Equal(t, 11, pages)
}

func TestSpec43_LastPageThatIsFullHasNoNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 4)
	_, next := b.page(t, "?limit=2")
	ids, next := b.page(t, "?limit=2&cursor="+next)
	require.Len(t, ids, 2)
	require.Empty(t, next)
}
