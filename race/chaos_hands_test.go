package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/taskloom/taskloom/internal/measure/process"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

func TestAWorkerIsStoppedWithWorkInItsHands(t *testing.T) {
	t.Parallel()
	none := func([]int64) ([]int64, error) { return nil, nil }
	all := func(of []int64) ([]int64, error) { return of, nil }
	for _, c := range []struct {
		name    string
		within  time.Duration
		begun   [][]int64 // at each look; the last one at those that follow
		undone  []func([]int64) ([]int64, error)
		want    []int64
		stopped bool
	}{
		{"something at once", time.Minute, [][]int64{{3, 4}}, []func([]int64) ([]int64, error){all}, []int64{3, 4}, true},
		{"something later", time.Minute, [][]int64{nil, nil, {5}}, []func([]int64) ([]int64, error){all}, []int64{5}, true},
		{"done before it stood still", time.Minute, [][]int64{{6}, nil, {7}}, []func([]int64) ([]int64, error){none, all}, []int64{7}, true},
		{"never anything", 0, [][]int64{nil}, nil, nil, false},
		{"done each time", 0, [][]int64{{8}}, []func([]int64) ([]int64, error){none}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			worker := &process.Process{Name: "worker", Path: "/bin/sleep", Args: []string{"60"}, Log: filepath.Join(t.TempDir(), "log")}
			require.NoError(t, worker.Start())
			defer worker.Kill()
			looks, stops := 0, 0
			held, err := stopWhen(t.Context(), worker, c.within, func() ([]int64, error) {
				looks++
				return c.begun[min(looks, len(c.begun))-1], nil
			}, func(of []int64) ([]int64, error) {
				require.Equal(t, "T", state(t, worker.Pid()), "nothing goes on while it is looked at")
				stops++
				return c.undone[stops-1](of)
			})
			require.NoError(t, err)
			require.Equal(t, c.want, held)
			require.Equal(t, c.stopped, state(t, worker.Pid()) == "T")
			require.Len(t, c.undone, stops)
		})
	}
}

// state is that of a process, as /proc tells it.
func state(t *testing.T, pid int) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(raw), ") ")
	return after[:1]
}

func TestWhenTheItemsOfAWorkerWithNoneWereDoneIsNotTold(t *testing.T) {
	t.Parallel()
	for held, told := range map[int]bool{0: false, 2: true} {
		h := &havoc{r: &room{progress: io.Discard}, s: newSample(), held: held, rescued: time.Second, orphans: map[int64]bool{9: true}}
		h.tellRescue()
		_, has := h.s.Values["rescue_s"]
		require.Equal(t, told, has)
		require.InDelta(t, held, h.s.Values["held_at_kill"], 0)
		require.InDelta(t, 1, h.s.Values["not_rescued"], 0, "what is left is always told")
	}
}

// events is a history.
type events []*history.HistoryEvent

func (e *events) HasNext() bool { return len(*e) > 0 }

func (e *events) Next() (*history.HistoryEvent, error) {
	next := (*e)[0]
	*e = (*e)[1:]
	return next, nil
}

func TestWhoMovesARun(t *testing.T) {
	t.Parallel()
	started := func(by string) *history.HistoryEvent {
		return &history.HistoryEvent{EventType: enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, Attributes: &history.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &history.WorkflowTaskStartedEventAttributes{Identity: by},
		}}
	}
	event := func(kind enums.EventType) *history.HistoryEvent { return &history.HistoryEvent{EventType: kind} }
	for _, c := range []struct {
		events events
		want   string
	}{
		{nil, ""},
		{events{event(enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)}, ""},
		{events{started("a")}, "a"},
		{events{started("a"), event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)}, "a"},
		{events{started("a"), event(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)}, ""},
		{events{started("a"), event(enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT), started("b")}, "b"},
		{events{started("a"), event(enums.EVENT_TYPE_WORKFLOW_TASK_FAILED)}, ""},
	} {
		who, err := mover(&c.events)
		require.NoError(t, err)
		require.Equal(t, c.want, who)
	}
}

func TestAWorkerIsWhoItsLogSaysLast(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "worker.log")
	_, err := workerID(name)
	require.ErrorContains(t, err, "read the log")
	require.NoError(t, os.WriteFile(name, []byte("plain\n"), 0o600))
	_, err = workerID(name)
	require.ErrorContains(t, err, "names no worker")
	require.NoError(t, os.WriteFile(name, []byte(`{"msg": "The worker serves.", "worker_id": "worker-1"}
not JSON
{"msg": "The worker serves.", "worker_id": "worker-2"}
{"msg": "something else"}
`), 0o600))
	id, err := workerID(name)
	require.NoError(t, err)
	require.Equal(t, "worker-2", id)
}

func TestHandsAreOfOpenItems(t *testing.T) {
	t.Parallel()
	h := &havoc{acked: map[int64]time.Time{1: {}, 2: {}}}
	require.Equal(t, []int64{2}, h.open(map[int64]int64{1: 1}))
	require.Equal(t, []int64{2}, among([]int64{1, 2, 3}, []int64{2}))
}
