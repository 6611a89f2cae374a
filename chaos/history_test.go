package chaos

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheTrafficFloorCountsWhatChangedSomething(t *testing.T) {
	t.Parallel()
	h := newHistory()
	now := time.Unix(1000, 0)
	for range 30 {
		h.add(Op{Kind: opSubmit, Outcome: OK, Return: now.Add(-2 * time.Second).UnixNano()})
		h.add(Op{Kind: opSubmit, Outcome: OK, Return: now.Add(-20 * time.Second).UnixNano()})
		h.add(Op{Kind: opSubmit, Outcome: Unknown, Return: now.UnixNano()})
		h.add(Op{Kind: opPoll, Outcome: OK, Return: now.UnixNano()})
		h.add(Op{Kind: opClaim, Outcome: OK, Return: now.UnixNano()}) // an empty queue
	}
	h.add(Op{Kind: opClaim, Claim: "a", Outcome: OK, Return: now.UnixNano()})
	require.Equal(t, 31, h.AckedWithin(10*time.Second, now))
	require.Equal(t, int64(121), h.Count(OK))
	require.Equal(t, int64(30), h.Count(Unknown))
}

// What a restore took away is no part of the history, and neither are its tasks of the
// world: their numbers come again.
func TestWhatARestoreTookAwayIsForgotten(t *testing.T) {
	t.Parallel()
	h, at := newHistory(), func(second int64) time.Time { return time.Unix(second, 0) }
	for _, calls := range [][2]int64{{8, 9}, {9, 11}, {11, 12}, {12, 21}, {21, 22}} {
		h.add(Op{Kind: opCreate, Outcome: OK, Call: at(calls[0]).UnixNano(), Return: at(calls[1]).UnixNano()})
	}
	h.forget(at(10), at(20))
	require.Len(t, h.Ops(), 4)
	require.Equal(t, int64(4), h.Count(OK))
	for _, op := range h.Ops() {
		require.NotEqual(t, at(11).UnixNano(), op.Call)
	}
	o := newOrganization("q", 1, 1)
	o.own(1, 2, 3)
	o.lose(2, 3)
	o.own(3)
	require.Equal(t, []int64{1, 3}, o.order)
	require.False(t, o.owns(2))
	require.True(t, o.owns(3))
}

func TestWhatIsSlowerThanBeforeIsSeen(t *testing.T) {
	t.Parallel()
	many := func(n int, took time.Duration) []time.Duration { return slices.Repeat([]time.Duration{took}, n) }
	before := measured{opClaim: many(100, 300*time.Millisecond), opPoll: many(100, time.Millisecond)}
	share, n := measured{
		opClaim: many(98, 599*time.Millisecond), // twice what it was
		opPoll:  many(100, 99*time.Millisecond), // ten times, and inside the objective
	}.inside(before)
	require.Equal(t, 198, n)
	require.InDelta(t, 1, share, 0)
	share, _ = measured{opClaim: many(98, time.Millisecond), opPoll: many(2, time.Second)}.inside(before)
	require.InDelta(t, 0.98, share, 1e-9)
	share, n = measured{}.inside(before)
	require.Zero(t, n)
	require.Zero(t, share, "nothing is not quick")
}

func TestAHistoryIsKeptAsLines(t *testing.T) {
	t.Parallel()
	h := newHistory()
	op := Op{Intent: h.intent(), Who: "ada", Kind: opSubmit, Outcome: Refused, Status: 409, Content: json.RawMessage(`{"values":{}}`)}
	h.add(op)
	h.add(Op{Intent: h.intent(), Who: "ben", Kind: opPoll, Outcome: OK})
	path := filepath.Join(t.TempDir(), "history.jsonl")
	require.NoError(t, h.Dump(path))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	require.True(t, lines.Scan())
	var back Op
	require.NoError(t, json.Unmarshal(lines.Bytes(), &back))
	require.Equal(t, op, back)
	require.True(t, lines.Scan())
	require.False(t, lines.Scan())
}

func TestALeakIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(DefaultLoad(1))
	own, other := w.Orgs[0], w.Orgs[1]
	own.ID, own.Pipeline, other.ID, other.Pipeline = 1, 11, 2, 12
	own.own(1_000_001)
	other.own(1_000_002)
	guest := newOrganization("qguest", 1, 0)
	guest.own(1_000_003)
	w.Guests = append(w.Guests, guest)
	for body, want := range map[string]bool{
		`{"id": 1000001, "pipeline_id": 11, "fields": {"question": "qalpha"}}`: false,
		`{"tasks": [{"id": 1000001}, {"id": 1000002}]}`:                        true,
		`{"task_ids": [1000002]}`:                                              true,
		`{"workflow_id": 12}`:                                                  true,
		`{"org_id": 2}`:                                                        true,
		`{"count": 1000002}`:                                                   false,
		`no JSON with qbeta inside`:                                            true,
		`{"task_id": 1000003}`:                                                 true,
		`{"name": "qguest"}`:                                                   true,
		``:                                                                     false,
	} {
		require.Equal(t, want, w.leak(own, []byte(body)) != "", body)
	}
}
